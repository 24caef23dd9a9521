/* Everything a host can do wrong that can be noticed: each time a status, a sentence that names the culprit, and an instance
 * that is as it was before. */
#include "check.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>

static const char *const OSCILLATOR =
    "format = 1\n"
    "name = \"other\"\n"
    "dimension = 2\n"
    "[[body]]\n"
    "name = \"mass\"\n"
    "mass = 1.0\n"
    "inertia = 1.0\n"
    "position = [1.0, 0.0]\n"
    "[[joint]]\n"
    "name = \"slide\"\n"
    "type = \"prismatic\"\n"
    "bodies = [\"ground\", \"mass\"]\n"
    "point = [0.0, 0.0]\n"
    "axis = [1.0, 0.0]\n"
    "[[output]]\n"
    "name = \"x\"\n"
    "source = \"mass.x\"\n";

static biela_instance *crank = NULL; /* initialized at 0, stops at 10, one step done */
static snapshot before;
static uint32_t tau = 0, output = 0, parameter = 0, count = 0;

/* Refused, and nothing has changed. */
#define UNCHANGED(call, status, word)                 \
    do {                                              \
        REFUSED(crank, call, status, word);           \
        const snapshot after = look(crank);           \
        EXPECT(same(&before, &after));                \
    } while (0)

static void null_handles(void)
{
    uint32_t number = 7;
    double value = 7.0;
    biela_variable variable;
    biela_counters counters;
    biela_state *state = NULL;
    MUST(NULL, biela_variable_default(&variable, sizeof variable));
    MUST(NULL, biela_counters_default(&counters, sizeof counters));
    const biela_status wrong = BIELA_STATUS_ERROR_ARGUMENT;
    REFUSED(NULL, biela_instance_reset(NULL), wrong, "biela_instance_reset = NULL");
    REFUSED(NULL, biela_variable_count(NULL, &number), wrong, "biela_variable_count = NULL");
    REFUSED(NULL, biela_variable_info(NULL, 0, &variable), wrong, "biela_variable_info = NULL");
    REFUSED(NULL, biela_variable_find(NULL, "tau", &number), wrong, "biela_variable_find = NULL");
    REFUSED(NULL, biela_initialize(NULL, 0.0, 1.0, 0.0), wrong, "biela_initialize = NULL");
    REFUSED(NULL, biela_set_real(NULL, &number, 1, &value), wrong, "biela_set_real = NULL");
    REFUSED(NULL, biela_get_real(NULL, &number, 1, &value), wrong, "biela_get_real = NULL");
    REFUSED(NULL, biela_step(NULL, 0.0, 0.1, &value), wrong, "biela_step = NULL");
    REFUSED(NULL, biela_cancel(NULL), wrong, "biela_cancel = NULL");
    REFUSED(NULL, biela_time(NULL, &value), wrong, "biela_time = NULL");
    REFUSED(NULL, biela_state_save(NULL, &state), wrong, "biela_state_save = NULL");
    REFUSED(NULL, biela_state_restore(NULL, state), wrong, "biela_state_restore = NULL");
    REFUSED(NULL, biela_statistics(NULL, &counters), wrong, "biela_statistics = NULL");
    EXPECT(number == 7 && value == 7.0 && state == NULL);
    MUST(NULL, biela_instance_free(NULL));
    MUST(NULL, biela_state_free(NULL));
}

/* Handles of another kind, as far as the memory behind them can be read. */
static void foreign_handles(void)
{
    double value = 7.0;
    uint64_t zeros[64] = {0};
    biela_state *state = NULL;
    MUST(crank, biela_state_save(crank, &state));
    biela_instance *const not_instances[] = {
        (biela_instance *)(void *)state, (biela_instance *)(void *)zeros, (biela_instance *)(void *)((char *)zeros + 1)};
    for (size_t i = 0; i < sizeof not_instances / sizeof *not_instances; i++) {
        biela_instance *const stranger = not_instances[i];
        REFUSED(NULL, biela_time(stranger, &value), BIELA_STATUS_ERROR_ARGUMENT, "not an instance");
        REFUSED(NULL, biela_cancel(stranger), BIELA_STATUS_ERROR_ARGUMENT, "not an instance");
        REFUSED(NULL, biela_instance_free(stranger), BIELA_STATUS_ERROR_ARGUMENT, "not an instance");
        EXPECT(strstr(biela_last_error(stranger), "not an instance"));
    }
    biela_state *const not_states[] = {(biela_state *)(void *)crank, (biela_state *)(void *)zeros,
                                       (biela_state *)(void *)((char *)zeros + 1)};
    for (size_t i = 0; i < sizeof not_states / sizeof *not_states; i++) {
        biela_state *stranger = not_states[i];
        UNCHANGED(biela_state_restore(crank, stranger), BIELA_STATUS_ERROR_ARGUMENT, "not a state");
        UNCHANGED(biela_state_save(crank, &stranger), BIELA_STATUS_ERROR_ARGUMENT, "not a state");
        EXPECT(stranger == not_states[i]);
        REFUSED(NULL, biela_state_free(stranger), BIELA_STATUS_ERROR_ARGUMENT, "not a state");
    }
    EXPECT(value == 7.0);
    MUST(NULL, biela_state_free(state));
}

static void creation(const char *model)
{
    biela_instance *out = (biela_instance *)(void *)&failures; /* not NULL, to see that it becomes NULL */
    biela_instance *const mark = out;
    const biela_status wrong = BIELA_STATUS_ERROR_ARGUMENT, broken = BIELA_STATUS_ERROR_MODEL;
#define NOT_MADE(call, status, word)      \
    do {                                  \
        out = mark;                       \
        REFUSED(NULL, call, status, word); \
        EXPECT(out == NULL);              \
    } while (0)
    REFUSED(NULL, biela_instance_new_from_file(model, NULL), wrong, "out = NULL");
    REFUSED(NULL, biela_instance_new_from_string("", 0, NULL, NULL), wrong, "out = NULL");
    NOT_MADE(biela_instance_new_from_file(NULL, &out), wrong, "path = NULL");
    NOT_MADE(biela_instance_new_from_file("no/such/file.toml", &out), BIELA_STATUS_ERROR_FILE, "no/such/file.toml");
    NOT_MADE(biela_instance_new_from_file("a\xff", &out), wrong, "path");
    NOT_MADE(biela_instance_new_from_string(NULL, 5, NULL, &out), wrong, "text = NULL");
    NOT_MADE(biela_instance_new_from_string("x", SIZE_MAX, NULL, &out), wrong, "count of text");
    NOT_MADE(biela_instance_new_from_string("ab\xff", 3, NULL, &out), wrong, "offset 2");
    NOT_MADE(biela_instance_new_from_string(OSCILLATOR, strlen(OSCILLATOR), "b\xff", &out), wrong, "base_dir");
    NOT_MADE(biela_instance_new_from_string(NULL, 0, NULL, &out), broken, ":1:1:");
    NOT_MADE(biela_instance_new_from_string("format = 1\nname = \n", 19, NULL, &out), broken, ":2:");
    NOT_MADE(biela_instance_new_from_string("format = 1\nname = \"a\"\nmas = 2\n", 30, NULL, &out), broken, ":3:1:");
    NOT_MADE(biela_instance_new_from_string("{\"format\": 1,", 13, NULL, &out), broken, ":1:");
    NOT_MADE(biela_instance_new_from_string(OSCILLATOR, strlen(OSCILLATOR) - 2, NULL, &out), broken, ":17:");
#undef NOT_MADE
}

static void order(const char *model)
{
    biela_instance *fresh = NULL;
    double value = 7.0, reached = -1.0, nothing = 0.0;
    MUST(NULL, biela_instance_new_from_file(model, &fresh));
    EXPECT(biela_last_error(fresh)[0] == '\0');
    REFUSED(fresh, biela_step(fresh, 0.0, 0.1, &reached), BIELA_STATUS_ERROR_CALL_ORDER, "initialize");
    REFUSED(fresh, biela_get_real(fresh, &output, 1, &value), BIELA_STATUS_ERROR_CALL_ORDER, "initialize");
    REFUSED(fresh, biela_initialize(fresh, NAN, 1.0, 0.0), BIELA_STATUS_ERROR_ARGUMENT, "start_time = NaN");
    REFUSED(fresh, biela_initialize(fresh, 1.0, 0.0, 0.0), BIELA_STATUS_ERROR_ARGUMENT, "stop_time = 0");
    REFUSED(fresh, biela_initialize(fresh, 0.0, NAN, 0.0), BIELA_STATUS_ERROR_ARGUMENT, "stop_time = NaN");
    REFUSED(fresh, biela_initialize(fresh, 0.0, 1.0, NAN), BIELA_STATUS_ERROR_ARGUMENT, "tolerance = NaN");
    EXPECT(value == 7.0);
    /* Still not initialized; inputs can be set and read. */
    REFUSED(fresh, biela_step(fresh, 0.0, 0.1, NULL), BIELA_STATUS_ERROR_CALL_ORDER, "step");
    value = 0.25;
    MUST(fresh, biela_set_real(fresh, &tau, 1, &value));
    value = 0.0;
    MUST(fresh, biela_get_real(fresh, &tau, 1, &value));
    EXPECT(value == 0.25);
    /* A success leaves the sentence alone; a reset forgets it, and the input with it. */
    EXPECT(strstr(biela_last_error(fresh), "step"));
    MUST(fresh, biela_instance_reset(fresh));
    EXPECT(biela_last_error(fresh)[0] == '\0');
    MUST(fresh, biela_get_real(fresh, &tau, 1, &nothing));
    EXPECT(nothing == 0.0);
    MUST(NULL, biela_instance_free(fresh));

    UNCHANGED(biela_initialize(crank, 0.0, 1.0, 0.0), BIELA_STATUS_ERROR_CALL_ORDER, "initialize");
}

static void variables(void)
{
    uint32_t number = 7;
    biela_variable variable, copy;
    MUST(NULL, biela_variable_default(&variable, sizeof variable));
    copy = variable;
    UNCHANGED(biela_variable_count(crank, NULL), BIELA_STATUS_ERROR_ARGUMENT, "count = NULL");
    UNCHANGED(biela_variable_info(crank, 0, NULL), BIELA_STATUS_ERROR_ARGUMENT, "variable = NULL");
    UNCHANGED(biela_variable_info(crank, count, &variable), BIELA_STATUS_ERROR_UNKNOWN_VARIABLE, "reference");
    UNCHANGED(biela_variable_info(crank, UINT32_MAX, &variable), BIELA_STATUS_ERROR_UNKNOWN_VARIABLE, "4294967295");
    EXPECT(memcmp(&variable, &copy, sizeof copy) == 0);
    variable.struct_size = 0;
    UNCHANGED(biela_variable_info(crank, 0, &variable), BIELA_STATUS_ERROR_ARGUMENT, "struct_size");
    variable.struct_size = SIZE_MAX;
    UNCHANGED(biela_variable_info(crank, 0, &variable), BIELA_STATUS_ERROR_ARGUMENT, "struct_size");
    REFUSED(NULL, biela_variable_default(NULL, sizeof variable), BIELA_STATUS_ERROR_ARGUMENT, "variable = NULL");
    REFUSED(NULL, biela_variable_default(&variable, 1), BIELA_STATUS_ERROR_ARGUMENT, "sizeof(biela_variable)");
    UNCHANGED(biela_variable_find(crank, NULL, &number), BIELA_STATUS_ERROR_ARGUMENT, "name = NULL");
    UNCHANGED(biela_variable_find(crank, "tau", NULL), BIELA_STATUS_ERROR_ARGUMENT, "reference = NULL");
    UNCHANGED(biela_variable_find(crank, "tua", &number), BIELA_STATUS_ERROR_UNKNOWN_VARIABLE, "\"tua\"");
    EXPECT(strstr(biela_last_error(crank), "\"tau\""));
    UNCHANGED(biela_variable_find(crank, "", &number), BIELA_STATUS_ERROR_UNKNOWN_VARIABLE, "\"\"");
    UNCHANGED(biela_variable_find(crank, "\xff", &number), BIELA_STATUS_ERROR_ARGUMENT, "name");
    EXPECT(number == 7);

    biela_counters counters;
    MUST(NULL, biela_counters_default(&counters, sizeof counters));
    UNCHANGED(biela_statistics(crank, NULL), BIELA_STATUS_ERROR_ARGUMENT, "counters = NULL");
    counters.struct_size = 8;
    UNCHANGED(biela_statistics(crank, &counters), BIELA_STATUS_ERROR_ARGUMENT, "struct_size");
    REFUSED(NULL, biela_counters_default(NULL, sizeof counters), BIELA_STATUS_ERROR_ARGUMENT, "counters = NULL");
    UNCHANGED(biela_time(crank, NULL), BIELA_STATUS_ERROR_ARGUMENT, "time = NULL");
}

static void values(void)
{
    const biela_status wrong = BIELA_STATUS_ERROR_ARGUMENT, unknown = BIELA_STATUS_ERROR_UNKNOWN_VARIABLE;
    double room[4] = {7.0, 7.0, 7.0, 7.0};
    double number = 0.5;
    uint32_t references[2];
    /* Zero lengths look at no pointer. */
    MUST(crank, biela_set_real(crank, NULL, 0, NULL));
    MUST(crank, biela_get_real(crank, NULL, 0, NULL));
    MUST(crank, biela_set_real(crank, (const uint32_t *)1, 0, (const double *)1));
    MUST(crank, biela_get_real(crank, (const uint32_t *)1, 0, (double *)1));

    UNCHANGED(biela_set_real(crank, NULL, 1, &number), wrong, "references = NULL");
    UNCHANGED(biela_set_real(crank, &tau, 1, NULL), wrong, "values = NULL");
    UNCHANGED(biela_set_real(crank, &tau, SIZE_MAX, &number), wrong, "count of references");
    UNCHANGED(biela_set_real(crank, &tau, SIZE_MAX / 8, &number), wrong, "count of values");
    UNCHANGED(biela_set_real(crank, (const uint32_t *)(const void *)((const char *)&tau + 1), 1, &number), wrong,
              "references");
    UNCHANGED(biela_get_real(crank, NULL, 1, room), wrong, "references = NULL");
    UNCHANGED(biela_get_real(crank, &tau, 1, NULL), wrong, "values = NULL");
    UNCHANGED(biela_get_real(crank, &tau, SIZE_MAX, room), wrong, "values");
    UNCHANGED(biela_get_real(crank, &tau, 1, (double *)(void *)((char *)room + 4)), wrong, "values");
    UNCHANGED(biela_get_real(crank, (const uint32_t *)(const void *)room, 2, room), wrong, "apart from references");

    number = NAN;
    UNCHANGED(biela_set_real(crank, &tau, 1, &number), wrong, "tau");
    number = INFINITY;
    UNCHANGED(biela_set_real(crank, &tau, 1, &number), wrong, "tau");
    number = 0.5;
    UNCHANGED(biela_set_real(crank, &output, 1, &number), BIELA_STATUS_ERROR_NOT_SETTABLE, "output");
    references[0] = count;
    UNCHANGED(biela_set_real(crank, references, 1, &number), unknown, "reference");
    UNCHANGED(biela_get_real(crank, references, 1, room), unknown, "reference");

    /* The first of two is fine, the second is not: neither is done. */
    const double two[2] = {0.75, 0.5}, half_wrong[2] = {0.75, NAN};
    references[0] = tau;
    references[1] = count;
    UNCHANGED(biela_set_real(crank, references, 2, two), unknown, "reference");
    UNCHANGED(biela_get_real(crank, references, 2, room), unknown, "reference");
    references[1] = parameter;
    UNCHANGED(biela_set_real(crank, references, 2, half_wrong), wrong, "NaN");
    EXPECT(room[0] == 7.0 && room[1] == 7.0 && room[2] == 7.0 && room[3] == 7.0);
}

static void steps(void)
{
    const biela_status wrong = BIELA_STATUS_ERROR_ARGUMENT;
    const double t = before.time;
    double reached = -1.0;
    UNCHANGED(biela_step(crank, t, -0.1, &reached), wrong, "-0.1");
    EXPECT(reached == t);
    UNCHANGED(biela_step(crank, t, NAN, NULL), wrong, "step");
    UNCHANGED(biela_step(crank, t, INFINITY, NULL), wrong, "step");
    UNCHANGED(biela_step(crank, NAN, 0.1, NULL), wrong, "t = NaN");
    UNCHANGED(biela_step(crank, t + 0.05, 0.1, &reached), wrong, "the instance's time");
    EXPECT(reached == t);
    UNCHANGED(biela_step(crank, t, 10.0, &reached), wrong, "stop time");
    UNCHANGED(biela_step(crank, t, 0.1, (double *)(void *)((char *)&reached + 1)), wrong, "reached");
    /* Nothing is a legal step. */
    reached = -1.0;
    MUST(crank, biela_step(crank, t, 0.0, &reached));
    EXPECT(reached == t);
    const snapshot after = look(crank);
    EXPECT(same(&before, &after));
}

static void states(void)
{
    biela_instance *other = NULL;
    biela_state *state = NULL;
    MUST(NULL, biela_instance_new_from_string(OSCILLATOR, strlen(OSCILLATOR), NULL, &other));
    MUST(other, biela_initialize(other, 0.0, 1.0, 0.0));
    MUST(other, biela_state_save(other, &state));
    UNCHANGED(biela_state_restore(crank, state), BIELA_STATUS_ERROR_STATE, "another model");
    UNCHANGED(biela_state_restore(crank, NULL), BIELA_STATUS_ERROR_ARGUMENT, "state = NULL");
    UNCHANGED(biela_state_save(crank, NULL), BIELA_STATUS_ERROR_ARGUMENT, "state = NULL");
    MUST(NULL, biela_state_free(state));
    MUST(NULL, biela_instance_free(other));
}

/* --- two threads ------------------------------------------------------------------------------------------------- */

static biela_status long_step_status = BIELA_STATUS_OK;
static double long_step_reached = -1.0;

/* Far longer than the test; only biela_cancel ends it. */
static void *long_step(void *argument)
{
    biela_instance *const instance = argument;
    do { /* the other thread's look at the time may have been first */
        long_step_status = biela_step(instance, 0.0, 1e6, &long_step_reached);
        sched_yield();
    } while (long_step_status == BIELA_STATUS_BUSY);
    return NULL;
}

static void two_threads(const char *model)
{
    biela_instance *instance = NULL;
    uint32_t number = 7;
    double value = 7.0;
    biela_variable variable;
    biela_counters counters;
    biela_state *state = NULL;
    pthread_t thread;
    MUST(NULL, biela_variable_default(&variable, sizeof variable));
    MUST(NULL, biela_counters_default(&counters, sizeof counters));
    MUST(NULL, biela_instance_new_from_file(model, &instance));
    MUST(instance, biela_state_save(instance, &state));
    MUST(instance, biela_initialize(instance, 0.0, INFINITY, 1e-9));
    if (pthread_create(&thread, NULL, long_step, instance) != 0) {
        fprintf(stderr, "no second thread\n");
        exit(2);
    }
    while (biela_time(instance, &value) == BIELA_STATUS_OK) {
        sched_yield(); /* outside a call, so that the other thread finds the instance free */
    }
    value = 7.0;
    const biela_status busy = BIELA_STATUS_BUSY;
    REFUSED(instance, biela_time(instance, &value), busy, "biela_time must wait: the instance is busy with biela_step");
    REFUSED(instance, biela_instance_reset(instance), busy, "busy with biela_step");
    REFUSED(instance, biela_variable_count(instance, &number), busy, "busy with biela_step");
    REFUSED(instance, biela_variable_info(instance, 0, &variable), busy, "busy with biela_step");
    REFUSED(instance, biela_variable_find(instance, "tau", &number), busy, "busy with biela_step");
    REFUSED(instance, biela_initialize(instance, 0.0, 1.0, 0.0), busy, "busy with biela_step");
    REFUSED(instance, biela_set_real(instance, &tau, 1, &value), busy, "busy with biela_step");
    REFUSED(instance, biela_get_real(instance, &tau, 1, &value), busy, "busy with biela_step");
    REFUSED(instance, biela_step(instance, 0.0, 1.0, &value), busy, "busy with biela_step");
    REFUSED(instance, biela_state_save(instance, &state), busy, "busy with biela_step");
    REFUSED(instance, biela_state_restore(instance, state), busy, "busy with biela_step");
    REFUSED(instance, biela_statistics(instance, &counters), busy, "busy with biela_step");
    REFUSED(instance, biela_instance_free(instance), busy, "busy with biela_step");
    EXPECT(number == 7 && value == 7.0 && counters.steps == 0 && variable.name == NULL);
    /* Another instance does not notice. */
    const snapshot after = look(crank);
    EXPECT(same(&before, &after));

    MUST(NULL, biela_cancel(instance));
    pthread_join(thread, NULL);
    EXPECT(long_step_status == BIELA_STATUS_CANCELLED);
    MUST(instance, biela_time(instance, &value));
    EXPECT(value == long_step_reached && value >= 0.0 && value < 1e6);
    EXPECT(strstr(biela_last_error(instance), "cancelled"));
    /* It goes on from where it was stopped. */
    MUST(instance, biela_step(instance, value, 0.01, &value));
    EXPECT(value == long_step_reached + 0.01);
    MUST(NULL, biela_state_free(state));
    MUST(NULL, biela_instance_free(instance));
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s MODEL\n", argv[0]);
        return 2;
    }
    EXPECT(biela_last_error(NULL)[0] == '\0');
    EXPECT(strcmp(biela_status_name(BIELA_STATUS_BUSY), "BIELA_STATUS_BUSY") == 0);
    EXPECT(strcmp(biela_status_name(-1), "BIELA_STATUS_UNKNOWN") == 0);
    EXPECT(strchr(biela_version(), '.') != NULL);

    MUST(NULL, biela_instance_new_from_file(argv[1], &crank));
    MUST(crank, biela_variable_count(crank, &count));
    MUST(crank, biela_variable_find(crank, "tau", &tau));
    for (uint32_t i = 0; i < count; i++) {
        biela_variable variable;
        MUST(NULL, biela_variable_default(&variable, sizeof variable));
        MUST(crank, biela_variable_info(crank, i, &variable));
        EXPECT(variable.has_start == (variable.causality != BIELA_CAUSALITY_OUTPUT));
        if (variable.causality == BIELA_CAUSALITY_OUTPUT) {
            output = i;
        } else if (variable.causality == BIELA_CAUSALITY_PARAMETER) {
            parameter = i;
        }
    }
    EXPECT(output != tau && parameter != tau && output != parameter);
    MUST(crank, biela_initialize(crank, 0.0, 10.0, 0.0));
    MUST(crank, biela_step(crank, 0.0, 0.1, NULL));
    before = look(crank);

    null_handles();
    foreign_handles();
    creation(argv[1]);
    order(argv[1]);
    variables();
    values();
    steps();
    states();
    two_threads(argv[1]);

    /* After all that: as if nothing had happened. */
    biela_instance *fresh = NULL;
    MUST(NULL, biela_instance_new_from_file(argv[1], &fresh));
    MUST(fresh, biela_initialize(fresh, 0.0, 10.0, 0.0));
    MUST(fresh, biela_step(fresh, 0.0, 0.1, NULL));
    MUST(fresh, biela_step(fresh, 0.1, 0.1, NULL));
    MUST(crank, biela_step(crank, 0.1, 0.1, NULL));
    const snapshot one = look(crank), two = look(fresh);
    EXPECT(same(&one, &two));
    MUST(NULL, biela_instance_free(fresh));
    MUST(NULL, biela_instance_free(crank));
    return finish();
}
