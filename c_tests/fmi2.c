/* An importer of FMI 2.0 written against the official headers: every function of Co-Simulation is called through its own
 * prototype, then a run with a driven input is printed, bit by bit.
 *
 *     fmi2 LIBRARY RESOURCES TOKEN INPUT OUTPUT STEPS H    (INPUT and OUTPUT are value references) */
#include "fmi2FunctionTypes.h"
#include "fmi2TypesPlatform.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(f)                                                                                                 \
    f(GetTypesPlatform) f(GetVersion) f(SetDebugLogging) f(Instantiate) f(FreeInstance) f(SetupExperiment)           \
    f(EnterInitializationMode) f(ExitInitializationMode) f(Terminate) f(Reset) f(GetReal) f(GetInteger)              \
    f(GetBoolean) f(GetString) f(SetReal) f(SetInteger) f(SetBoolean) f(SetString) f(GetFMUstate) f(SetFMUstate)     \
    f(FreeFMUstate) f(SerializedFMUstateSize) f(SerializeFMUstate) f(DeSerializeFMUstate)                            \
    f(GetDirectionalDerivative) f(SetRealInputDerivatives) f(GetRealOutputDerivatives) f(DoStep) f(CancelStep)       \
    f(GetStatus) f(GetRealStatus) f(GetIntegerStatus) f(GetBooleanStatus) f(GetStringStatus)

#define DECLARE(name) static fmi2##name##TYPE *name;
FUNCTIONS(DECLARE)

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);       \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

static void *library;
static int messages;
static char last[1000];

static void load(void *function, const char *name)
{
    void *symbol = dlsym(library, name);
    CHECK(symbol);
    memcpy(function, &symbol, sizeof symbol);
}

static void logger(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                   fmi2String message, ...)
{
    va_list arguments;
    CHECK(environment == &messages && !strcmp(name, "one \303\274") && category);
    CHECK(status == fmi2Error || status == fmi2Discard || status == fmi2OK || status == fmi2Warning);
    va_start(arguments, message);
    vsnprintf(last, sizeof last, message, arguments);
    va_end(arguments);
    messages++;
}

static fmi2Component start(const char *token, const char *resources, const fmi2CallbackFunctions *functions)
{
    fmi2Component c = Instantiate("one \303\274", fmi2CoSimulation, token, resources, functions, fmi2False, fmi2False);
    CHECK(c);
    CHECK(SetupExperiment(c, fmi2False, 0.0, 0.0, fmi2False, 0.0) == fmi2OK);
    CHECK(EnterInitializationMode(c) == fmi2OK);
    CHECK(ExitInitializationMode(c) == fmi2OK);
    return c;
}

int main(int argc, char **argv)
{
    CHECK(argc == 8);
    const char *resources = argv[2], *token = argv[3];
    const fmi2ValueReference u = (fmi2ValueReference)atoi(argv[4]), y = (fmi2ValueReference)atoi(argv[5]);
    const int steps = atoi(argv[6]);
    const double h = atof(argv[7]);
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
#define LOAD(name) load(&name, "fmi2" #name);
    FUNCTIONS(LOAD)

    CHECK(!strcmp(GetTypesPlatform(), fmi2TypesPlatform));
    CHECK(!strcmp(GetVersion(), "2.0"));

    /* Importers without callbacks, or with empty ones. */
    const fmi2CallbackFunctions full = {logger, calloc, free, NULL, &messages};
    const fmi2CallbackFunctions empty = {NULL, NULL, NULL, NULL, NULL};
    fmi2Component c = Instantiate("x", fmi2CoSimulation, token, resources, NULL, fmi2False, fmi2True);
    CHECK(c);
    FreeInstance(c);
    c = Instantiate("x", fmi2CoSimulation, token, resources, &empty, fmi2False, fmi2True);
    CHECK(c);
    CHECK(DoStep(c, 0.0, h, fmi2True) == fmi2Error);
    FreeInstance(c);
    FreeInstance(NULL);
    CHECK(!Instantiate("one \303\274", fmi2ModelExchange, token, resources, &full, fmi2False, fmi2False));
    CHECK(messages == 1 && strstr(last, "fmuType"));
    CHECK(!Instantiate("one \303\274", fmi2CoSimulation, "100% %s %n", resources, &full, fmi2False, fmi2False));
    CHECK(messages == 2 && strstr(last, "100% %s %n"));

    c = start(token, resources, &full);
    const fmi2String category[] = {"logAll"};
    CHECK(SetDebugLogging(c, fmi2True, 1, category) == fmi2OK);
    CHECK(SetDebugLogging(c, fmi2False, 0, NULL) == fmi2OK);

    /* Values. */
    double value = 0.5, derivative = -1.0;
    int number = 7;
    fmi2String text = "";
    const fmi2Integer order = 1;
    CHECK(SetReal(c, &u, 1, &value) == fmi2OK);
    CHECK(SetRealInputDerivatives(c, &u, 1, &order, &derivative) == fmi2OK);
    CHECK(DoStep(c, 0.0, h, fmi2True) == fmi2OK);
    CHECK(GetReal(c, &u, 1, &value) == fmi2OK && fabs(value - (0.5 - h)) < 1e-15);
    CHECK(GetReal(c, &y, 1, &value) == fmi2OK && isfinite(value));
    CHECK(GetRealOutputDerivatives(c, &y, 1, &order, &derivative) == fmi2OK && isfinite(derivative));
    CHECK(GetDirectionalDerivative(c, &y, 1, &u, 1, &(double){1.0}, &derivative) == fmi2OK && isfinite(derivative));
    CHECK(GetInteger(c, &y, 1, &number) == fmi2Error && strstr(last, "Integer"));
    CHECK(GetBoolean(c, &y, 1, &number) == fmi2Error && strstr(last, "Boolean"));
    CHECK(GetString(c, &y, 1, &text) == fmi2Error && strstr(last, "String"));
    CHECK(SetInteger(c, &u, 1, &number) == fmi2Error);
    CHECK(SetBoolean(c, &u, 1, &number) == fmi2Error);
    CHECK(SetString(c, &u, 1, &text) == fmi2Error);
    CHECK(GetInteger(c, NULL, 0, NULL) == fmi2OK && number == 7);

    /* What a step answered. */
    fmi2Status status = fmi2Fatal;
    CHECK(GetStatus(c, fmi2DoStepStatus, &status) == fmi2OK && status == fmi2OK);
    CHECK(GetRealStatus(c, fmi2LastSuccessfulTime, &value) == fmi2OK && value == h);
    CHECK(GetBooleanStatus(c, fmi2Terminated, &number) == fmi2OK && number == fmi2False);
    CHECK(GetIntegerStatus(c, fmi2DoStepStatus, &number) == fmi2Discard);
    CHECK(GetStringStatus(c, fmi2PendingStatus, &text) == fmi2Discard);
    CHECK(CancelStep(c) == fmi2Error);

    /* States. */
    fmi2FMUstate state = NULL, other = NULL;
    size_t size = 0;
    CHECK(GetFMUstate(c, &state) == fmi2OK && state);
    CHECK(SerializedFMUstateSize(c, state, &size) == fmi2OK && size > 0);
    char *bytes = malloc(size);
    CHECK(bytes);
    CHECK(SerializeFMUstate(c, state, bytes, size) == fmi2OK);
    CHECK(DeSerializeFMUstate(c, bytes, size, &other) == fmi2OK && other);
    double once = 0.0, again = 1.0;
    CHECK(DoStep(c, h, h, fmi2False) == fmi2OK && GetReal(c, &y, 1, &once) == fmi2OK);
    CHECK(SetFMUstate(c, other) == fmi2OK);
    CHECK(DoStep(c, h, h, fmi2False) == fmi2OK && GetReal(c, &y, 1, &again) == fmi2OK);
    CHECK(memcmp(&once, &again, sizeof once) == 0);
    CHECK(FreeFMUstate(c, &state) == fmi2OK && !state);
    CHECK(FreeFMUstate(c, &state) == fmi2OK);
    CHECK(FreeFMUstate(c, &other) == fmi2OK);
    free(bytes);

    CHECK(Terminate(c) == fmi2OK);
    CHECK(Reset(c) == fmi2OK);
    FreeInstance(c);

    /* The run: the input is a staircase of exact numbers. */
    c = start(token, resources, &full);
    double time = 0.0;
    for (int k = 0; k <= steps; k++) {
        CHECK(GetReal(c, &y, 1, &value) == fmi2OK);
        printf("%a %a\n", time, value);
        if (k == steps)
            break;
        const double input = (double)(k % 16 - 8) / 32.0, target = (k + 1) * h, step = target - time;
        CHECK(SetReal(c, &u, 1, &input) == fmi2OK);
        CHECK(DoStep(c, time, step, fmi2True) == fmi2OK);
        time += step;
    }
    FreeInstance(c);
    dlclose(library);
    return 0;
}
