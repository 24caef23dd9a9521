/* A C host, linked: drives the slider-crank with a torque that changes at every communication point, and prints every
 * variable with all its bits. linked.cpp, dlopen.c and tests/capi/loading.rs do the same and must print the same. */
#include <biela.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS 100
#define STEP_SIZE 0.01

static biela_instance *crank = NULL;

static void check(biela_status status, const char *what)
{
    if (status != BIELA_STATUS_OK) {
        fprintf(stderr, "%s: %s: %s\n", what, biela_status_name(status), biela_last_error(crank));
        exit(1);
    }
}

static void print(int k, double time, const uint32_t *references, uint32_t count, double *values)
{
    check(biela_get_real(crank, references, count, values), "get");
    printf("%d %a", k, time);
    for (uint32_t i = 0; i < count; i++) {
        printf(" %a", values[i]);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    if (argc != 2 || biela_abi_version() != BIELA_ABI_VERSION) {
        fprintf(stderr, "usage: %s MODEL\n", argv[0]);
        return 2;
    }
    check(biela_instance_new_from_file(argv[1], &crank), "new");

    uint32_t count = 0;
    check(biela_variable_count(crank, &count), "count");
    uint32_t *references = malloc(count * sizeof *references);
    double *values = malloc(count * sizeof *values);
    if (!references || !values) {
        return 2;
    }
    for (uint32_t i = 0; i < count; i++) {
        biela_variable variable;
        check(biela_variable_default(&variable, sizeof variable), "default");
        check(biela_variable_info(crank, i, &variable), "info");
        printf("%s [%s] %d%s", variable.name, variable.unit, (int)variable.causality, i + 1 < count ? ", " : "\n");
        references[i] = i;
    }
    uint32_t tau = 0;
    check(biela_variable_find(crank, "tau", &tau), "find");

    check(biela_initialize(crank, 0.0, INFINITY, 0.0), "initialize");
    double time = 0.0;
    print(0, time, references, count, values);
    for (int k = 0; k < STEPS; k++) {
        const double torque = 0.5 * sin(0.1 * k);
        check(biela_set_real(crank, &tau, 1, &torque), "set");
        check(biela_step(crank, time, STEP_SIZE, &time), "step");
        print(k + 1, time, references, count, values);
    }

    free(references);
    free(values);
    check(biela_instance_free(crank), "free");
    return 0;
}
