/* One kind of call, many times, on a running slider-crank: for benches/calls.sh, which counts instructions.
 * usage: calls LIBRARY KIND COUNT MODEL TOKEN RESOURCES   (the last two: of the FMI 2 or 3 unit of that model) */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "biela.h"

typedef int (*plain_call)(void *);
typedef int (*get_call)(void *, const uint32_t *, size_t, double *);
typedef int (*set_call)(void *, const uint32_t *, size_t, const double *);
typedef int (*get3_call)(void *, const uint32_t *, size_t, double *, size_t);
typedef int (*set3_call)(void *, const uint32_t *, size_t, const double *, size_t);

static void *library;

static void *find(const char *name)
{
    void *symbol = dlsym(library, name);
    if (!symbol) {
        fprintf(stderr, "no %s in the library\n", name);
        exit(1);
    }
    return symbol;
}

static void check(int status, const char *what)
{
    if (status) {
        fprintf(stderr, "%s: status %d\n", what, status);
        exit(1);
    }
}

static void quiet2(void *environment, const char *instance, int status, const char *category, const char *message, ...)
{
    (void)environment, (void)instance, (void)status, (void)category;
    fprintf(stderr, "%s\n", message);
}

static void quiet3(void *environment, int status, const char *category, const char *message)
{
    (void)environment, (void)status, (void)category;
    fprintf(stderr, "%s\n", message);
}

static void *fmi2(const char *token, const char *resources)
{
    typedef void *(*instantiate_call)(const char *, int, const char *, const char *, const void *, int, int);
    typedef int (*setup_call)(void *, int, double, double, int, double);
    static struct {
        void (*logger)(void *, const char *, int, const char *, const char *, ...);
        void *rest[4];
    } callbacks = {quiet2, {0}};
    void *unit = ((instantiate_call)find("fmi2Instantiate"))("u", 1, token, resources, &callbacks, 0, 0);
    check(!unit, "fmi2Instantiate");
    check(((setup_call)find("fmi2SetupExperiment"))(unit, 0, 0, 0, 0, 0), "fmi2SetupExperiment");
    check(((plain_call)find("fmi2EnterInitializationMode"))(unit), "fmi2EnterInitializationMode");
    check(((plain_call)find("fmi2ExitInitializationMode"))(unit), "fmi2ExitInitializationMode");
    return unit;
}

static void *fmi3(const char *token, const char *resources)
{
    typedef void *(*instantiate_call)(const char *, const char *, const char *, char, char, char, char,
                                      const uint32_t *, size_t, void *, void *, void *);
    typedef int (*enter_call)(void *, char, double, double, char, double);
    void *unit = ((instantiate_call)find("fmi3InstantiateCoSimulation"))("u", token, resources, 0, 0, 0, 0, NULL, 0, NULL,
                                                                         (void *)quiet3, NULL);
    check(!unit, "fmi3InstantiateCoSimulation");
    check(((enter_call)find("fmi3EnterInitializationMode"))(unit, 0, 0, 0, 0, 0), "fmi3EnterInitializationMode");
    check(((plain_call)find("fmi3ExitInitializationMode"))(unit), "fmi3ExitInitializationMode");
    return unit;
}

int main(int argc, char **argv)
{
    if (argc != 7 || !(library = dlopen(argv[1], RTLD_NOW)))
        return fprintf(stderr, "usage: calls LIBRARY KIND COUNT MODEL TOKEN RESOURCES\n"), 2;
    const char *kind = argv[2];
    long count = atol(argv[3]);

    biela_instance *crank = NULL;
    check(((biela_status(*)(const char *, biela_instance **))find("biela_instance_new_from_file"))(argv[4], &crank), "new");
    check(((biela_status(*)(biela_instance *, double, double, double))find("biela_initialize"))(crank, 0, 1e9, 0), "init");
    uint32_t input, output;
    typedef biela_status (*find_call)(biela_instance *, const char *, uint32_t *);
    check(((find_call)find("biela_variable_find"))(crank, "tau", &input), "tau");
    check(((find_call)find("biela_variable_find"))(crank, "slider_x", &output), "slider_x");
    double value = 0;
    int failed = 0, reads = strstr(kind, "_get") != NULL, sets = strstr(kind, "_set") != NULL;

    if (!strncmp(kind, "c_", 2)) {
        get_call get = (get_call)find("biela_get_real");
        set_call set = (set_call)find("biela_set_real");
        biela_status (*step)(biela_instance *, double, double, double *) =
            (biela_status(*)(biela_instance *, double, double, double *))find("biela_step");
        for (long i = 0; i < count; i++) {
            double wanted = (double)(i & 1);
            failed |= reads  ? get(crank, &output, 1, &value)
                      : sets ? set(crank, &input, 1, &wanted)
                             : (int)step(crank, 0, 0, &value);
        }
    } else if (!strncmp(kind, "fmi2_", 5)) {
        void *unit = fmi2(argv[5], argv[6]);
        get_call get = (get_call)find("fmi2GetReal");
        set_call set = (set_call)find("fmi2SetReal");
        int (*step)(void *, double, double, int) = (int (*)(void *, double, double, int))find("fmi2DoStep");
        for (long i = 0; i < count; i++) {
            double wanted = (double)(i & 1);
            failed |= reads  ? get(unit, &output, 1, &value)
                      : sets ? set(unit, &input, 1, &wanted)
                             : step(unit, 0, 0, 0);
        }
    } else {
        void *unit = fmi3(argv[5], argv[6]);
        get3_call get = (get3_call)find("fmi3GetFloat64");
        set3_call set = (set3_call)find("fmi3SetFloat64");
        for (long i = 0; i < count; i++) {
            double wanted = (double)(i & 1);
            failed |= reads ? get(unit, &output, 1, &value, 1) : set(unit, &input, 1, &wanted, 1);
        }
    }
    check(failed, kind);
    return 0;
}
