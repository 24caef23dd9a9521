/* Derivatives: of inputs, given or extrapolated; of outputs in time; of outputs by inputs and parameters. A block of mass m on
 * a rail without friction, m x'' = u, has all of them in closed form. */
#include "check.h"

#include <math.h>

static const char SLIDE[] =
    "format = 1\nname = \"slide\"\ndimension = 2\n"
    "[[body]]\nname = \"block\"\nmass = 2.0\ninertia = 1.0\n"
    "[[joint]]\nname = \"rail\"\ntype = \"prismatic\"\nbodies = [\"ground\", \"block\"]\npoint = [0.0, 0.0]\n"
    "axis = [1.0, 0.0]\n"
    "[[force]]\nname = \"motor\"\ntype = \"actuator\"\njoint = \"rail\"\n"
    "[[input]]\nname = \"u\"\ntarget = \"motor.force\"\n"
    "[[output]]\nname = \"x\"\nsource = \"rail.position\"\n"
    "[[output]]\nname = \"v\"\nsource = \"rail.speed\"\n"
    "[[output]]\nname = \"a\"\nsource = \"rail.acceleration\"\n"
    "[[output]]\nname = \"steps\"\nsource = \"solver.steps\"\n"
    "[[parameter]]\nname = \"m\"\ntarget = \"block.mass\"\n";

enum { U, X, V, A, STEPS, M };

static biela_instance *slide = NULL;

static double get(uint32_t reference)
{
    double value = NAN;
    MUST(slide, biela_get_real(slide, &reference, 1, &value));
    return value;
}

static double derivative(uint32_t reference, uint32_t order)
{
    double value = NAN;
    MUST(slide, biela_get_output_derivatives(slide, &reference, &order, 1, &value));
    return value;
}

static int near(double x, double y, double tolerance)
{
    if (fabs(x - y) <= tolerance) {
        return 1;
    }
    fprintf(stderr, "%.17g is not %.17g within %g\n", x, y, tolerance);
    return 0;
}

/* u = 1 + 2 t + 3 t^2 given by value and derivatives: x = (t^2/2 + t^3/3 + t^4/4) / m. */
static void given(void)
{
    const uint32_t references[2] = {U, U}, orders[2] = {1, 2};
    const double rates[2] = {2.0, 6.0}, one = 1.0;
    const uint32_t u = U;
    MUST(slide, biela_set_real(slide, &u, 1, &one));
    MUST(slide, biela_set_input_derivatives(slide, references, orders, 2, rates));
    MUST(slide, biela_initialize(slide, 0.0, INFINITY, 1e-9));
    MUST(slide, biela_step(slide, 0.0, 0.5, NULL));
    const double t = 0.5;
    EXPECT(get(U) == 1.0 + 2.0 * t + 3.0 * t * t);
    EXPECT(near(get(X), (t * t / 2.0 + t * t * t / 3.0 + t * t * t * t / 4.0) / 2.0, 1e-7));

    const snapshot before = look(slide);
    EXPECT(derivative(X, 1) == get(V) && derivative(X, 2) == get(A) && derivative(V, 1) == get(A));
    EXPECT(near(derivative(A, 1), (2.0 + 6.0 * t) / 2.0, 1e-7));
    EXPECT(near(derivative(A, 2), 6.0 / 2.0, 1e-5));
    /* a = u/m: da/du = 1/m, da/dm = -u/m^2, both at once with seed (1, 2); positions do not follow. */
    const uint32_t unknowns[2] = {X, A}, knowns[2] = {U, M};
    const double seed[2] = {1.0, 2.0};
    double out[2] = {7.0, 7.0};
    MUST(slide, biela_directional_derivative(slide, unknowns, 2, knowns, 2, seed, out));
    EXPECT(out[0] == 0.0 && near(out[1], 0.5 - 2.0 * get(U) / 4.0, 1e-10));
    const snapshot after = look(slide);
    EXPECT(same(&before, &after));
}

static double speed_at(double t)
{
    return (t + t * t + t * t * t) / 2.0;
}

/* The same parabola, only its values told at communication points: from the third on, order 2 knows it exactly. */
static void extrapolated(void)
{
    const uint32_t u = U;
    double error[3];
    for (uint32_t order = 0; order <= BIELA_HIGHEST_INPUT_DERIVATIVE; order++) {
        MUST(slide, biela_instance_reset(slide));
        MUST(slide, biela_set_extrapolation(slide, order));
        const double one = 1.0;
        MUST(slide, biela_set_real(slide, &u, 1, &one));
        MUST(slide, biela_initialize(slide, 0.0, INFINITY, 1e-9));
        double time = 0.0, lag = 0.0;
        for (int k = 0; k < 50; k++) {
            const double value = 1.0 + 2.0 * time + 3.0 * time * time;
            if (k == 2) {
                lag = get(V) - speed_at(time);
            }
            MUST(slide, biela_set_real(slide, &u, 1, &value));
            MUST(slide, biela_step(slide, time, 0.01, &time));
        }
        error[order] = fabs(get(V) - speed_at(time) - lag);
    }
    /* With H = 0.01 and m = 2: hold is behind by H/2 (u(0.5) - u(0.02))/m = 4.3e-3; a line by 5/12 H^2 u'' 0.48/m = 6e-5. */
    EXPECT(near(error[0], 4.3e-3, 2e-4) && near(error[1], 6e-5, 1e-6) && error[2] < 1e-8);
}

static void refusals(void)
{
    const biela_status wrong = BIELA_STATUS_ERROR_ARGUMENT;
    const uint32_t u = U, a = A, steps = STEPS, far = 99, first = 1, third = 3;
    const double one = 1.0, nothing = NAN;
    double out = 7.0;
    const snapshot before = look(slide);
    REFUSED(slide, biela_set_extrapolation(slide, 3), wrong, "order");
    REFUSED(slide, biela_set_input_derivatives(slide, &u, &third, 1, &one), wrong, "order");
    REFUSED(slide, biela_set_input_derivatives(slide, &a, &first, 1, &one), BIELA_STATUS_ERROR_NOT_SETTABLE, "inputs");
    REFUSED(slide, biela_set_input_derivatives(slide, &u, &first, 1, &nothing), wrong, "NaN");
    REFUSED(slide, biela_set_input_derivatives(slide, &u, NULL, 1, &one), wrong, "orders = NULL");
    REFUSED(slide, biela_get_output_derivatives(slide, &a, &third, 1, &out), wrong, "order");
    REFUSED(slide, biela_get_output_derivatives(slide, &steps, &first, 1, &out), wrong, "steps");
    REFUSED(slide, biela_get_output_derivatives(slide, &u, &first, 1, &out), wrong, "output");
    REFUSED(slide, biela_get_output_derivatives(slide, &far, &first, 1, &out), BIELA_STATUS_ERROR_UNKNOWN_VARIABLE, "99");
    REFUSED(slide, biela_directional_derivative(slide, &a, 1, &a, 1, &one, &out), wrong, "input or a parameter");
    REFUSED(slide, biela_directional_derivative(slide, &u, 1, &u, 1, &one, &out), wrong, "output");
    REFUSED(slide, biela_directional_derivative(slide, &a, 1, &u, 1, &nothing, &out), wrong, "seed");
    REFUSED(slide, biela_directional_derivative(slide, &a, 1, &u, 1, &one, NULL), wrong, "sensitivities = NULL");
    EXPECT(out == 7.0);
    /* A count of zero looks at no pointer. */
    MUST(slide, biela_set_input_derivatives(slide, NULL, NULL, 0, NULL));
    MUST(slide, biela_get_output_derivatives(slide, NULL, NULL, 0, NULL));
    MUST(slide, biela_directional_derivative(slide, NULL, 0, NULL, 0, NULL, NULL));
    const snapshot after = look(slide);
    EXPECT(same(&before, &after));
    MUST(slide, biela_instance_reset(slide));
    REFUSED(slide, biela_get_output_derivatives(slide, &a, &first, 1, &out), BIELA_STATUS_ERROR_CALL_ORDER, "initialize");
    REFUSED(slide, biela_directional_derivative(slide, &a, 1, &u, 1, &one, &out), BIELA_STATUS_ERROR_CALL_ORDER, "initialize");
}

int main(void)
{
    MUST(NULL, biela_instance_new_from_string(SLIDE, strlen(SLIDE), NULL, &slide));
    given();
    extrapolated();
    refusals();
    MUST(NULL, biela_instance_free(slide));
    return finish();
}
