/* Every exported function, called wrongly in every way that can be told from outside: NULL and foreign handles, NULL arrays, no
 * and impossible counts, NaN, infinities and absurd numbers, before and after the start. The answer is always a status with a
 * sentence, and after a refusal the instance is what it was, compared by the bytes of its saved state.
 *
 * `every MODEL` runs; `every names` prints the functions it knows, which tests/capi/c_abi.rs compares with the committed list.
 * Compiled with FAULTS (and the library's feature fault-injection) each function also meets a panic. */
#include "check.h"

#include <math.h>

#ifdef FAULTS
biela_status biela_inject_panic(biela_instance *instance);
#endif

/* What a call may need; each function takes its own part. */
typedef struct {
    biela_instance *instance, **made;
    biela_state *state, **place;
    const char *text, **name;
    const uint32_t *references, *orders;
    size_t count;
    double number, *values;
    uint32_t integer, *integers;
    size_t *size;
    uint8_t *bytes;
    biela_variable *variable;
    biela_counters *counters;
    biela_log_callback callback;
    biela_system_definition *definition;
} arguments;

static void quiet(void *user, biela_log_level level, const char *category, double time, const char *message)
{
    (void)user, (void)level, (void)category, (void)time, (void)message;
}

/* One line for each function: how it is called, and whether it goes through an instance. */
#define FUNCTIONS(F) \
    F(biela_abi_version, 0, (biela_abi_version(), BIELA_STATUS_OK)) \
    F(biela_version, 0, biela_version() ? BIELA_STATUS_OK : BIELA_STATUS_PANIC) \
    F(biela_status_name, 0, biela_status_name((int)a->integer) ? BIELA_STATUS_OK : BIELA_STATUS_PANIC) \
    F(biela_last_error, 0, biela_last_error(a->instance) ? BIELA_STATUS_OK : BIELA_STATUS_PANIC) \
    F(biela_cancel, 0, biela_cancel(a->instance)) \
    F(biela_instance_new_from_file, 0, biela_instance_new_from_file(a->text, a->made)) \
    F(biela_instance_new_from_string, 0, biela_instance_new_from_string(a->text, a->count, a->text, a->made)) \
    F(biela_instance_free, 0, biela_instance_free(a->instance)) \
    F(biela_instance_reset, 1, biela_instance_reset(a->instance)) \
    F(biela_variable_default, 0, biela_variable_default(a->variable, a->count)) \
    F(biela_variable_count, 1, biela_variable_count(a->instance, a->integers)) \
    F(biela_variable_info, 1, biela_variable_info(a->instance, a->integer, a->variable)) \
    F(biela_variable_find, 1, biela_variable_find(a->instance, a->text, a->integers)) \
    F(biela_initialize, 1, biela_initialize(a->instance, a->number, a->number, a->number)) \
    F(biela_step, 1, biela_step(a->instance, a->number, a->number, a->values)) \
    F(biela_time, 1, biela_time(a->instance, a->values)) \
    F(biela_set_real, 1, biela_set_real(a->instance, a->references, a->count, a->values)) \
    F(biela_get_real, 1, biela_get_real(a->instance, a->references, a->count, a->values)) \
    F(biela_set_input_derivatives, 1, \
      biela_set_input_derivatives(a->instance, a->references, a->orders, a->count, a->values)) \
    F(biela_set_extrapolation, 1, biela_set_extrapolation(a->instance, a->integer)) \
    F(biela_get_output_derivatives, 1, \
      biela_get_output_derivatives(a->instance, a->references, a->orders, a->count, a->values)) \
    F(biela_directional_derivative, 1, \
      biela_directional_derivative(a->instance, a->references, a->count, a->orders, a->count, a->values, \
                                   a->values ? a->values + 1 : NULL)) \
    F(biela_equilibrium, 1, biela_equilibrium(a->instance)) \
    F(biela_linearize, 1, biela_linearize(a->instance, a->size, a->values, NULL, NULL, NULL)) \
    F(biela_linear_name, 1, biela_linear_name(a->instance, a->integer, a->count, a->name)) \
    F(biela_state_save, 1, biela_state_save(a->instance, a->place)) \
    F(biela_state_restore, 1, biela_state_restore(a->instance, a->state)) \
    F(biela_state_free, 0, biela_state_free(a->state)) \
    F(biela_state_serialized_size, 1, biela_state_serialized_size(a->instance, a->state, a->size)) \
    F(biela_state_serialize, 1, biela_state_serialize(a->instance, a->state, a->bytes, a->count)) \
    F(biela_state_deserialize, 1, biela_state_deserialize(a->instance, a->bytes, a->count, a->place)) \
    F(biela_counters_default, 0, biela_counters_default(a->counters, a->count)) \
    F(biela_statistics, 1, biela_statistics(a->instance, a->counters)) \
    F(biela_use_error_bars, 1, biela_use_error_bars(a->instance)) \
    F(biela_error_bars, 1, biela_error_bars(a->instance, NULL, NULL, NULL, NULL)) \
    F(biela_set_logger, 1, biela_set_logger(a->instance, a->callback, a->values, (int)a->integer)) \
    F(biela_system_definition_default, 0, biela_system_definition_default(a->definition, a->count)) \
    F(biela_system_new, 0, biela_system_new(a->definition, a->made)) \
    F(biela_system_answer, 1, biela_system_answer(a->instance, (int32_t *)(void *)a->integers))

#define DEFINE(name, through, call) \
    static biela_status call_##name(const arguments *a) \
    { \
        (void)a; \
        return call; \
    }
FUNCTIONS(DEFINE)

#define ENTRY(name, through, call) {#name, through, call_##name},
static const struct {
    const char *name;
    int through_instance;
    biela_status (*call)(const arguments *);
} functions[] = {FUNCTIONS(ENTRY)};
#define FUNCTION_COUNT (sizeof functions / sizeof functions[0])

/* The saved state of an instance as bytes: all that its future depends on. */
typedef struct {
    size_t size;
    uint8_t bytes[1 << 14];
} picture;

static void take(biela_instance *instance, picture *out)
{
    biela_state *state = NULL;
    memset(out, 0, sizeof *out);
    MUST(instance, biela_state_save(instance, &state));
    MUST(instance, biela_state_serialized_size(instance, state, &out->size));
    if (out->size > sizeof out->bytes) {
        fprintf(stderr, "the state needs %zu bytes\n", out->size);
        exit(2);
    }
    MUST(instance, biela_state_serialize(instance, state, out->bytes, out->size));
    MUST(NULL, biela_state_free(state));
}

static biela_instance *live(const char *model, int started)
{
    biela_instance *instance = NULL;
    MUST(NULL, biela_instance_new_from_file(model, &instance));
    if (started) {
        MUST(instance, biela_initialize(instance, 0.0, 10.0, 0.0));
        MUST(instance, biela_step(instance, 0.0, 0.05, NULL));
    }
    return instance;
}

static const char *text = NULL;
static const uint32_t references[4] = {0, 1, 0, 1}, orders[4] = {1, 1, 2, 2};
static biela_variable variable;
static biela_counters counters;
static biela_system_definition definition;
static picture scratch;

/* Arguments that are right as far as they can be. */
static void prepare(arguments *a, biela_instance *instance, biela_state *state, double number, double *room)
{
    static uint32_t integers[4];
    static size_t size[3];
    static const char *name;
    memset(a, 0, sizeof *a);
    a->instance = instance;
    a->state = state;
    a->text = text;
    a->references = references;
    a->orders = orders;
    a->count = 1;
    a->number = number;
    a->values = room;
    a->integer = 1;
    a->integers = integers;
    a->size = size;
    a->name = &name;
    a->bytes = scratch.bytes;
    a->variable = &variable;
    a->counters = &counters;
    a->callback = quiet;
    a->definition = &definition;
}

static void sweep(const char *model, int started)
{
    static const double numbers[] = {NAN, INFINITY, -INFINITY, -1.0, 0.0, 0.05, 1e308};
    static const size_t counts[] = {0, 1, SIZE_MAX, SIZE_MAX / 2 + 2, SIZE_MAX / 8 + 1};
    static picture before, after;
    biela_instance *instance = live(model, started);
    biela_state *state = NULL;
    MUST(instance, biela_state_save(instance, &state));
    take(instance, &before);
    for (size_t f = 0; f < FUNCTION_COUNT; f++) {
        for (int variant = 0; variant < 3 * 2 * 5 * 7; variant++) {
            const int handle = variant % 3, nothing = variant / 3 % 2;
            const size_t count = counts[variant / 6 % 5];
            const double number = numbers[variant / 30];
            double room[4] = {number, number, number, number};
            biela_instance *made = NULL;
            biela_state *place = NULL;
            arguments a;
            prepare(&a, handle == 0 ? NULL : handle == 1 ? (biela_instance *)(void *)state : instance, state, number, room);
            a.count = count;
            a.made = &made;
            a.place = &place;
            a.integer = (uint32_t)variant;
            MUST(NULL, biela_variable_default(&variable, sizeof variable));
            MUST(NULL, biela_counters_default(&counters, sizeof counters));
            MUST(NULL, biela_system_definition_default(&definition, sizeof definition));
            definition.nq = definition.nv = count; /* and no function: refused whatever the size */
            if (nothing) {
                a.definition = NULL;
                a.made = NULL, a.place = NULL, a.state = NULL, a.text = NULL, a.references = a.orders = NULL;
                a.values = NULL, a.integers = NULL, a.size = NULL, a.bytes = NULL, a.variable = NULL, a.counters = NULL;
                a.callback = NULL, a.name = NULL;
            }
            /* Promises of the header that no check can see: memory that is there, and handles that live on. */
            const int text_too_short = strcmp(functions[f].name, "biela_instance_new_from_string") == 0;
            if (text_too_short && a.count > 1 && a.count <= SIZE_MAX / 2) {
                a.count = 1;
            }
            if ((strcmp(functions[f].name, "biela_instance_free") == 0 && handle == 2) ||
                (strcmp(functions[f].name, "biela_state_free") == 0 && !nothing)) {
                continue;
            }
            const biela_status status = functions[f].call(&a);
            if (strcmp(biela_status_name((int)status), "BIELA_STATUS_UNKNOWN") == 0 || status == BIELA_STATUS_PANIC) {
                failures++;
                fprintf(stderr, "%s, variant %d: status %d: %s\n", functions[f].name, variant, (int)status,
                        biela_last_error(a.instance));
            }
            if (status != BIELA_STATUS_OK) {
                const int own = functions[f].through_instance && handle == 2;
                if (biela_last_error(own ? instance : NULL)[0] == '\0') {
                    failures++;
                    fprintf(stderr, "%s, variant %d: no sentence\n", functions[f].name, variant);
                }
                if (handle == 2) {
                    take(instance, &after);
                    if (memcmp(&before, &after, sizeof before) != 0) {
                        failures++;
                        fprintf(stderr, "%s, variant %d: refused, yet something has changed\n", functions[f].name, variant);
                    }
                }
                EXPECT(made == NULL && place == NULL);
            } else if (functions[f].through_instance) {
                /* It did something legal, or nothing: never with a number that is none. */
                if (!nothing && handle == 2 && strstr(functions[f].name, "_get_")) {
                    EXPECT(count == 0 || isfinite(room[0]));
                }
                EXPECT(handle == 2);
                MUST(NULL, biela_state_free(place));
                MUST(NULL, biela_instance_free(instance));
                instance = live(model, started);
            }
            MUST(NULL, biela_instance_free(made));
        }
    }
    MUST(NULL, biela_state_free(state));
    MUST(NULL, biela_instance_free(instance));
}

#ifdef FAULTS
static void panics(const char *model)
{
    static picture created, again;
    biela_instance *instance = live(model, 0);
    biela_state *state = NULL, *place = NULL;
    take(instance, &created);
    MUST(instance, biela_state_save(instance, &state));
    MUST(NULL, biela_variable_default(&variable, sizeof variable));
    MUST(NULL, biela_counters_default(&counters, sizeof counters));
    for (size_t f = 0; f < FUNCTION_COUNT; f++) {
        double room[4] = {0.0, 0.0, 0.0, 0.0};
        arguments a;
        prepare(&a, instance, state, 0.0, room);
        a.place = &place;
        if (!functions[f].through_instance) {
            continue;
        }
        MUST(instance, biela_inject_panic(instance));
        REFUSED(instance, functions[f].call(&a), BIELA_STATUS_PANIC, "injected fault");
        /* Dead by its own word, for every function but those that end or mend it. */
        for (size_t g = 0; g < FUNCTION_COUNT; g++) {
            if (functions[g].through_instance && strcmp(functions[g].name, "biela_instance_reset") != 0) {
                REFUSED(instance, functions[g].call(&a), BIELA_STATUS_PANIC, "injected fault");
            }
        }
        EXPECT(place == NULL);
        MUST(instance, biela_instance_reset(instance));
        take(instance, &again);
        EXPECT(memcmp(&created, &again, sizeof again) == 0);
    }
    MUST(NULL, biela_state_free(state));
    MUST(NULL, biela_instance_free(instance));
}
#endif

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s MODEL|names\n", argv[0]);
        return 2;
    }
    if (strcmp(argv[1], "names") == 0) {
        for (size_t f = 0; f < FUNCTION_COUNT; f++) {
            printf("%s\n", functions[f].name);
        }
        return 0;
    }
    text = argv[1];
    sweep(argv[1], 0);
    sweep(argv[1], 1);
#ifdef FAULTS
    panics(argv[1]);
#endif
    return finish();
}
