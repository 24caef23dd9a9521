/* A host with a floating-point environment of its own: traps on invalid operations, division by zero and overflow, another
 * rounding. No trap may fire inside the library, every bit is that of a host without all this, callbacks and loggers run in the
 * host's environment, and it is unchanged after every call.
 * usage: environment MODEL... */
#define _GNU_SOURCE
#include "check.h"

#include <fenv.h>
#include <math.h>

#define STEPS 40
#define NUMBERS 4096

static const int traps = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;
static int expected_rounding = FE_TONEAREST, expected_traps = 0, looked = 0;

static void inspect(void)
{
    looked++;
    EXPECT(fegetround() == expected_rounding && fegetexcept() == expected_traps);
}

static void hear(void *user, biela_log_level level, const char *category, double time, const char *message)
{
    (void)user, (void)level, (void)category, (void)time, (void)message;
    inspect();
}

/* A life of an instance: all values of all variables after each step. */
static size_t life(const char *model, double *out)
{
    biela_instance *instance = NULL;
    biela_state *state = NULL;
    size_t count = 0;
    uint32_t variables = 0;
    double time = 0.0;
    MUST(NULL, biela_instance_new_from_file(model, &instance));
    inspect();
    MUST(instance, biela_set_logger(instance, hear, NULL, BIELA_LOG_LEVEL_DEBUG));
    MUST(instance, biela_initialize(instance, 0.0, INFINITY, 0.0));
    inspect();
    MUST(instance, biela_variable_count(instance, &variables));
    for (int k = 0; k < STEPS; k++) {
        if (k == STEPS / 2) {
            MUST(instance, biela_state_save(instance, &state));
            MUST(instance, biela_step(instance, time, 0.01, NULL));
            MUST(instance, biela_state_restore(instance, state));
        }
        MUST(instance, biela_step(instance, time, 0.01, &time));
        inspect();
        for (uint32_t reference = 0; reference < variables && count < NUMBERS; reference++) {
            MUST(instance, biela_get_real(instance, &reference, 1, &out[count++]));
        }
    }
    EXPECT(biela_step(instance, NAN, 0.01, NULL) == BIELA_STATUS_ERROR_ARGUMENT);
    inspect();
    MUST(instance, biela_state_free(state));
    MUST(NULL, biela_instance_free(instance));
    return count;
}

/* Equations of the host, which look at the environment too. */
static int32_t mass_times(void *user, const biela_system_point *at, double *out)
{
    (void)user;
    inspect();
    out[0] = at->a[0];
    return 0;
}

static int32_t force(void *user, const biela_system_point *at, double *out)
{
    (void)user;
    inspect();
    out[0] = -sin(at->q[0]);
    return 0;
}

static double pendulum(void)
{
    const double q[] = {1.0};
    double time = 0.0, last = 0.0;
    uint32_t reference = 0;
    biela_instance *instance = NULL;
    biela_system_definition definition;
    MUST(NULL, biela_system_definition_default(&definition, sizeof definition));
    definition.name = "pendulum";
    definition.nq = definition.nv = 1;
    definition.q = q;
    definition.mass_times = mass_times;
    definition.force = force;
    MUST(NULL, biela_system_new(&definition, &instance));
    MUST(instance, biela_initialize(instance, 0.0, INFINITY, 0.0));
    MUST(instance, biela_step(instance, time, 1.0, &time));
    MUST(instance, biela_variable_find(instance, "q1", &reference));
    MUST(instance, biela_get_real(instance, &reference, 1, &last));
    MUST(NULL, biela_instance_free(instance));
    return last;
}

int main(int count, char **models)
{
    static double plain[NUMBERS], other[NUMBERS];
    const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    const double swing = pendulum();
    for (int i = 1; i < count; i++) {
        const size_t numbers = life(models[i], plain);
        EXPECT(numbers > 0);
        for (size_t k = 0; k < sizeof roundings / sizeof *roundings; k++) {
            fesetround(roundings[k]);
            feenableexcept(traps);
            expected_rounding = roundings[k], expected_traps = traps;
            EXPECT(life(models[i], other) == numbers);
            if (i == 1 && roundings[k] == FE_TONEAREST) {
                /* Its own rounding in its own equations: only this one has the same bits. */
                EXPECT(pendulum() == swing);
            }
            fedisableexcept(FE_ALL_EXCEPT);
            fesetround(FE_TONEAREST);
            expected_rounding = FE_TONEAREST, expected_traps = 0;
            EXPECT(memcmp(plain, other, numbers * sizeof *plain) == 0);
        }
    }
    EXPECT(looked > 1000);
    return failures != 0;
}
