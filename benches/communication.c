/* A slider-crank that is set, stepped and read every 0.1 ms: for benches/communication.sh, which counts instructions.
 * usage: communication MODEL CALLS unchanged|changed */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "biela.h"

static biela_instance *crank;

static void check(int status)
{
    if (status != BIELA_STATUS_OK) {
        fprintf(stderr, "%s\n", biela_last_error(crank));
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const double h = 1e-4;
    double torque = 0.5, x, reached;
    uint32_t tau, slider;
    int calls = argc == 4 ? atoi(argv[2]) : 0;

    if (calls <= 0) {
        return 2;
    }
    check(biela_instance_new_from_file(argv[1], &crank));
    check(biela_variable_find(crank, "tau", &tau));
    check(biela_variable_find(crank, "slider_x", &slider));
    check(biela_initialize(crank, 0.0, 2.0, 0.0));
    for (int k = 0; k < calls; k++) {
        if (strcmp(argv[3], "changed") == 0) {
            torque = 0.5 + 1e-3 * (k % 7);
        }
        check(biela_set_real(crank, &tau, 1, &torque));
        check(biela_step(crank, k * h, h, &reached));
        check(biela_get_real(crank, &slider, 1, &x));
    }
    biela_instance_free(crank);
    return 0;
}
