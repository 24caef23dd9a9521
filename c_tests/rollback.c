/* Save, step, restore, step: the same bits, from any saved point, into any instance of the model, and after the instance
 * that saved has gone. */
#include "check.h"

#include <math.h>

#define POINTS 20
#define STEP_SIZE 0.013

static void advance(biela_instance *crank, uint32_t tau, int k)
{
    const double torque = 0.5 * sin(0.3 * k);
    double time = 0.0;
    MUST(crank, biela_time(crank, &time));
    MUST(crank, biela_set_real(crank, &tau, 1, &torque));
    MUST(crank, biela_step(crank, time, STEP_SIZE, NULL));
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s MODEL\n", argv[0]);
        return 2;
    }
    biela_instance *crank = NULL, *twin = NULL;
    MUST(NULL, biela_instance_new_from_file(argv[1], &crank));
    MUST(NULL, biela_instance_new_from_file(argv[1], &twin));
    uint32_t tau = 0;
    MUST(crank, biela_variable_find(crank, "tau", &tau));
    MUST(crank, biela_initialize(crank, 0.0, INFINITY, 0.0));

    /* One state used again and again, as FMI masters do, and one kept for each point. */
    biela_state *again = NULL;
    biela_state *kept[POINTS] = {NULL};
    snapshot seen[POINTS + 1];
    for (int k = 0; k < POINTS; k++) {
        MUST(crank, biela_state_save(crank, &kept[k]));
        MUST(crank, biela_state_save(crank, &again));
        biela_state *const first = again;
        seen[k] = look(crank);

        advance(crank, tau, k + 100); /* a trial step with another torque */
        advance(crank, tau, k + 101);
        const snapshot trial = look(crank);
        EXPECT(!same(&trial, &seen[k]));

        MUST(crank, biela_state_restore(crank, again));
        MUST(crank, biela_state_save(crank, &again));
        EXPECT(again == first); /* used again, not made again */
        const snapshot back = look(crank);
        EXPECT(same(&back, &seen[k]));
        advance(crank, tau, k);
    }
    seen[POINTS] = look(crank);

    /* Every kept point leads to the same future, in this instance and in another one that was never initialized. */
    for (int k = POINTS - 1; k >= 0; k--) {
        biela_instance *const used = k % 2 ? crank : twin;
        MUST(used, biela_state_restore(used, kept[k]));
        for (int j = k; j < POINTS; j++) {
            const snapshot now = look(used);
            EXPECT(same(&now, &seen[j]));
            advance(used, tau, j);
        }
        const snapshot end = look(used);
        EXPECT(same(&end, &seen[POINTS]));
    }

    /* States outlive their instance. */
    MUST(NULL, biela_instance_free(crank));
    MUST(twin, biela_state_restore(twin, kept[3]));
    const snapshot now = look(twin);
    EXPECT(same(&now, &seen[3]));
    for (int k = 0; k < POINTS; k++) {
        MUST(NULL, biela_state_free(kept[k]));
    }
    MUST(NULL, biela_state_free(again));
    MUST(NULL, biela_instance_free(twin));
    return finish();
}
