/* The smallest honest FMI 2.0 unit by hand: y' = u, one Euler step for each communication step. What a call costs here is
 * what the interface itself costs; benches/fmi.rs compares. Types are those of the standard, written out. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, ERROR = 3 };
enum { INSTANTIATED = 1, INITIALIZATION = 2, STEP = 4, TERMINATED = 8 };

typedef struct {
    int state;
    double time, y, u, k;
} unit;

#define EXPORT __attribute__((visibility("default")))
#define BEGIN(mask)                       \
    unit *self = c;                       \
    if (!self || !(self->state & (mask))) \
        return ERROR;

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }

EXPORT void *fmi2Instantiate(const char *name, int kind, const char *guid, const char *resources, const void *functions,
                             int visible, int logging)
{
    (void)name, (void)resources, (void)functions, (void)visible, (void)logging;
    if (kind != 1 || !guid || strcmp(guid, "trivial"))
        return NULL;
    unit *self = calloc(1, sizeof *self);
    if (self) {
        self->state = INSTANTIATED;
        self->k = 1.0;
    }
    return self;
}

EXPORT void fmi2FreeInstance(void *c) { free(c); }

EXPORT int fmi2SetDebugLogging(void *c, int on, size_t n, const char *const names[])
{
    (void)on, (void)n, (void)names;
    return c ? OK : ERROR;
}

EXPORT int fmi2SetupExperiment(void *c, int defined, double tolerance, double start, int stops, double stop)
{
    BEGIN(INSTANTIATED)
    (void)defined, (void)tolerance, (void)stops, (void)stop;
    self->time = start;
    return OK;
}

EXPORT int fmi2EnterInitializationMode(void *c)
{
    BEGIN(INSTANTIATED)
    self->state = INITIALIZATION;
    return OK;
}

EXPORT int fmi2ExitInitializationMode(void *c)
{
    BEGIN(INITIALIZATION)
    self->state = STEP;
    return OK;
}

EXPORT int fmi2Terminate(void *c)
{
    BEGIN(STEP)
    self->state = TERMINATED;
    return OK;
}

EXPORT int fmi2Reset(void *c)
{
    BEGIN(~0)
    memset(self, 0, sizeof *self);
    self->state = INSTANTIATED;
    self->k = 1.0;
    return OK;
}

EXPORT int fmi2GetReal(void *c, const unsigned vr[], size_t n, double value[])
{
    BEGIN(INITIALIZATION | STEP | TERMINATED)
    for (size_t i = 0; i < n; i++) {
        switch (vr[i]) {
        case 0: value[i] = self->u; break;
        case 1: value[i] = self->y; break;
        case 2: value[i] = self->k; break;
        default: return ERROR;
        }
    }
    return OK;
}

EXPORT int fmi2SetReal(void *c, const unsigned vr[], size_t n, const double value[])
{
    BEGIN(INSTANTIATED | INITIALIZATION | STEP)
    for (size_t i = 0; i < n; i++) {
        switch (vr[i]) {
        case 0: self->u = value[i]; break;
        case 2: self->k = value[i]; break;
        default: return ERROR;
        }
    }
    return OK;
}

EXPORT int fmi2DoStep(void *c, double time, double step, int no_set)
{
    BEGIN(STEP)
    (void)no_set;
    self->y += step * self->k * self->u;
    self->time = time + step;
    return OK;
}

/* The rest is asked for by importers when they load a unit. */
#define REFUSED(name, ...) \
    EXPORT int name(void *c, __VA_ARGS__) { return c && 0 ? OK : ERROR; }
REFUSED(fmi2GetInteger, const unsigned *a __attribute__((unused)), size_t n __attribute__((unused)), int *v __attribute__((unused)))
REFUSED(fmi2GetBoolean, const unsigned *a __attribute__((unused)), size_t n __attribute__((unused)), int *v __attribute__((unused)))
REFUSED(fmi2GetString, const unsigned *a __attribute__((unused)), size_t n __attribute__((unused)), const char **v __attribute__((unused)))
REFUSED(fmi2SetInteger, const unsigned *a __attribute__((unused)), size_t n __attribute__((unused)), const int *v __attribute__((unused)))
REFUSED(fmi2SetBoolean, const unsigned *a __attribute__((unused)), size_t n __attribute__((unused)), const int *v __attribute__((unused)))
REFUSED(fmi2SetString, const unsigned *a __attribute__((unused)), size_t n __attribute__((unused)), const char *const *v __attribute__((unused)))
REFUSED(fmi2GetFMUstate, void **s __attribute__((unused)))
REFUSED(fmi2SetFMUstate, void *s __attribute__((unused)))
REFUSED(fmi2FreeFMUstate, void **s __attribute__((unused)))
REFUSED(fmi2SerializedFMUstateSize, void *s __attribute__((unused)), size_t *n __attribute__((unused)))
REFUSED(fmi2SerializeFMUstate, void *s __attribute__((unused)), char *b __attribute__((unused)), size_t n __attribute__((unused)))
REFUSED(fmi2DeSerializeFMUstate, const char *b __attribute__((unused)), size_t n __attribute__((unused)), void **s __attribute__((unused)))
REFUSED(fmi2GetDirectionalDerivative, const unsigned *a __attribute__((unused)), size_t n __attribute__((unused)),
        const unsigned *b __attribute__((unused)), size_t m __attribute__((unused)),
        const double *s __attribute__((unused)), double *d __attribute__((unused)))
REFUSED(fmi2SetRealInputDerivatives, const unsigned *a __attribute__((unused)), size_t n __attribute__((unused)),
        const int *o __attribute__((unused)), const double *v __attribute__((unused)))
REFUSED(fmi2GetRealOutputDerivatives, const unsigned *a __attribute__((unused)), size_t n __attribute__((unused)),
        const int *o __attribute__((unused)), double *v __attribute__((unused)))
REFUSED(fmi2GetStatus, int k __attribute__((unused)), int *v __attribute__((unused)))
REFUSED(fmi2GetRealStatus, int k __attribute__((unused)), double *v __attribute__((unused)))
REFUSED(fmi2GetIntegerStatus, int k __attribute__((unused)), int *v __attribute__((unused)))
REFUSED(fmi2GetBooleanStatus, int k __attribute__((unused)), int *v __attribute__((unused)))
REFUSED(fmi2GetStringStatus, int k __attribute__((unused)), const char **v __attribute__((unused)))
EXPORT int fmi2CancelStep(void *c) { return c && 0 ? OK : ERROR; }
