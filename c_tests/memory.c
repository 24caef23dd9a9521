/* A host with little memory: instances are made until there is none left; that must be a status, with a sentence.
 * usage: memory MODEL MEGABYTES */
#include "check.h"

#include <math.h>
#include <sys/resource.h>

int main(int count, char **arguments)
{
    if (count < 3) {
        return 2;
    }
    const rlim_t bytes = (rlim_t)(atof(arguments[2]) * 1048576.0);
    const struct rlimit limit = {bytes, bytes};
    if (setrlimit(RLIMIT_AS, &limit) != 0) {
        return 2;
    }
    for (int made = 0;; made++) {
        biela_instance *instance = NULL;
        biela_state *state = NULL;
        biela_status status = biela_instance_new_from_file(arguments[1], &instance);
        const char *what = "new";
        if (status == BIELA_STATUS_OK) {
            what = "initialize";
            status = biela_initialize(instance, 0.0, INFINITY, 0.0);
        }
        if (status == BIELA_STATUS_OK) {
            what = "save";
            status = biela_state_save(instance, &state);
        }
        if (status != BIELA_STATUS_OK) {
            const char *sentence = biela_last_error(instance);
            EXPECT(status == BIELA_STATUS_ERROR_MEMORY);
            EXPECT(strstr(sentence, "not enough memory") != NULL);
            printf("%d made, then %s: %s: %s\n", made, what, biela_status_name(status), sentence);
            return failures != 0;
        }
    }
}
