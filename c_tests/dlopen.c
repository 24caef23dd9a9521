/* A C host that knows the library only at run time: the run of linked.c through dlopen and dlsym. */
#include <biela.h>

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 100
#define STEP_SIZE 0.01

/* The functions this host uses, with the types of the header. */
static struct {
    int (*abi_version)(void);
    const char *(*status_name)(int);
    const char *(*last_error)(biela_instance *);
    biela_status (*new_from_file)(const char *, biela_instance **);
    biela_status (*free)(biela_instance *);
    biela_status (*variable_count)(biela_instance *, uint32_t *);
    biela_status (*variable_default)(biela_variable *, size_t);
    biela_status (*variable_info)(biela_instance *, uint32_t, biela_variable *);
    biela_status (*variable_find)(biela_instance *, const char *, uint32_t *);
    biela_status (*initialize)(biela_instance *, double, double, double);
    biela_status (*set_real)(biela_instance *, const uint32_t *, size_t, const double *);
    biela_status (*get_real)(biela_instance *, const uint32_t *, size_t, double *);
    biela_status (*step)(biela_instance *, double, double, double *);
} biela;

static void *library = NULL;
static biela_instance *crank = NULL;

/* ISO C has no conversion from void * to a function pointer; POSIX promises that the bits are the same. */
static void find(void *function, const char *name)
{
    void *symbol = dlsym(library, name);
    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    memcpy(function, &symbol, sizeof symbol);
}

static void check(biela_status status, const char *what)
{
    if (status != BIELA_STATUS_OK) {
        fprintf(stderr, "%s: %s: %s\n", what, biela.status_name(status), biela.last_error(crank));
        exit(1);
    }
}

static void print(int k, double time, const uint32_t *references, uint32_t count, double *values)
{
    check(biela.get_real(crank, references, count, values), "get");
    printf("%d %a", k, time);
    for (uint32_t i = 0; i < count; i++) {
        printf(" %a", values[i]);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s MODEL LIBRARY\n", argv[0]);
        return 2;
    }
    library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    find(&biela.abi_version, "biela_abi_version");
    find(&biela.status_name, "biela_status_name");
    find(&biela.last_error, "biela_last_error");
    find(&biela.new_from_file, "biela_instance_new_from_file");
    find(&biela.free, "biela_instance_free");
    find(&biela.variable_count, "biela_variable_count");
    find(&biela.variable_default, "biela_variable_default");
    find(&biela.variable_info, "biela_variable_info");
    find(&biela.variable_find, "biela_variable_find");
    find(&biela.initialize, "biela_initialize");
    find(&biela.set_real, "biela_set_real");
    find(&biela.get_real, "biela_get_real");
    find(&biela.step, "biela_step");
    if (biela.abi_version() != BIELA_ABI_VERSION) {
        fprintf(stderr, "the library speaks version %d\n", biela.abi_version());
        return 2;
    }

    check(biela.new_from_file(argv[1], &crank), "new");
    uint32_t count = 0;
    check(biela.variable_count(crank, &count), "count");
    uint32_t *references = malloc(count * sizeof *references);
    double *values = malloc(count * sizeof *values);
    if (!references || !values) {
        return 2;
    }
    for (uint32_t i = 0; i < count; i++) {
        biela_variable variable;
        check(biela.variable_default(&variable, sizeof variable), "default");
        check(biela.variable_info(crank, i, &variable), "info");
        printf("%s [%s] %d%s", variable.name, variable.unit, (int)variable.causality, i + 1 < count ? ", " : "\n");
        references[i] = i;
    }
    uint32_t tau = 0;
    check(biela.variable_find(crank, "tau", &tau), "find");

    check(biela.initialize(crank, 0.0, INFINITY, 0.0), "initialize");
    double time = 0.0;
    print(0, time, references, count, values);
    for (int k = 0; k < STEPS; k++) {
        const double torque = 0.5 * sin(0.1 * k);
        check(biela.set_real(crank, &tau, 1, &torque), "set");
        check(biela.step(crank, time, STEP_SIZE, &time), "step");
        print(k + 1, time, references, count, values);
    }

    free(references);
    free(values);
    check(biela.free(crank), "free");
    dlclose(library);
    return 0;
}
