/* biela_system_*: equations as C functions. The answers of every function reach the caller, calls from inside get BUSY,
 * a cancel from inside works, what is copied at creation may go, and the user's object is released once. */
#include "check.h"

#include <math.h>

/* A point mass on a rod of length 1: q = (x, y), Phi = (x^2 + y^2 - 1) / 2. */
typedef struct {
    biela_instance *self; /* set after creation */
    const char *who;      /* the function that misbehaves */
    double from, until;   /* when */
    int32_t answer;       /* what it answers then */
    double wrong;         /* or, with answer 0, writes at [0] */
    int busy;             /* how often a call from inside was refused as it must be */
    int inside;           /* 1: call the instance from inside, 2: cancel it */
    int released;
} pendulum;

static const double gravity = 9.81;

static int32_t misbehave(pendulum *me, const char *who, double time, double *out)
{
    if (me->inside && me->self) {
        double now = -1.0;
        if (me->inside == 2) {
            EXPECT(biela_cancel(me->self) == BIELA_STATUS_OK);
        } else if (biela_time(me->self, &now) == BIELA_STATUS_BUSY && now == -1.0 &&
                   biela_instance_free(me->self) == BIELA_STATUS_BUSY &&
                   strstr(biela_last_error(me->self), "busy") != NULL) {
            me->busy++;
        }
    }
    if (me->who && strcmp(me->who, who) == 0 && time >= me->from && time < me->until) {
        if (me->answer == 0 && out) {
            out[0] = me->wrong;
        }
        return me->answer;
    }
    return 0;
}

static int32_t mass_times(void *user, const biela_system_point *at, double *out)
{
    EXPECT(at->v == NULL && at->lambda == NULL && at->modes == NULL);
    out[0] = at->a[0];
    out[1] = at->a[1];
    return misbehave(user, "mass_times", at->time, out);
}

static int32_t mass(void *user, const biela_system_point *at, double *out)
{
    EXPECT(at->v == NULL && at->a == NULL && out[1] == 0.0);
    out[0] = out[3] = 1.0;
    return misbehave(user, "mass", at->time, out);
}

static int32_t force(void *user, const biela_system_point *at, double *out)
{
    EXPECT(at->a == NULL && at->lambda == NULL);
    out[0] = at->u[0];
    out[1] = -at->p[0];
    return misbehave(user, "force", at->time, out);
}

static int32_t constraint(void *user, const biela_system_point *at, double *out)
{
    out[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
    return misbehave(user, "constraint", at->time, out);
}

static int32_t jacobian(void *user, const biela_system_point *at, double *out)
{
    out[0] = at->q[0];
    out[1] = at->q[1];
    return misbehave(user, "jacobian", at->time, out);
}

static int32_t convective(void *user, const biela_system_point *at, double *out)
{
    out[0] = at->v[0] * at->v[0] + at->v[1] * at->v[1];
    return misbehave(user, "convective", at->time, out);
}

static int32_t energy(void *user, const biela_system_point *at, double *out)
{
    out[0] = 0.5 * (at->v[0] * at->v[0] + at->v[1] * at->v[1]);
    out[1] = at->p[0] * at->q[1];
    return misbehave(user, "energy", at->time, out);
}

/* Passing the lowest point, both ways. */
static int32_t events(void *user, const biela_system_point *at, double *phi, double *rate)
{
    EXPECT(isnan(rate[0]));
    phi[0] = at->q[0];
    return misbehave(user, "events", at->time, phi);
}

static int32_t fire(void *user, const biela_system_point *at, size_t event, int32_t *modes, biela_system_reaction *reaction)
{
    EXPECT(event == 0 && reaction->kind == BIELA_REACTION_MODE && reaction->gradient[0] == 0.0);
    modes[0]++;
    return misbehave(user, "fire", at->time, NULL);
}

static int32_t force_with_modes(void *user, const biela_system_point *at, double *out)
{
    EXPECT(at->modes != NULL);
    return force(user, at, out);
}

static void release(void *user)
{
    ((pendulum *)user)->released++;
}

static biela_instance *new_pendulum(pendulum *me, int with_events)
{
    /* All of this is copied and gone afterwards. */
    double q[2] = {1.0, 0.0}, weights[2] = {1.0, 1.0}, parameters[1] = {gravity};
    char input[] = "push", parameter[] = "gravity", rod[] = "rod";
    const char *inputs[1] = {input}, *parameter_names[1] = {parameter}, *constraints[1] = {rod};
    biela_system_definition definition;
    MUST(NULL, biela_system_definition_default(&definition, sizeof definition));
    definition.user = me;
    definition.release = release;
    definition.name = "pendulum";
    definition.solver = "tolerance = 1e-7";
    definition.flags = BIELA_SYSTEM_FIXED_CONSTRAINTS | BIELA_SYSTEM_CONSTANT_MASS;
    definition.nv = 2;
    definition.nc = 1;
    definition.inputs = 1;
    definition.parameters = 1;
    definition.q = q;
    definition.weights = weights;
    definition.parameter_starts = parameters;
    definition.input_names = inputs;
    definition.parameter_names = parameter_names;
    definition.constraint_names = constraints;
    definition.mass_times = mass_times;
    definition.force = force;
    definition.constraint = constraint;
    definition.jacobian = jacobian;
    definition.convective = convective;
    definition.energy = energy;
    if (with_events) {
        definition.ne = 1;
        definition.modes = 1;
        definition.events = events;
        definition.fire = fire;
        definition.mass_times = NULL;
        definition.force = force_with_modes;
    }
    biela_instance *instance = NULL;
    if (with_events) {
        /* M is needed. */
        REFUSED(NULL, biela_system_new(&definition, &instance), BIELA_STATUS_ERROR_ARGUMENT, "mass_times");
        EXPECT(instance == NULL && me->released == 0);
        definition.mass = mass;
    }
    MUST(NULL, biela_system_new(&definition, &instance));
    memset(q, 0xff, sizeof q);
    memset(input, 'x', sizeof input - 1);
    me->self = instance;
    return instance;
}

static double get(biela_instance *instance, const char *name)
{
    uint32_t reference = 0;
    double value = NAN;
    MUST(instance, biela_variable_find(instance, name, &reference));
    MUST(instance, biela_get_real(instance, &reference, 1, &value));
    return value;
}

static void free_pendulum(pendulum *me, biela_instance *instance)
{
    EXPECT(me->released == 0);
    MUST(NULL, biela_instance_free(instance));
    EXPECT(me->released == 1);
}

/* A swing from the horizontal keeps its energy; variables have their names. */
static void swings(void)
{
    pendulum me = {0};
    biela_instance *instance = new_pendulum(&me, 0);
    uint32_t count = 0;
    MUST(instance, biela_variable_count(instance, &count));
    EXPECT(count == 1 + 2 + 2 + 2 + 1 + 7 + 1); /* push, q, v, a, lambda, energies, gravity */
    EXPECT(get(instance, "gravity") == gravity);
    MUST(instance, biela_initialize(instance, 0.0, INFINITY, 0.0));
    MUST(instance, biela_step(instance, 0.0, 3.0, NULL));
    EXPECT(fabs(get(instance, "energy.total")) < 1e-5);
    EXPECT(fabs(get(instance, "q1") * get(instance, "q1") + get(instance, "q2") * get(instance, "q2") - 1.0) < 1e-9);
    /* The rod carries m (v^2 + g cos): lambda = -(v^2 - g y) with G = q. */
    const double v2 = get(instance, "v1") * get(instance, "v1") + get(instance, "v2") * get(instance, "v2");
    EXPECT(fabs(get(instance, "lambda1") - (v2 - gravity * get(instance, "q2"))) < 1e-5);
    int32_t answer = -1;
    MUST(instance, biela_system_answer(instance, &answer));
    EXPECT(answer == 0);
    free_pendulum(&me, instance);
}

/* Whoever answers "stop": the code arrives, the state is the last accepted one, and can go on when the user relents. */
static void stops(const char *who, int with_events, int32_t given)
{
    pendulum me = {0};
    biela_instance *instance = new_pendulum(&me, with_events);
    me.who = who;
    me.from = 0.45;
    me.until = INFINITY;
    me.answer = given;
    MUST(instance, biela_initialize(instance, 0.0, INFINITY, 0.0));
    double reached = -1.0;
    REFUSED(instance, biela_step(instance, 0.0, 2.0, &reached), BIELA_STATUS_ERROR_CALLBACK, who);
    int32_t answer = 0;
    MUST(instance, biela_system_answer(instance, &answer));
    EXPECT(answer == given);
    EXPECT(reached > 0.3 && reached < 0.75);
    EXPECT(isfinite(get(instance, "q1")) || strcmp(who, "energy") == 0);
    me.who = NULL;
    MUST(instance, biela_step(instance, reached, 2.0 - reached, NULL));
    EXPECT(fabs(get(instance, "energy.total")) < 1e-4);
    free_pendulum(&me, instance);
}

/* "Not here" for a while: shorter steps get around long predictions only; at a wall the code arrives. */
static void shortens(const char *who)
{
    pendulum me = {0};
    biela_instance *instance = new_pendulum(&me, 0);
    me.who = who;
    me.from = 0.5;
    me.until = INFINITY;
    me.answer = 42;
    MUST(instance, biela_initialize(instance, 0.0, INFINITY, 0.0));
    double reached = -1.0;
    REFUSED(instance, biela_step(instance, 0.0, 2.0, &reached), BIELA_STATUS_ERROR_CALLBACK, who);
    int32_t answer = 0;
    MUST(instance, biela_system_answer(instance, &answer));
    EXPECT(answer == 42);
    EXPECT(reached > 0.49 && reached <= 0.5);
    biela_counters counters;
    MUST(NULL, biela_counters_default(&counters, sizeof counters));
    MUST(instance, biela_statistics(instance, &counters));
    EXPECT(counters.newton_failures + counters.rejected >= 5);
    me.who = NULL;
    MUST(instance, biela_step(instance, reached, 2.0 - reached, NULL));
    EXPECT(fabs(get(instance, "energy.total")) < 1e-4);
    free_pendulum(&me, instance);
}

/* NaN is named by function and index. */
static void names(const char *who, int with_events)
{
    pendulum me = {0};
    biela_instance *instance = new_pendulum(&me, with_events);
    me.who = who;
    me.from = 0.5;
    me.until = INFINITY;
    me.wrong = NAN;
    MUST(instance, biela_initialize(instance, 0.0, INFINITY, 0.0));
    double reached = -1.0;
    REFUSED(instance, biela_step(instance, 0.0, 2.0, &reached), BIELA_STATUS_ERROR_NUMERIC, "wrote NaN at [0]");
    EXPECT(strstr(biela_last_error(instance), who) != NULL);
    EXPECT(reached > 0.3 && reached < 0.75);
    free_pendulum(&me, instance);
}

int main(void)
{
    swings();
    const char *equations[] = {"force", "mass_times", "constraint", "jacobian", "convective", "energy"};
    for (size_t i = 0; i < sizeof equations / sizeof *equations; i++) {
        stops(equations[i], 0, -7);
    }
    stops("mass", 1, -8);
    stops("events", 1, -9);
    stops("events", 1, 9); /* events have no shorter step to offer */
    stops("fire", 1, -10);
    for (size_t i = 0; i < 5; i++) {
        shortens(equations[i]);
        names(equations[i], 0);
    }
    names("events", 1);

    /* From inside. */
    pendulum me = {0};
    biela_instance *instance = new_pendulum(&me, 0);
    MUST(instance, biela_initialize(instance, 0.0, INFINITY, 0.0));
    me.inside = 1;
    MUST(instance, biela_step(instance, 0.0, 0.1, NULL));
    EXPECT(me.busy > 10);
    me.inside = 2;
    double reached = -1.0;
    REFUSED(instance, biela_step(instance, 0.1, 1.0, &reached), BIELA_STATUS_CANCELLED, "cancelled");
    EXPECT(reached >= 0.1 && reached < 1.1);
    me.inside = 0;
    free_pendulum(&me, instance);

    /* Misuse. */
    REFUSED(NULL, biela_system_new(NULL, &instance), BIELA_STATUS_ERROR_ARGUMENT, "definition");
    REFUSED(NULL, biela_system_definition_default(NULL, sizeof(biela_system_definition)), BIELA_STATUS_ERROR_ARGUMENT, "definition");
    int32_t answer = 5;
    REFUSED(NULL, biela_system_answer(NULL, &answer), BIELA_STATUS_ERROR_ARGUMENT, "NULL");
    EXPECT(answer == 5);
    return finish();
}
