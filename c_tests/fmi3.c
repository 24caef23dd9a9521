/* An importer of FMI 3.0 written against the official headers: every function is called through its own prototype, then a
 * run with a driven input is printed, bit by bit.
 *
 *     fmi3 LIBRARY RESOURCES TOKEN INPUT OUTPUT STEPS H    (INPUT and OUTPUT are value references) */
#include "fmi3FunctionTypes.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPES(f) f(Float32) f(Int8) f(UInt8) f(Int16) f(UInt16) f(Int32) f(UInt32) f(Int64) f(UInt64) f(Boolean) f(String)
#define FUNCTIONS(f)                                                                                                 \
    f(GetVersion) f(SetDebugLogging) f(InstantiateModelExchange) f(InstantiateCoSimulation)                          \
    f(InstantiateScheduledExecution) f(FreeInstance) f(EnterInitializationMode) f(ExitInitializationMode)            \
    f(EnterEventMode) f(Terminate) f(Reset) f(GetFloat32) f(GetFloat64) f(GetInt8) f(GetUInt8) f(GetInt16)           \
    f(GetUInt16) f(GetInt32) f(GetUInt32) f(GetInt64) f(GetUInt64) f(GetBoolean) f(GetString) f(GetBinary)           \
    f(GetClock) f(SetFloat32) f(SetFloat64) f(SetInt8) f(SetUInt8) f(SetInt16) f(SetUInt16) f(SetInt32)              \
    f(SetUInt32) f(SetInt64) f(SetUInt64) f(SetBoolean) f(SetString) f(SetBinary) f(SetClock)                        \
    f(GetNumberOfVariableDependencies) f(GetVariableDependencies) f(GetFMUState) f(SetFMUState) f(FreeFMUState)      \
    f(SerializedFMUStateSize) f(SerializeFMUState) f(DeserializeFMUState) f(GetDirectionalDerivative)                \
    f(GetAdjointDerivative) f(EnterConfigurationMode) f(ExitConfigurationMode) f(GetIntervalDecimal)                 \
    f(GetIntervalFraction) f(GetShiftDecimal) f(GetShiftFraction) f(SetIntervalDecimal) f(SetIntervalFraction)       \
    f(SetShiftDecimal) f(SetShiftFraction) f(EvaluateDiscreteStates) f(UpdateDiscreteStates)                         \
    f(EnterContinuousTimeMode) f(CompletedIntegratorStep) f(SetTime) f(SetContinuousStates)                          \
    f(GetContinuousStateDerivatives) f(GetEventIndicators) f(GetContinuousStates)                                    \
    f(GetNominalsOfContinuousStates) f(GetNumberOfEventIndicators) f(GetNumberOfContinuousStates) f(EnterStepMode)   \
    f(GetOutputDerivatives) f(DoStep) f(ActivateModelPartition)

#define DECLARE(name) static fmi3##name##TYPE *name;
FUNCTIONS(DECLARE)

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);       \
            exit(1);                                                              \
        }                                                                         \
    } while (0)
#define REFUSED(call)                                     \
    do {                                                  \
        const int before = messages;                      \
        CHECK((call) == fmi3Error);                       \
        CHECK(messages == before + 1 && last[0] != '\0'); \
    } while (0)

static void *library;
static int messages;
static char last[1000];
static fmi3Instance watched;
static fmi3ValueReference watched_reference;
static int updates, stop_at;
static double update_time;

static void load(void *function, const char *name)
{
    void *symbol = dlsym(library, name);
    CHECK(symbol);
    memcpy(function, &symbol, sizeof symbol);
}

static void logger(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String message)
{
    CHECK(environment == &messages && category && message && status <= fmi3Error);
    snprintf(last, sizeof last, "%s", message);
    messages++;
}

/* Reads during a step, is refused what it may not do, and asks for the end after `stop_at` updates. */
static void update(fmi3InstanceEnvironment environment, fmi3Float64 time, fmi3Boolean set, fmi3Boolean get,
                   fmi3Boolean finished, fmi3Boolean can_return, fmi3Boolean *early, fmi3Float64 *early_time)
{
    double value = NAN;
    bool b;
    double t;
    CHECK(environment == &messages && !set && get && finished && can_return);
    CHECK(GetFloat64(watched, &watched_reference, 1, &value, 1) == fmi3OK && isfinite(value));
    CHECK(SetFloat64(watched, &watched_reference, 1, &value, 1) == fmi3Error);
    CHECK(DoStep(watched, time, 0.1, true, &b, &b, &b, &t) == fmi3Error);
    const fmi3ValueReference unasked = watched_reference + 1;
    CHECK(GetFloat64(watched, &unasked, 1, &value, 1) == fmi3Error);
    CHECK(time > update_time);
    update_time = time;
    updates++;
    *early = updates == stop_at;
    *early_time = time;
}

static fmi3Instance start(const char *token, const char *resources)
{
    fmi3Instance c = InstantiateCoSimulation("one", token, resources, false, false, false, true, &watched_reference, 1,
                                             &messages, logger, NULL);
    CHECK(c);
    CHECK(EnterInitializationMode(c, false, 0.0, 0.0, false, 0.0) == fmi3OK);
    CHECK(ExitInitializationMode(c) == fmi3OK);
    return c;
}

int main(int argc, char **argv)
{
    CHECK(argc == 8);
    const char *resources = argv[2], *token = argv[3];
    const fmi3ValueReference u = (fmi3ValueReference)atoi(argv[4]), y = (fmi3ValueReference)atoi(argv[5]);
    const int steps = atoi(argv[6]);
    const double h = atof(argv[7]);
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
#define LOAD(name) load(&name, "fmi3" #name);
    FUNCTIONS(LOAD)
    watched_reference = y;

    CHECK(!strncmp(GetVersion(), "3.0", 3));
    CHECK(!InstantiateModelExchange("one", token, resources, false, false, &messages, logger));
    CHECK(messages == 1);
    CHECK(!InstantiateScheduledExecution("one", token, resources, false, false, &messages, logger, NULL, NULL, NULL));
    CHECK(messages == 2);
    CHECK(!InstantiateCoSimulation("one", "other", resources, false, false, false, false, NULL, 0, &messages, logger, NULL));
    CHECK(messages == 3 && strstr(last, "instantiationToken"));
    fmi3Instance c = InstantiateCoSimulation(NULL, token, resources, false, true, false, false, NULL, 0, NULL, NULL, NULL);
    CHECK(c);
    FreeInstance(c);
    FreeInstance(NULL);

    c = start(token, resources);
    const fmi3String category[] = {"logAll"};
    CHECK(SetDebugLogging(c, true, 1, category) == fmi3OK);
    CHECK(SetDebugLogging(c, false, 0, NULL) == fmi3OK);

    /* Values. */
    bool event = true, terminate = true, early = true;
    double value = 0.5, reached = -1.0, seed = 1.0, derivative = NAN;
    const fmi3Int32 order = 1;
    CHECK(SetFloat64(c, &u, 1, &value, 1) == fmi3OK);
    CHECK(DoStep(c, 0.0, h, true, &event, &terminate, &early, &reached) == fmi3OK);
    CHECK(!event && !terminate && !early && reached == h);
    CHECK(GetFloat64(c, &u, 1, &value, 1) == fmi3OK && value == 0.5);
    CHECK(GetFloat64(c, &y, 1, &value, 1) == fmi3OK && isfinite(value));
    CHECK(GetOutputDerivatives(c, &y, 1, &order, &derivative, 1) == fmi3OK && isfinite(derivative));
    CHECK(GetDirectionalDerivative(c, &y, 1, &u, 1, &seed, 1, &derivative, 1) == fmi3OK && isfinite(derivative));
    CHECK(GetAdjointDerivative(c, &y, 1, &u, 1, &seed, 1, &value, 1) == fmi3OK && value == derivative);
#define OTHER(type)                                                              \
    {                                                                            \
        fmi3##type v = 0;                                                        \
        REFUSED(Get##type(c, &y, 1, &v, 1));                                     \
        CHECK(strstr(last, #type));                                              \
        REFUSED(Set##type(c, &u, 1, &v, 1));                                     \
        CHECK(Get##type(c, NULL, 0, NULL, 0) == fmi3OK);                         \
        CHECK(Set##type(c, NULL, 0, NULL, 0) == fmi3OK);                         \
    }
    TYPES(OTHER)
    fmi3Binary binary = NULL;
    size_t size = 0;
    REFUSED(GetBinary(c, &y, 1, &size, &binary, 1));
    REFUSED(SetBinary(c, &u, 1, &size, &binary, 1));

    /* Dependencies. */
    size_t count = 99;
    CHECK(GetNumberOfVariableDependencies(c, y, &count) == fmi3OK && count < 99);
    size_t elements[99], independent_elements[99];
    fmi3ValueReference independents[99];
    fmi3DependencyKind kinds[99];
    CHECK(GetVariableDependencies(c, y, elements, independents, independent_elements, kinds, count) == fmi3OK);

    /* What belongs to other kinds of units. */
    bool flags[5];
    double numbers[2] = {0.0, 0.0};
    fmi3UInt64 integers[2] = {0, 0};
    fmi3IntervalQualifier qualifier;
    REFUSED(EnterEventMode(c));
    REFUSED(GetClock(c, &y, 1, flags));
    REFUSED(SetClock(c, &y, 1, flags));
    REFUSED(EnterConfigurationMode(c));
    REFUSED(ExitConfigurationMode(c));
    REFUSED(GetIntervalDecimal(c, &y, 1, numbers, &qualifier));
    REFUSED(GetIntervalFraction(c, &y, 1, integers, integers + 1, &qualifier));
    REFUSED(GetShiftDecimal(c, &y, 1, numbers));
    REFUSED(GetShiftFraction(c, &y, 1, integers, integers + 1));
    REFUSED(SetIntervalDecimal(c, &y, 1, numbers));
    REFUSED(SetIntervalFraction(c, &y, 1, integers, integers + 1));
    REFUSED(SetShiftDecimal(c, &y, 1, numbers));
    REFUSED(SetShiftFraction(c, &y, 1, integers, integers + 1));
    REFUSED(EvaluateDiscreteStates(c));
    REFUSED(UpdateDiscreteStates(c, flags, flags + 1, flags + 2, flags + 3, flags + 4, numbers));
    REFUSED(EnterContinuousTimeMode(c));
    REFUSED(CompletedIntegratorStep(c, true, flags, flags + 1));
    REFUSED(SetTime(c, 0.0));
    REFUSED(SetContinuousStates(c, numbers, 1));
    REFUSED(GetContinuousStateDerivatives(c, numbers, 1));
    REFUSED(GetEventIndicators(c, numbers, 1));
    REFUSED(GetContinuousStates(c, numbers, 1));
    REFUSED(GetNominalsOfContinuousStates(c, numbers, 1));
    REFUSED(GetNumberOfEventIndicators(c, &size));
    REFUSED(GetNumberOfContinuousStates(c, &size));
    REFUSED(EnterStepMode(c));
    REFUSED(ActivateModelPartition(c, 0, 0.0));

    /* States. */
    fmi3FMUState state = NULL, other = NULL;
    CHECK(GetFMUState(c, &state) == fmi3OK && state);
    CHECK(SerializedFMUStateSize(c, state, &size) == fmi3OK && size > 0);
    fmi3Byte *bytes = malloc(size);
    CHECK(bytes);
    CHECK(SerializeFMUState(c, state, bytes, size) == fmi3OK);
    CHECK(DeserializeFMUState(c, bytes, size, &other) == fmi3OK && other);
    double once = 0.0, again = 1.0;
    CHECK(DoStep(c, h, h, false, &event, &terminate, &early, &reached) == fmi3OK);
    CHECK(GetFloat64(c, &y, 1, &once, 1) == fmi3OK);
    CHECK(SetFMUState(c, other) == fmi3OK);
    CHECK(DoStep(c, h, h, false, &event, &terminate, &early, &reached) == fmi3OK);
    CHECK(GetFloat64(c, &y, 1, &again, 1) == fmi3OK && memcmp(&once, &again, sizeof once) == 0);
    CHECK(FreeFMUState(c, &state) == fmi3OK && !state);
    CHECK(FreeFMUState(c, &other) == fmi3OK);
    free(bytes);
    REFUSED(DoStep(c, 10.0, h, true, &event, &terminate, &early, &reached));
    CHECK(reached > 0.0 && reached < 3.0 * h);
    CHECK(Terminate(c) == fmi3OK);
    CHECK(Reset(c) == fmi3OK);
    FreeInstance(c);

    /* Intermediate updates, and an early return after the third. */
    watched = InstantiateCoSimulation("one", token, resources, false, false, false, true, &watched_reference, 1, &messages,
                                      logger, update);
    CHECK(watched);
    CHECK(EnterInitializationMode(watched, false, 0.0, 0.0, false, 0.0) == fmi3OK);
    CHECK(ExitInitializationMode(watched) == fmi3OK);
    update_time = 0.0;
    stop_at = 3;
    CHECK(DoStep(watched, 0.0, 1.0, true, &event, &terminate, &early, &reached) == fmi3OK);
    CHECK(early && reached == update_time && updates == 3 && reached < 1.0);
    stop_at = 0;
    CHECK(DoStep(watched, reached, 1.0 - reached, true, &event, &terminate, &early, &reached) == fmi3OK);
    CHECK(!early && fabs(reached - 1.0) < 1e-15 && updates > 3);
    FreeInstance(watched);

    /* The run: the input is a staircase of exact numbers. */
    c = start(token, resources);
    double time = 0.0;
    for (int k = 0; k <= steps; k++) {
        CHECK(GetFloat64(c, &y, 1, &value, 1) == fmi3OK);
        printf("%a %a\n", time, value);
        if (k == steps)
            break;
        const double input = (double)(k % 16 - 8) / 32.0, target = (k + 1) * h, step = target - time;
        CHECK(SetFloat64(c, &u, 1, &input, 1) == fmi3OK);
        CHECK(DoStep(c, time, step, true, &event, &terminate, &early, &reached) == fmi3OK);
        time += step;
        CHECK(time == reached);
    }
    FreeInstance(c);
    dlclose(library);
    return 0;
}
