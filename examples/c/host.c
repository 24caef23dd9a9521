/* A host in C: a slider-crank driven by a speed controller that lives here, outside the mechanism.
 *
 *     cargo build --release
 *     cc -Iinclude examples/c/host.c -Ltarget/release -lbiela -Wl,-rpath,target/release -lm -o host
 *     ./host models/slider_crank.toml
 */
#include <biela.h>

#include <math.h>
#include <stdio.h>

/* Every call that can fail returns a status; the sentence belongs to the instance (to the thread, while there is none). */
#define TRY(call)                                                                              \
    do {                                                                                       \
        biela_status status = (call);                                                          \
        if (status != BIELA_STATUS_OK) {                                                       \
            fprintf(stderr, "%s: %s\n", biela_status_name(status), biela_last_error(crank));   \
            biela_instance_free(crank);                                                        \
            return 1;                                                                          \
        }                                                                                      \
    } while (0)

int main(int argc, char **argv)
{
    biela_instance *crank = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: %s MODEL\n", argv[0]);
        return 2;
    }

    /* 1. A library of another age would not understand this header. */
    if (biela_abi_version() != BIELA_ABI_VERSION) {
        fprintf(stderr, "this program was written for interface %d\n", BIELA_ABI_VERSION);
        return 2;
    }
    printf("# biela %s\n", biela_version());

    /* 2. Make the instance and find its variables: names are looked up once, references are used from then on. */
    uint32_t tau, outputs[2];
    TRY(biela_instance_new_from_file(argv[1], &crank));
    TRY(biela_variable_find(crank, "tau", &tau));
    TRY(biela_variable_find(crank, "crank_speed", &outputs[0]));
    TRY(biela_variable_find(crank, "slider_x", &outputs[1]));

    /* 3. Start at t = 0 with no fixed end and the model's own tolerance. */
    TRY(biela_initialize(crank, 0.0, INFINITY, 0.0));

    /* 4. Communication points every 50 ms: read, decide, set, step. Between them the library chooses its own steps. */
    const double wanted = 12.0, gain = 0.4, interval = 0.05;
    double time = 0.0;
    printf("time,crank_speed,slider_x,tau\n");
    for (int k = 0;; k++) {
        double values[2];
        TRY(biela_get_real(crank, outputs, 2, values));
        const double torque = gain * (wanted - values[0]);
        printf("%.2f,%.6f,%.6f,%.6f\n", time, values[0], values[1], torque);
        if (k == 20) {
            break;
        }
        TRY(biela_set_real(crank, &tau, 1, &torque));
        TRY(biela_step(crank, time, interval, &time)); /* time becomes the time reached */
    }

    /* 5. What it cost. */
    biela_counters counters;
    TRY(biela_counters_default(&counters, sizeof counters));
    TRY(biela_statistics(crank, &counters));
    printf("# %llu steps, %llu rejected, %llu factorizations\n", (unsigned long long)counters.steps,
           (unsigned long long)counters.rejected, (unsigned long long)counters.factorizations);

    TRY(biela_instance_free(crank));
    return 0;
}
