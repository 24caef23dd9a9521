/* A panic inside the library, on demand (feature fault-injection): it becomes a status, says nothing on standard error, and
 * after a reset the instance is as new. */
#include "check.h"

#include <math.h>

/* Not in the header: no release has it. */
biela_status biela_inject_panic(biela_instance *instance);

static snapshot run(biela_instance *crank)
{
    MUST(crank, biela_initialize(crank, 0.0, INFINITY, 0.0));
    MUST(crank, biela_step(crank, 0.0, 0.1, NULL));
    return look(crank);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s MODEL\n", argv[0]);
        return 2;
    }
    biela_instance *crank = NULL, *other = NULL;
    biela_state *state = NULL;
    uint32_t number = 0;
    double value = 7.0;
    biela_variable variable;
    biela_counters counters;
    MUST(NULL, biela_variable_default(&variable, sizeof variable));
    MUST(NULL, biela_counters_default(&counters, sizeof counters));
    MUST(NULL, biela_instance_new_from_file(argv[1], &crank));
    MUST(NULL, biela_instance_new_from_file(argv[1], &other));
    MUST(crank, biela_variable_info(crank, 0, &variable));
    const snapshot good = run(crank);
    MUST(crank, biela_state_save(crank, &state));

    for (int round = 0; round < 3; round++) {
        MUST(crank, biela_inject_panic(crank));
        const biela_status panic = BIELA_STATUS_PANIC;
        REFUSED(crank, biela_step(crank, 0.1, 0.1, &value), panic, "injected fault");
        EXPECT(value == 7.0);
        /* Now it answers nothing but the sentence of that panic. */
        REFUSED(crank, biela_time(crank, &value), panic, "injected fault");
        REFUSED(crank, biela_variable_count(crank, &number), panic, "injected fault");
        REFUSED(crank, biela_variable_info(crank, 0, &variable), panic, "injected fault");
        REFUSED(crank, biela_variable_find(crank, "tau", &number), panic, "injected fault");
        REFUSED(crank, biela_initialize(crank, 0.0, 1.0, 0.0), panic, "injected fault");
        REFUSED(crank, biela_set_real(crank, &number, 1, &value), panic, "injected fault");
        REFUSED(crank, biela_get_real(crank, &number, 1, &value), panic, "injected fault");
        REFUSED(crank, biela_step(crank, 0.1, 0.1, &value), panic, "injected fault");
        REFUSED(crank, biela_state_save(crank, &state), panic, "injected fault");
        REFUSED(crank, biela_state_restore(crank, state), panic, "injected fault");
        REFUSED(crank, biela_statistics(crank, &counters), panic, "injected fault");
        MUST(NULL, biela_cancel(crank)); /* allowed; the reset forgets it */

        const char *const name = variable.name;
        MUST(crank, biela_instance_reset(crank));
        EXPECT(biela_last_error(crank)[0] == '\0');
        EXPECT(strlen(name) > 0); /* given before the panic, still there */
        const snapshot again = run(crank);
        EXPECT(same(&good, &again));
    }

    /* biela_cancel still reaches the instance that was made again. */
    MUST(NULL, biela_cancel(crank));
    REFUSED(crank, biela_step(crank, 0.1, 0.1, &value), BIELA_STATUS_CANCELLED, "cancelled");
    /* The state saved before the panics is still good. */
    MUST(crank, biela_state_restore(crank, state));
    const snapshot restored = look(crank);
    EXPECT(same(&good, &restored));

    /* The other instance has noticed nothing; a broken one can be freed. */
    const snapshot untouched = run(other);
    EXPECT(same(&good, &untouched));
    MUST(crank, biela_inject_panic(crank));
    REFUSED(crank, biela_time(crank, &value), BIELA_STATUS_PANIC, "injected fault");
    MUST(NULL, biela_instance_free(crank));
    MUST(NULL, biela_instance_free(other));
    MUST(NULL, biela_state_free(state));
    return finish();
}
