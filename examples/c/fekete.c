/* Your own equations: twenty points on a sphere that push each other apart until they rest (the Fekete problem of the CWI / Bari
 * test set for initial value problems, a DAE with 60 coordinates and 20 constraints):
 *
 *     p_i'' = sum_j (p_i - p_j) / |p_i - p_j|^2 - p_i' / 2 - 2 lambda_i p_i,      |p_i|^2 = 1,      t = 0 .. 1000
 *
 *     cc -Iinclude examples/c/fekete.c -Ltarget/release -lbiela -Wl,-rpath,target/release -lm -o fekete
 *     ./fekete
 *
 * The derivatives of f that are not given here are differenced by the library. */
#include <biela.h>

#include <math.h>
#include <stdio.h>

#define POINTS 20
#define N (3 * POINTS)

/* M = 1 */
static int32_t mass_times(void *user, const biela_system_point *at, double *out)
{
    (void)user;
    for (int i = 0; i < N; i++) {
        out[i] = at->a[i];
    }
    return 0;
}

static int32_t force(void *user, const biela_system_point *at, double *out)
{
    const double *damping = user;
    for (int i = 0; i < N; i++) {
        out[i] = -*damping * at->v[i];
    }
    for (int i = 0; i < POINTS; i++) {
        for (int j = 0; j < i; j++) {
            double d[3], square = 0.0;
            for (int k = 0; k < 3; k++) {
                d[k] = at->q[3 * i + k] - at->q[3 * j + k];
                square += d[k] * d[k];
            }
            if (square < 1e-6) {
                return 1; /* two points on top of each other: not here, try a shorter step */
            }
            for (int k = 0; k < 3; k++) {
                out[3 * i + k] += d[k] / square;
                out[3 * j + k] -= d[k] / square;
            }
        }
    }
    return 0;
}

static int32_t constraint(void *user, const biela_system_point *at, double *out)
{
    (void)user;
    for (int i = 0; i < POINTS; i++) {
        const double *p = at->q + 3 * i;
        out[i] = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] - 1.0;
    }
    return 0;
}

/* The 60 entries of G that are not zero, in the order of rows[] and columns[] below. */
static int32_t jacobian(void *user, const biela_system_point *at, double *out)
{
    (void)user;
    for (int i = 0; i < N; i++) {
        out[i] = 2.0 * at->q[i];
    }
    return 0;
}

/* d2/dt2 of the constraint along the motion, without the accelerations. */
static int32_t convective(void *user, const biela_system_point *at, double *out)
{
    (void)user;
    for (int i = 0; i < POINTS; i++) {
        const double *v = at->v + 3 * i;
        out[i] = 2.0 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    return 0;
}

/* A ring of `count` points at latitude `beta`, beginning with number `first`. */
static void ring(double *q, int first, int count, int shift, double turn, double beta)
{
    for (int i = 0; i < count; i++) {
        const double alpha = 2.0 * acos(-1.0) * (i + shift) / count + turn;
        q[3 * (first + i)] = cos(alpha) * cos(beta);
        q[3 * (first + i) + 1] = sin(alpha) * cos(beta);
        q[3 * (first + i) + 2] = sin(beta);
    }
}

/* The first five points at t = 1000 as published with the test set (RADAU5 with tolerance 1e-12), and every multiplier. */
static const double published[15] = {
    -0.4070263380333202, 0.3463758772791802, 0.8451942450030429, 0.07752934752521549, -0.2628662719972299,
    0.9617122871829146, 0.7100577833343567, 0.1212948055586120, 0.6936177005172217, 0.2348267744557627,
    0.7449277976923311, 0.6244509285956391, -0.4341114738782885, 0.8785430442262876, 0.1992720444237660,
};
static const double published_lambda = 4.75;

int main(void)
{
    const double pi = acos(-1.0);
    double q[N], damping = 0.5;
    ring(q, 0, 3, 1, pi / 13.0, 3.0 * pi / 8.0);
    ring(q, 3, 7, 1, pi / 29.0, pi / 8.0);
    ring(q, 10, 6, 1, pi / 7.0, -2.0 * pi / 15.0);
    ring(q, 16, 4, 0, pi / 17.0, -3.0 * pi / 10.0);
    uint32_t rows[N], columns[N];
    for (uint32_t i = 0; i < N; i++) {
        rows[i] = i / 3;
        columns[i] = i;
    }

    biela_system_definition sphere;
    biela_system_definition_default(&sphere, sizeof sphere);
    sphere.user = &damping;
    sphere.name = "fekete";
    sphere.solver = "tolerance = 1e-7";
    sphere.flags = BIELA_SYSTEM_CONSTANT_MASS | BIELA_SYSTEM_FIXED_CONSTRAINTS;
    sphere.nv = N;
    sphere.nc = POINTS;
    sphere.q = q;
    sphere.jacobian_count = N;
    sphere.jacobian_rows = rows;
    sphere.jacobian_columns = columns;
    sphere.mass_times = mass_times;
    sphere.force = force;
    sphere.constraint = constraint;
    sphere.jacobian = jacobian;
    sphere.convective = convective;

    biela_instance *points = NULL;
    if (biela_system_new(&sphere, &points) != BIELA_STATUS_OK) {
        fprintf(stderr, "%s\n", biela_last_error(NULL));
        return 1;
    }
    uint32_t first = 0, lambda = 0, references[N + POINTS];
    double values[N + POINTS];
    if (biela_variable_find(points, "q1", &first) != BIELA_STATUS_OK ||
        biela_variable_find(points, "lambda1", &lambda) != BIELA_STATUS_OK ||
        biela_initialize(points, 0.0, 1000.0, 0.0) != BIELA_STATUS_OK ||
        biela_step(points, 0.0, 1000.0, NULL) != BIELA_STATUS_OK) {
        fprintf(stderr, "%s\n", biela_last_error(points));
        return 1;
    }
    for (uint32_t i = 0; i < N + POINTS; i++) {
        references[i] = i < N ? first + i : lambda + i - N;
    }
    biela_get_real(points, references, N + POINTS, values);
    double error = 0.0, lambda_error = 0.0;
    for (int i = 0; i < 15; i++) {
        error = fmax(error, fabs(values[i] - published[i]));
    }
    for (int i = N; i < N + POINTS; i++) {
        lambda_error = fmax(lambda_error, fabs(values[i] - published_lambda));
    }
    biela_counters counters;
    biela_counters_default(&counters, sizeof counters);
    biela_statistics(points, &counters);
    printf("steps %llu, rejected %llu, evaluations of f %llu\n", (unsigned long long)counters.steps,
           (unsigned long long)counters.rejected, (unsigned long long)counters.evaluations);
    printf("largest error of the first five points %.1e, of a multiplier %.1e\n", error, lambda_error);
    biela_instance_free(points);
    return error < 1e-3 && lambda_error < 1e-6 ? 0 : 1;
}
