/* Two instances that exchange force and motion: two carts, each on a spring of its own, and between them a spring and a
 * damper that live in this program.
 *
 *     cc -Iinclude examples/c/coupled.c -Ltarget/release -lbiela -Wl,-rpath,target/release -lm -o coupled
 *     ./coupled
 *
 * The carts run one communication step at a time; then motion is read and the force renewed. Meanwhile the force is held, or
 * goes on by its first or its first two derivatives, which follow from the motion. The whole, as one model, tells how far off
 * that is: the error falls with the communication step, once, twice or three times as fast. */
#include <biela.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *cart_text = /* one cart: 1 kg on 20 N/m, pushed by the input */
    "format = 1\nname = 'cart'\n[solver]\ntolerance = 1e-10\n[system]\nmass = [[1]]\nstiffness = [[20]]\nposition = [0]\n"
    "[[input]]\nname = 'push'\ntarget = 'f1'\n"
    "[[output]]\nname = 'x'\nsource = 'q1'\n[[output]]\nname = 'v'\nsource = 'v1'\n"
    "[[output]]\nname = 'a'\nsource = 'a1'\n";

static const char *whole_text = /* both with 5 N/m and 0.2 N s/m between them */
    "format = 1\nname = 'both'\n[solver]\ntolerance = 1e-10\n[system]\nmass = [[1, 0], [0, 1]]\n"
    "stiffness = [[25, -5], [-5, 25]]\ndamping = [[0.2, -0.2], [-0.2, 0.2]]\nforce = [1, 0]\nposition = [0, 0]\n"
    "[[output]]\nname = 'x1'\nsource = 'q1'\n[[output]]\nname = 'x2'\nsource = 'q2'\n";

static const double stiffness = 5.0, damping = 0.2, load = 1.0, end = 2.0;

/* Whatever fails, its sentence is printed and the program ends. */
static void must(biela_instance *instance, biela_status status)
{
    if (status != BIELA_STATUS_OK) {
        fprintf(stderr, "%s: %s\n", biela_status_name(status), biela_last_error(instance));
        exit(1);
    }
}

static biela_instance *make(const char *text)
{
    biela_instance *instance = NULL;
    must(NULL, biela_instance_new_from_string(text, strlen(text), NULL, &instance));
    must(instance, biela_initialize(instance, 0.0, end, 0.0));
    return instance;
}

static double get(biela_instance *instance, const char *name)
{
    uint32_t reference = 0;
    double value = 0.0;
    must(instance, biela_variable_find(instance, name, &reference));
    must(instance, biela_get_real(instance, &reference, 1, &value));
    return value;
}

static double jerk(biela_instance *instance)
{
    uint32_t reference = 0;
    const uint32_t order = 1;
    double value = 0.0;
    must(instance, biela_variable_find(instance, "a", &reference));
    must(instance, biela_get_output_derivatives(instance, &reference, &order, 1, &value));
    return value;
}

/* The force, or a derivative of it, from now on. */
static void push(biela_instance *instance, uint32_t order, double value)
{
    uint32_t reference = 0;
    must(instance, biela_variable_find(instance, "push", &reference));
    if (order == 0)
        must(instance, biela_set_real(instance, &reference, 1, &value));
    else
        must(instance, biela_set_input_derivatives(instance, &reference, &order, 1, &value));
}

/* Where the second cart is at the end, with communication steps of `interval` and the force told with so many derivatives. */
static double coupled(double interval, uint32_t derivatives)
{
    biela_instance *left = make(cart_text), *right = make(cart_text);
    const int steps = (int)(end / interval + 0.5);
    for (int k = 0; k < steps; k++) {
        /* The motion of both gives the force between them, pull = k (x2 - x1) + c (v2 - v1), */
        const double stretch = get(right, "x") - get(left, "x"), rate = get(right, "v") - get(left, "v");
        push(left, 0, load + stiffness * stretch + damping * rate);
        push(right, 0, -stiffness * stretch - damping * rate);
        /* accelerations follow it at once and give its derivative, and with that the next one, */
        const double bend = get(right, "a") - get(left, "a");
        if (derivatives >= 1) {
            push(left, 1, stiffness * rate + damping * bend);
            push(right, 1, -stiffness * rate - damping * bend);
        }
        if (derivatives >= 2) {
            const double change = stiffness * bend + damping * (jerk(right) - jerk(left));
            push(left, 2, change);
            push(right, 2, -change);
        }
        /* by which it goes on until the next communication point. */
        must(left, biela_step(left, k * interval, interval, NULL));
        must(right, biela_step(right, k * interval, interval, NULL));
    }
    const double x = get(right, "x");
    biela_instance_free(left);
    biela_instance_free(right);
    return x;
}

int main(void)
{
    biela_instance *whole = make(whole_text);
    must(whole, biela_step(whole, 0.0, end, NULL));
    const double expected = get(whole, "x2");
    biela_instance_free(whole);
    printf("x2 = %.10f\ninterval   error held  1 derivative  2 derivatives\n", expected);
    double last[3] = {0.0, 0.0, 0.0};
    int fine = 0;
    for (double interval = 0.05; interval > 0.005; interval /= 2.0) {
        printf("%-8g ", interval);
        fine = 1; /* the last pair counts */
        for (uint32_t order = 0; order < 3; order++) {
            const double error = fabs(coupled(interval, order) - expected);
            /* Half the interval: a half, a quarter, an eighth of the error, or nearly so. */
            fine = fine && error < 0.6 * pow(0.5, order) * last[order];
            last[order] = error;
            printf("  %.2e", error);
        }
        printf("\n");
    }
    return fine ? 0 : 1;
}
