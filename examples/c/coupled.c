/* Two instances that exchange force and motion: two carts, each on a spring of its own, and between them a spring and a
 * damper that live in this program.
 *
 *     cc -Iinclude examples/c/coupled.c -Ltarget/release -lbiela -Wl,-rpath,target/release -lm -o coupled
 *     ./coupled
 *
 * The carts run one communication step at a time, with the coupling force held; then motion is read and the force renewed.
 * The whole, as one model, tells how far off that is: the error falls with the communication step. */
#include <biela.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *cart_text = /* one cart: 1 kg on 20 N/m, pushed by the input */
    "format = 1\nname = 'cart'\n[solver]\ntolerance = 1e-8\n[system]\nmass = [[1]]\nstiffness = [[20]]\nposition = [0]\n"
    "[[input]]\nname = 'push'\ntarget = 'f1'\n"
    "[[output]]\nname = 'x'\nsource = 'q1'\n[[output]]\nname = 'v'\nsource = 'v1'\n";

static const char *whole_text = /* both with 5 N/m and 0.2 N s/m between them */
    "format = 1\nname = 'both'\n[solver]\ntolerance = 1e-8\n[system]\nmass = [[1, 0], [0, 1]]\n"
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

static void push(biela_instance *instance, double force)
{
    uint32_t reference = 0;
    must(instance, biela_variable_find(instance, "push", &reference));
    must(instance, biela_set_real(instance, &reference, 1, &force));
}

/* Where the second cart is at the end, with communication steps of `interval`. */
static double coupled(double interval)
{
    biela_instance *left = make(cart_text), *right = make(cart_text);
    const int steps = (int)(end / interval + 0.5);
    for (int k = 0; k < steps; k++) {
        /* The motion of both gives the force between them, */
        const double stretch = get(right, "x") - get(left, "x"), rate = get(right, "v") - get(left, "v");
        const double pull = stiffness * stretch + damping * rate;
        push(left, load + pull);
        push(right, -pull);
        /* which holds until the next communication point. */
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
    printf("interval   x2          error\n");
    double first = 0.0, last = 0.0;
    for (double interval = 0.02; interval > 0.002; interval /= 2.0) {
        const double x = coupled(interval);
        last = fabs(x - expected);
        first = first > 0.0 ? first : last;
        printf("%-8g   %.8f  %.1e\n", interval, x, last);
    }
    return last < first / 6.0 ? 0 : 1; /* three halvings: an eighth, if the force were the only error */
}
