/* The logger: levels, categories, the user pointer, and a callback that calls back. */
#include "check.h"

#include <math.h>

typedef struct {
    int count[BIELA_LOG_LEVEL_DEBUG + 1];
    int starts;
    biela_instance *instance;
    biela_status answer;
    char last[256];
} heard;

static void hear(void *user, biela_log_level level, const char *category, double time, const char *message)
{
    heard *const all = (heard *)user;
    all->count[level]++;
    all->starts += strcmp(category, "start") == 0;
    EXPECT(time >= 0.0 && message[0] != '\0');
    strncpy(all->last, message, sizeof all->last - 1);
    double now = 0.0;
    all->answer = biela_time(all->instance, &now); /* from inside a call on the same instance */
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s MODEL\n", argv[0]);
        return 2;
    }
    biela_instance *crank = NULL;
    heard all;
    memset(&all, 0, sizeof all);
    MUST(NULL, biela_instance_new_from_file(argv[1], &crank));
    all.instance = crank;

    REFUSED(crank, biela_set_logger(crank, hear, &all, 0), BIELA_STATUS_ERROR_ARGUMENT, "level = 0");
    REFUSED(crank, biela_set_logger(crank, hear, &all, 5), BIELA_STATUS_ERROR_ARGUMENT, "level = 5");
    MUST(crank, biela_set_logger(crank, hear, &all, BIELA_LOG_LEVEL_DEBUG));
    MUST(crank, biela_initialize(crank, 0.0, INFINITY, 0.0));
    EXPECT(all.starts >= 1 && all.count[BIELA_LOG_LEVEL_INFO] >= 1 && all.answer == BIELA_STATUS_BUSY);
    MUST(crank, biela_step(crank, 0.0, 0.1, NULL));
    EXPECT(all.count[BIELA_LOG_LEVEL_DEBUG] >= 1 && all.count[BIELA_LOG_LEVEL_ERROR] == 0);

    /* A failure is told in the words of biela_last_error. */
    REFUSED(crank, biela_step(crank, 0.1, -1.0, NULL), BIELA_STATUS_ERROR_ARGUMENT, "step size");
    EXPECT(all.count[BIELA_LOG_LEVEL_ERROR] == 1 && strcmp(all.last, biela_last_error(crank)) == 0);

    /* A lower level hears less; the logger stays through a reset; NULL ends it. */
    const int debug = all.count[BIELA_LOG_LEVEL_DEBUG], info = all.count[BIELA_LOG_LEVEL_INFO];
    MUST(crank, biela_set_logger(crank, hear, &all, BIELA_LOG_LEVEL_INFO));
    MUST(crank, biela_instance_reset(crank));
    MUST(crank, biela_initialize(crank, 0.0, INFINITY, 0.0));
    MUST(crank, biela_step(crank, 0.0, 0.1, NULL));
    EXPECT(all.count[BIELA_LOG_LEVEL_DEBUG] == debug && all.count[BIELA_LOG_LEVEL_INFO] > info);
    const int errors = all.count[BIELA_LOG_LEVEL_ERROR];
    MUST(crank, biela_set_logger(crank, NULL, NULL, 0));
    REFUSED(crank, biela_step(crank, 0.1, -1.0, NULL), BIELA_STATUS_ERROR_ARGUMENT, "step size");
    EXPECT(all.count[BIELA_LOG_LEVEL_ERROR] == errors);
    MUST(NULL, biela_instance_free(crank));
    return finish();
}
