/** @file
 * Biela: mechanisms as components for co-simulation. The C interface.
 *
 * A first program:
 *
 *     biela_instance *crank = NULL;
 *     if (biela_instance_new_from_file("slider_crank.toml", &crank) != BIELA_STATUS_OK) {
 *         fprintf(stderr, "%s\n", biela_last_error(NULL));
 *         return 1;
 *     }
 *     biela_initialize(crank, 0.0, INFINITY, 0.0);
 *     biela_step(crank, 0.0, 0.01, NULL);
 *     biela_instance_free(crank);
 *
 * Every function that can fail returns a biela_status; biela_last_error has the sentence. SI units,
 * radians, UTF-8. docs/c-api.md has the whole story.
 *
 * Generated from src/capi by cbindgen. Do not edit. */


#ifndef BIELA_H
#define BIELA_H

#include <stddef.h>
#include <stdint.h>

/**
 * Version of this interface. It rises when something that existed changes its meaning; additions do not
 * raise it. Compare with `biela_abi_version()` of the library that was loaded.
 */
#define BIELA_ABI_VERSION 1

/**
 * The highest order that `biela_set_input_derivatives` and `biela_set_extrapolation` take.
 */
#define BIELA_HIGHEST_INPUT_DERIVATIVE 2

/**
 * The highest order that `biela_get_output_derivatives` offers.
 */
#define BIELA_HIGHEST_OUTPUT_DERIVATIVE 2

/**
 * `biela_system_definition.flags`: M does not depend on q.
 */
#define BIELA_SYSTEM_CONSTANT_MASS 1

/**
 * `biela_system_definition.flags`: f does not depend on v.
 */
#define BIELA_SYSTEM_NO_VELOCITY_FORCES 2

/**
 * `biela_system_definition.flags`: the constraints depend neither on time nor on inputs.
 */
#define BIELA_SYSTEM_FIXED_CONSTRAINTS 4

/**
 * `biela_system_definition.flags`: M, df/dq, df/dv and the constraints' Jacobian are constant.
 */
#define BIELA_SYSTEM_LINEAR 8

/**
 * `biela_system_reaction.kind`: only the modes have changed.
 */
#define BIELA_REACTION_MODE 0

/**
 * `biela_system_reaction.kind`: an impulse along the gradient.
 */
#define BIELA_REACTION_IMPULSE 1

/**
 * Answer of `crossing`: inactive in this mode.
 */
#define BIELA_CROSSING_OFF 0

/**
 * Answer of `crossing`: from negative to positive.
 */
#define BIELA_CROSSING_RISING 1

/**
 * Answer of `crossing`: from positive to negative.
 */
#define BIELA_CROSSING_FALLING 2

/**
 * Answer of `crossing`: both.
 */
#define BIELA_CROSSING_EITHER 3

/**
 * Result of a call. Numbers are never reused; later versions may add some. Everything but
 * `BIELA_STATUS_OK` comes with a sentence: see `biela_last_error`.
 */
typedef enum {
    /**
     * Done.
     */
    BIELA_STATUS_OK = 0,
    /**
     * An argument is NULL, not finite, or outside its range. Nothing was changed.
     */
    BIELA_STATUS_ERROR_ARGUMENT = 1,
    /**
     * The model text is wrong; the sentence begins with origin:line:column.
     */
    BIELA_STATUS_ERROR_MODEL = 2,
    /**
     * A file could not be read.
     */
    BIELA_STATUS_ERROR_FILE = 3,
    /**
     * This call is not legal in this phase of the instance's life. Nothing was changed.
     */
    BIELA_STATUS_ERROR_CALL_ORDER = 4,
    /**
     * There is no variable of this name or value reference. Nothing was changed.
     */
    BIELA_STATUS_ERROR_UNKNOWN_VARIABLE = 5,
    /**
     * The variable exists but may not be set, or not now. Nothing was changed.
     */
    BIELA_STATUS_ERROR_NOT_SETTABLE = 6,
    /**
     * The mechanism cannot be assembled; the sentence names the joints that disagree.
     */
    BIELA_STATUS_ERROR_ASSEMBLY = 7,
    /**
     * The equations could not be solved; the instance is at its last good state.
     */
    BIELA_STATUS_ERROR_NUMERIC = 8,
    /**
     * More substeps than `max_substeps` in one call; the instance is at the last accepted substep.
     */
    BIELA_STATUS_ERROR_LIMIT = 9,
    /**
     * `biela_cancel` stopped the step; the instance is at the last accepted substep.
     */
    BIELA_STATUS_CANCELLED = 10,
    /**
     * Code given by the user asked to stop.
     */
    BIELA_STATUS_ERROR_CALLBACK = 11,
    /**
     * The saved state does not belong to this model, or is damaged. Nothing was changed.
     */
    BIELA_STATUS_ERROR_STATE = 12,
    /**
     * Another call on this instance (or state) has not returned yet. Nothing was changed.
     */
    BIELA_STATUS_BUSY = 13,
    /**
     * A fault of the library itself. Until `biela_instance_reset` the instance answers only
     * `biela_last_error`, `biela_cancel`, `biela_instance_reset` and `biela_instance_free`.
     */
    BIELA_STATUS_PANIC = 14,
    /**
     * There is not enough memory for what was asked. Nothing was changed. Found where the need is known beforehand: by the calls
     * that make instances and states, initialize, save and serialize.
     */
    BIELA_STATUS_ERROR_MEMORY = 15,
} biela_status;

/**
 * Causality of a variable: who sets it.
 */
typedef enum {
    /**
     * Set from outside, constant until set again.
     */
    BIELA_CAUSALITY_PARAMETER = 1,
    /**
     * Set from outside at communication points.
     */
    BIELA_CAUSALITY_INPUT = 2,
    /**
     * Computed.
     */
    BIELA_CAUSALITY_OUTPUT = 3,
    /**
     * Computed, and shown only because the model says `expose = "all"`.
     */
    BIELA_CAUSALITY_LOCAL = 4,
} biela_causality;

/**
 * Variability of a variable: when its value may change.
 */
typedef enum {
    /**
     * Never.
     */
    BIELA_VARIABILITY_CONSTANT = 1,
    /**
     * Not after `biela_initialize`.
     */
    BIELA_VARIABILITY_FIXED = 2,
    /**
     * Whenever it is set, also between steps.
     */
    BIELA_VARIABILITY_TUNABLE = 3,
    /**
     * At certain times only: a counter.
     */
    BIELA_VARIABILITY_DISCRETE = 4,
    /**
     * All the time.
     */
    BIELA_VARIABILITY_CONTINUOUS = 5,
} biela_variability;

/**
 * Origin of the start value of a variable.
 */
typedef enum {
    /**
     * From you: it is an input.
     */
    BIELA_INITIAL_NONE = 0,
    /**
     * It is the start value.
     */
    BIELA_INITIAL_EXACT = 1,
    /**
     * It is computed by `biela_initialize`.
     */
    BIELA_INITIAL_CALCULATED = 3,
} biela_initial;

/**
 * Severity of a message. A logger receives messages up to its level.
 */
typedef enum {
    /**
     * A call has failed; the text is the sentence of `biela_last_error`.
     */
    BIELA_LOG_LEVEL_ERROR = 1,
    /**
     * Legal, but probably not intended: an input that jumped, many rejected trial steps in a row.
     */
    BIELA_LOG_LEVEL_WARNING = 2,
    /**
     * The start, events.
     */
    BIELA_LOG_LEVEL_INFO = 3,
    /**
     * Every communication step.
     */
    BIELA_LOG_LEVEL_DEBUG = 4,
} biela_log_level;

/**
 * Part of a linear model that has names.
 */
typedef enum {
    /**
     * States: minimal coordinates, their derivatives, integrals of inputs.
     */
    BIELA_LINEAR_PART_STATE = 0,
    /**
     * Inputs, and their derivatives where an input prescribes a position.
     */
    BIELA_LINEAR_PART_INPUT = 1,
    /**
     * Outputs.
     */
    BIELA_LINEAR_PART_OUTPUT = 2,
} biela_linear_part;

/**
 * A mechanism that can be driven. Opaque; made by `biela_instance_new_...`, ended by `biela_instance_free`.
 *
 * An instance may be used from any thread, one call at a time: a call that finds another one running
 * returns `BIELA_STATUS_BUSY` and changes nothing. Only `biela_cancel` is allowed while a call runs.
 * Different instances never influence each other.
 */
typedef struct biela_instance biela_instance;

/**
 * A state of an instance, to go back to. Opaque; made by `biela_state_save` or `biela_state_deserialize`,
 * ended by `biela_state_free`.
 *
 * It holds all that the future depends on: a run continued from a restored state gives the same bits. It may
 * outlive its instance and be restored into any instance of the same model, one call at a time.
 */
typedef struct biela_state biela_state;

/**
 * Description of a variable, written by `biela_variable_info`. Call `biela_variable_default` on it first.
 */
typedef struct {
    /**
     * `sizeof(biela_variable)` as you know it; later versions may add fields at the end.
     */
    size_t struct_size;
    /**
     * Unique name, UTF-8; valid until the instance is freed.
     */
    const char *name;
    /**
     * Unit such as "N.m", empty where there is none; valid until the instance is freed.
     */
    const char *unit;
    /**
     * Who sets it.
     */
    biela_causality causality;
    /**
     * 1: `start` is its start value; 0: it has none (outputs).
     */
    int32_t has_start;
    /**
     * Start value; 0 where it has none.
     */
    double start;
    /**
     * The dotted name of what it stands for, such as "pivot.position"; valid until the instance is freed.
     */
    const char *description;
    /**
     * When it changes.
     */
    biela_variability variability;
    /**
     * Origin of its start value.
     */
    biela_initial initial;
    /**
     * 1: it may not be set below `min`; 0: there is no such bound.
     */
    int32_t has_min;
    /**
     * 1: it may not be set above `max`; 0: there is no such bound.
     */
    int32_t has_max;
    /**
     * Smallest value it may be set to; 0 where there is no bound.
     */
    double min;
    /**
     * Largest value it may be set to; 0 where there is no bound.
     */
    double max;
    /**
     * The inputs on which it depends directly (reading it right after setting one of them shows another
     * value), in rising order; NULL where there are none; valid until the instance is freed.
     */
    const uint32_t *dependencies;
    /**
     * Number of these inputs; 0 for inputs and parameters.
     */
    size_t dependency_count;
    /**
     * The inputs and parameters on which it depends right after `biela_initialize`; as above.
     */
    const uint32_t *initial_dependencies;
    /**
     * Number of these inputs and parameters.
     */
    size_t initial_dependency_count;
} biela_variable;

/**
 * Written by `biela_statistics`: counters since the start. Call `biela_counters_default` on it first.
 */
typedef struct {
    /**
     * `sizeof(biela_counters)` as you know it; later versions may add fields at the end.
     */
    size_t struct_size;
    /**
     * Accepted substeps.
     */
    uint64_t steps;
    /**
     * Trial steps rejected by the error estimate.
     */
    uint64_t rejected;
    /**
     * Trial steps in which Newton's iteration did not converge.
     */
    uint64_t newton_failures;
    /**
     * Newton iterations.
     */
    uint64_t newton_iterations;
    /**
     * Equilibrium residuals evaluated by Newton's iteration.
     */
    uint64_t residuals;
    /**
     * Force evaluations of any kind.
     */
    uint64_t evaluations;
    /**
     * Matrix factorisations.
     */
    uint64_t factorizations;
    /**
     * Back-substitutions.
     */
    uint64_t solves;
    /**
     * Events handled.
     */
    uint64_t events;
    /**
     * Smallest accepted substep (s); INFINITY before the first.
     */
    double smallest_step;
    /**
     * Largest accepted substep (s).
     */
    double largest_step;
    /**
     * Last accepted substep (s).
     */
    double step_size;
    /**
     * Estimated local error of the last accepted substep over the tolerance.
     */
    double error;
    /**
     * Largest of these.
     */
    double worst_error;
    /**
     * Energy balance of the accepted substep where it was largest, with its sign (J).
     */
    double energy_drift;
    /**
     * Accepted substeps on the smooth path, without Newton iteration.
     */
    uint64_t steps_smooth;
    /**
     * Accepted substeps of HHT with its corrector.
     */
    uint64_t steps_corrected;
    /**
     * Accepted substeps without a correction.
     */
    uint64_t steps_plain;
    /**
     * Substeps of time stepping, where contacts are too dense in time for events.
     */
    uint64_t time_stepping;
} biela_counters;

/**
 * Takes one message: your `user` pointer, how serious it is, what it is about ("start", "step", "event",
 * "input", "state"), the instance's time (s), and a sentence in UTF-8. Both texts are valid during the
 * call only.
 *
 * It is called on the thread that has called the library, inside that call: it must return (no `longjmp`,
 * no C++ exception), and calls on the same instance from within it are answered with `BIELA_STATUS_BUSY`.
 */
typedef void (*biela_log_callback)(void *user,
                                   biela_log_level level,
                                   const char *category,
                                   double time,
                                   const char *message);

/**
 * Called once with `user` when the instance is freed.
 */
typedef void (*biela_system_release)(void *user);

/**
 * Arguments of a function of a system. Arrays have the lengths of the definition, belong to the
 * library and are valid during the call only; those a function must not depend on are NULL.
 */
typedef struct {
    /**
     * Size of this struct in the library; later versions may add fields at the end.
     */
    size_t struct_size;
    /**
     * Time (s).
     */
    double time;
    /**
     * Coordinates, `nq`.
     */
    const double *q;
    /**
     * Velocities, `nv`.
     */
    const double *v;
    /**
     * Accelerations, `nv`.
     */
    const double *a;
    /**
     * Multipliers, `nc`.
     */
    const double *lambda;
    /**
     * Inputs.
     */
    const double *u;
    /**
     * Their first time derivatives.
     */
    const double *u_dot;
    /**
     * Their second time derivatives.
     */
    const double *u_ddot;
    /**
     * Parameters.
     */
    const double *p;
    /**
     * Modes.
     */
    const int32_t *modes;
} biela_system_point;

/**
 * A function of a system: reads `at`, writes `out`, which comes zeroed.
 *
 * It returns 0 (success), a positive number (recoverable failure: the solver tries a shorter step) or a negative number (stop:
 * the call ends with `BIELA_STATUS_ERROR_CALLBACK`). NaN and infinities count as recoverable failures and are reported if no
 * step is short enough.
 */
typedef int32_t (*biela_system_function)(void *user, const biela_system_point *at, double *out);

/**
 * A function of coordinates that are not a vector space; returns as `biela_system_function`.
 */
typedef int32_t (*biela_system_group)(void *user, const double *x, const double *y, double *out);

/**
 * Event functions `phi` and their time derivatives along the motion (come as NaN: not given), `ne` each. 0, or any other number to stop.
 */
typedef int32_t (*biela_system_events)(void *user,
                                       const biela_system_point *at,
                                       double *phi,
                                       double *rate);

/**
 * The crossings of an event that count in these modes: a `BIELA_CROSSING_...`, or a negative number to stop.
 */
typedef int32_t (*biela_system_crossing)(void *user, const int32_t *modes, size_t event);

/**
 * Effect of an event, filled by `fire`. It comes as `BIELA_REACTION_MODE` with a zero gradient.
 *
 * An impulse changes the velocities along `gradient` (the gradient n of the event function, `nv`, to be written) so that n.v
 * afterwards is `-restitution` times n.v before. If |n.v| is below `slowest` the impact is plastic and `hold` is called.
 */
typedef struct {
    /**
     * Size of this struct in the library; later versions may add fields at the end.
     */
    size_t struct_size;
    /**
     * `BIELA_REACTION_MODE` or `BIELA_REACTION_IMPULSE`.
     */
    int32_t kind;
    /**
     * 0 to 1.
     */
    double restitution;
    /**
     * Smallest |n.v| that rebounds.
     */
    double slowest;
    /**
     * To be filled with n, `nv` numbers, zeroed.
     */
    double *gradient;
} biela_system_reaction;

/**
 * An event has occurred: change `modes`, fill `reaction`. 0, or any other number to stop.
 */
typedef int32_t (*biela_system_fire)(void *user,
                                     const biela_system_point *at,
                                     size_t event,
                                     int32_t *modes,
                                     biela_system_reaction *reaction);

/**
 * An impact is too slow to rebound: enter the mode that keeps the contact closed (usually an active constraint). 0, or any
 * other number to stop.
 */
typedef int32_t (*biela_system_hold)(void *user, size_t event, int32_t *modes);

/**
 * The constraints that are active in these modes; `rows` (`nc`) come as 1. 0, or any other number to stop.
 */
typedef int32_t (*biela_system_active)(void *user, const int32_t *modes, uint8_t *rows);

/**
 * The modes at the start; they come as 0. 0, or any other number to stop.
 */
typedef int32_t (*biela_system_modes)(void *user, const biela_system_point *at, int32_t *modes);

/**
 * A user-defined system: M(q) a + G^T lambda = f(q, v, t, u, p), Phi(q, t, u, p) = 0, G = dPhi/dq.
 *
 * Call `biela_system_definition_default` on it, then fill what you have. Needed: `nv`, `q`, `force`, one of
 * `mass` and `mass_times`, `constraint` where `nc` > 0, `events` where `ne` > 0. What is left NULL is differenced
 * or has the default given below. Everything is copied; only `user` and the functions are used afterwards.
 *
 * The functions are called during calls on the instance, on the thread of that call, one at a time. They
 * must depend on their arguments only (`user` holds constants), or saved states cannot be restored exactly.
 * They must return: a longjmp or an exception out of them is not allowed. A call on the same instance
 * from inside them is answered with `BIELA_STATUS_BUSY`; `biela_cancel` works.
 */
typedef struct {
    /**
     * `sizeof(biela_system_definition)` as you know it; later versions may add fields at the end.
     */
    size_t struct_size;
    /**
     * Passed to every function. The library does not use it.
     */
    void *user;
    /**
     * Called with `user` when the instance is freed, not where its creation fails. NULL: `user` stays yours.
     */
    biela_system_release release;
    /**
     * Name of the system for messages. NULL: "system".
     */
    const char *name;
    /**
     * Settings: the keys of `[solver]` of a model file as text, one a line, such as "tolerance = 1e-8\nalpha = 0". NULL: defaults.
     */
    const char *solver;
    /**
     * Promises that save work: a sum of `BIELA_SYSTEM_...`. 0 is always right.
     */
    uint32_t flags;
    /**
     * Stored coordinates. 0: as many as `nv`.
     */
    size_t nq;
    /**
     * Velocities, accelerations, equations of motion.
     */
    size_t nv;
    /**
     * Constraints.
     */
    size_t nc;
    /**
     * Event functions.
     */
    size_t ne;
    /**
     * Modes: whole numbers that only events change.
     */
    size_t modes;
    /**
     * Inputs.
     */
    size_t inputs;
    /**
     * Parameters.
     */
    size_t parameters;
    /**
     * Coordinates at start, `nq`; a guess where there are constraints.
     */
    const double *q;
    /**
     * Velocities at start, `nv`. NULL: zero.
     */
    const double *v;
    /**
     * Size of each coordinate, `nv`, > 0: the error norm is relative to the larger of it and the coordinate,
     * and differences step by a small part of it. NULL: 1.
     */
    const double *weights;
    /**
     * Scale of each constraint, `nc`, > 0: residuals are judged relative to it. NULL: determined at the start.
     */
    const double *constraint_scales;
    /**
     * Inputs until they are set. NULL: zero.
     */
    const double *input_starts;
    /**
     * Parameters until they are set. NULL: zero.
     */
    const double *parameter_starts;
    /**
     * Names of the inputs as variables. NULL: u1, u2, ..
     */
    const char *const *input_names;
    /**
     * Names of the parameters as variables. NULL: p1, p2, ..
     */
    const char *const *parameter_names;
    /**
     * Names of the coordinates in messages, `nv`. NULL: q1, q2, ..
     */
    const char *const *coordinate_names;
    /**
     * Names of the constraints in messages. NULL: lambda1, lambda2, ..
     */
    const char *const *constraint_names;
    /**
     * Names of the events in messages. NULL: event1, event2, ..
     */
    const char *const *event_names;
    /**
     * Number of nonzero entries of the `nv` x `nv` matrices. 0: they are dense, stored row by row.
     */
    size_t tangent_count;
    /**
     * Their rows, counted from 0; each entry once. M and the four derivatives have the same pattern.
     */
    const uint32_t *tangent_rows;
    /**
     * Their columns.
     */
    const uint32_t *tangent_columns;
    /**
     * Number of nonzero entries of G, `nc` x `nv`. 0: it is dense, stored row by row.
     */
    size_t jacobian_count;
    /**
     * Their rows, counted from 0; each entry once.
     */
    const uint32_t *jacobian_rows;
    /**
     * Their columns.
     */
    const uint32_t *jacobian_columns;
    /**
     * M(q), in the order of the tangent pattern. Depends on q.
     */
    biela_system_function mass;
    /**
     * M(q) a, `nv`. Depends on q, a.
     */
    biela_system_function mass_times;
    /**
     * f, `nv`, velocity-dependent inertia forces included. Depends on q, v.
     */
    biela_system_function force;
    /**
     * df/dq, in the order of the tangent pattern. Depends on q, v. NULL: differenced, as the next three.
     */
    biela_system_function force_by_q;
    /**
     * df/dv, in the order of the tangent pattern. Depends on q, v.
     */
    biela_system_function force_by_v;
    /**
     * d(M a)/dq, in the order of the tangent pattern. Depends on q, a.
     */
    biela_system_function inertia_by_q;
    /**
     * d(G^T lambda)/dq, in the order of the tangent pattern. Depends on q, lambda.
     */
    biela_system_function reaction_by_q;
    /**
     * Phi, `nc`. Depends on q.
     */
    biela_system_function constraint;
    /**
     * G, in the order of the jacobian pattern. Depends on q. NULL: differenced, as the next two.
     */
    biela_system_function jacobian;
    /**
     * dPhi/dt with q fixed and inputs changing, `nc`. Depends on q.
     */
    biela_system_function constraint_rate;
    /**
     * d(G v)/dq v + 2 dG/dt v + d2Phi/dt2, `nc`: G a plus this is zero. Depends on q, v.
     */
    biela_system_function convective;
    /**
     * Kinetic and potential energy, 2 numbers. Depends on q, v. NULL: there are no variables energy.kinetic, ..
     */
    biela_system_function energy;
    /**
     * Power dissipated by dampers and supplied by drives, 2 numbers. Depends on q, v. NULL: none.
     */
    biela_system_function power;
    /**
     * out (`nq`) = x (`nq`) moved by y (`nv`). NULL: x + y. Given, it needs the next three too.
     */
    biela_system_group retract;
    /**
     * out (`nv`) with x moved by out = y (`nq` both).
     */
    biela_system_group difference;
    /**
     * out = Lie bracket of x and y, all `nv`.
     */
    biela_system_group bracket;
    /**
     * out = T(x)^-1 y, all `nv`, T the tangent of the exponential.
     */
    biela_system_group tangent_inverse;
    /**
     * Event functions.
     */
    biela_system_events events;
    /**
     * Directions of the crossings that count. NULL: both directions of all events.
     */
    biela_system_crossing crossing;
    /**
     * Effect of an event. NULL: the integration restarts, nothing else.
     */
    biela_system_fire fire;
    /**
     * Called after a plastic impact.
     */
    biela_system_hold hold;
    /**
     * Active constraints. NULL: all.
     */
    biela_system_active active;
    /**
     * Modes at start. NULL: zero.
     */
    biela_system_modes start_modes;
} biela_system_definition;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The name of a status as text, such as "BIELA_STATUS_OK"; "BIELA_STATUS_UNKNOWN" for a number that is
 * none. Never NULL, never freed, valid for ever.
 */
const char *biela_status_name(int status);

/**
 * Version of the library as text, such as "0.1.0". Never NULL, never freed, valid for ever.
 */
const char *biela_version(void);

/**
 * Version of the interface that the loaded library has: `BIELA_ABI_VERSION` of its own header.
 */
int biela_abi_version(void);

/**
 * Makes an instance from a model file: TOML, or JSON by its ending. `path` is UTF-8. Files that the
 * model names are found relative to it.
 *
 * `*out` is the new instance, or NULL on failure; `biela_last_error(NULL)` on the same thread then has the
 * sentence. End the instance with `biela_instance_free`.
 *
 * # Safety
 * `path` is NULL or a NUL-terminated string; `out` is NULL or points to one handle.
 */
biela_status biela_instance_new_from_file(const char *path,
                                          biela_instance **out);

/**
 * Makes an instance from a model text of `length` bytes (UTF-8, no terminating NUL needed): TOML, or JSON
 * where it starts with `{`. Files that the model names are found in `base_dir`; NULL: in the working
 * directory. The text is not needed after the call.
 *
 * `*out` is the new instance, or NULL on failure; `biela_last_error(NULL)` on the same thread then has the
 * sentence. End the instance with `biela_instance_free`.
 *
 * # Safety
 * `text` holds `length` bytes; `base_dir` is NULL or a NUL-terminated string; `out` is NULL or points to
 * one handle.
 */
biela_status biela_instance_new_from_string(const char *text,
                                            size_t length,
                                            const char *base_dir,
                                            biela_instance **out);

/**
 * Ends an instance and frees all that belongs to it: texts and lists given by `biela_variable_info`, and
 * the sentence of `biela_last_error`. Saved states live on. NULL is allowed and does nothing.
 *
 * While another call on the instance runs, it is not freed and the answer is `BIELA_STATUS_BUSY`. The handle
 * must not be used after it has been freed: that cannot be detected.
 *
 * # Safety
 * `instance` is NULL or a live handle.
 */
biela_status biela_instance_free(biela_instance *instance);

/**
 * Returns to the state after creation: all variables at their start values, not initialized, inputs
 * constant. Repairs an instance that has answered `BIELA_STATUS_PANIC`. The logger stays, and
 * what `biela_variable_info` has given stays valid.
 *
 * # Safety
 * `instance` is NULL or a live handle.
 */
biela_status biela_instance_reset(biela_instance *instance);

/**
 * The sentence of the last failure on this instance: what went wrong, where, and what was expected. UTF-8,
 * never NULL; empty if nothing has failed since it was made or reset. A call that succeeds leaves it alone.
 *
 * With NULL it speaks of this thread's last call that failed without an instance: a creation, a NULL or
 * foreign handle, a struct that could not be given its defaults.
 *
 * The text belongs to the library and is valid until the next call on the same instance (with NULL: until
 * the next failure of that kind on this thread). Copy it if you want to keep it.
 *
 * # Safety
 * `instance` is NULL or a live handle.
 */
const char *biela_last_error(biela_instance *instance);

/**
 * Zeroes the struct and sets its `struct_size`. Call it with `sizeof(biela_variable)` of your header.
 *
 * # Safety
 * `variable` is NULL or points to `struct_size` bytes.
 */
biela_status biela_variable_default(biela_variable *variable,
                                    size_t struct_size);

/**
 * Number of variables. Their value references are 0 .. count - 1.
 *
 * # Safety
 * `instance` is NULL or a live handle; `count` is NULL or points to one number.
 */
biela_status biela_variable_count(biela_instance *instance, uint32_t *count);

/**
 * Describes the variable with this value reference; on failure `*variable` is unchanged.
 *
 * # Safety
 * `instance` is NULL or a live handle; `variable` is NULL or points to a struct whose `struct_size` is set.
 */
biela_status biela_variable_info(biela_instance *instance,
                                 uint32_t reference,
                                 biela_variable *variable);

/**
 * Finds a value reference by its variable's name; on failure `*reference` is unchanged and the sentence
 * suggests the nearest name.
 *
 * # Safety
 * `instance` is NULL or a live handle; `name` is NULL or a NUL-terminated string; `reference` is NULL or
 * points to one number.
 */
biela_status biela_variable_find(biela_instance *instance,
                                 const char *name,
                                 uint32_t *reference);

/**
 * Assembles the mechanism and makes its start consistent. Set parameters and inputs before it.
 *
 * `start_time` (s) may be any finite value; `stop_time` (s) is where steps must end, INFINITY if unknown;
 * `tolerance` <= 0 means the model's own.
 *
 * # Safety
 * `instance` is NULL or a live handle.
 */
biela_status biela_initialize(biela_instance *instance,
                              double start_time,
                              double stop_time,
                              double tolerance);

/**
 * Advances by one communication step from `time` to `time + step_size` (s), with as many substeps as the
 * tolerance asks for, and lands there exactly.
 *
 * `time` must be the instance's own time up to rounding. `step_size` 0 is legal and changes nothing;
 * negative or NaN is an error, and so is going past `stop_time`. `*reached` (NULL if you do not care) is the
 * instance's time after the call, also where the call failed on the way: then the instance is at the last
 * accepted substep, and you may read it, step on from there, restore or reset it. It is left alone
 * where the instance could not be asked: NULL handle, `BIELA_STATUS_BUSY`, `BIELA_STATUS_PANIC`.
 *
 * # Safety
 * `instance` is NULL or a live handle; `reached` is NULL or points to one number.
 */
biela_status biela_step(biela_instance *instance,
                        double time,
                        double step_size,
                        double *reached);

/**
 * Asks the step that is running to stop after its present substep; that step then returns
 * `BIELA_STATUS_CANCELLED`. If no step is running, the next one that has something to do is stopped; a
 * reset forgets it.
 *
 * The one function that may be called from any thread while another call runs. On a live instance it only
 * sets an atomic flag: no lock, no memory, so a signal handler may call it.
 *
 * # Safety
 * `instance` is NULL or a live handle that is not freed meanwhile.
 */
biela_status biela_cancel(biela_instance *instance);

/**
 * The instance's own time (s).
 *
 * # Safety
 * `instance` is NULL or a live handle; `time` is NULL or points to one number.
 */
biela_status biela_time(biela_instance *instance, double *time);

/**
 * Sets `count` inputs or parameters; on failure none is set. Inputs hold from the instance's time on, or
 * go on as `biela_set_extrapolation` says. Setting what is already there changes nothing.
 * `count` 0 is legal and looks at no pointer.
 *
 * # Safety
 * `instance` is NULL or a live handle; `references` and `values` hold `count` elements each.
 */
biela_status biela_set_real(biela_instance *instance,
                            const uint32_t *references,
                            size_t count,
                            const double *values);

/**
 * Reads `count` variables at the instance's time into `values`; on failure `values` is unchanged. The
 * arrays stay yours and must not overlap. `count` 0 is legal and looks at no pointer.
 *
 * # Safety
 * `instance` is NULL or a live handle; `references` and `values` hold `count` elements each.
 */
biela_status biela_get_real(biela_instance *instance,
                            const uint32_t *references,
                            size_t count,
                            double *values);

/**
 * Sets derivatives of `count` inputs from the instance's time on: `orders[i]` 1 (per s) or 2 (per s^2). The
 * input then is u + u' s + u'' s^2/2 until it is set again. Value and derivatives not named go on from
 * where they are: set the value first, if it is to change. On failure none is set.
 *
 * # Safety
 * `instance` is NULL or a live handle; `references`, `orders` and `values` hold `count` elements each.
 */
biela_status biela_set_input_derivatives(biela_instance *instance,
                                         const uint32_t *references,
                                         const uint32_t *orders,
                                         size_t count,
                                         const double *values);

/**
 * Extrapolation of inputs after the values set from now on: `order` 0 constant (the default), 1 along the line through
 * your last two values, 2 along the parabola through your last three; fewer where there are fewer yet. An
 * input that is not set again goes on along its line or parabola. Part of the saved state; a reset brings
 * the default back.
 *
 * # Safety
 * `instance` is NULL or a live handle.
 */
biela_status biela_set_extrapolation(biela_instance *instance,
                                     uint32_t order);

/**
 * Reads time derivatives of `count` outputs at the instance's time into `values`: `orders[i]` 1 (per s) or
 * 2 (per s^2), along the motion that the inputs as now set would give. On failure `values` is unchanged.
 * Nothing else changes, not a bit of what follows.
 *
 * Derivatives that are quantities themselves (position to speed to acceleration) are exact; all others
 * are differences on the motion, good to about 1e-8 (order 1) and 1e-6 (order 2) of the quantity's size over
 * the motion's time scale. Counters have none.
 *
 * # Safety
 * `instance` is NULL or a live handle; `references`, `orders` and `values` hold `count` elements each.
 */
biela_status biela_get_output_derivatives(biela_instance *instance,
                                          const uint32_t *references,
                                          const uint32_t *orders,
                                          size_t count,
                                          double *values);

/**
 * Interface Jacobian times a vector: `sensitivities[i]` = sum over j of d unknown_i / d known_j * `seed[j]`,
 * at the instance's time with positions and velocities fixed: what reading the outputs right after setting
 * the inputs or parameters would show. Unknowns are outputs, knowns are inputs or parameters.
 *
 * Accelerations, reactions and forces feed through; positions and velocities do not, except where an
 * input prescribes them. Exact to rounding in what acts linearly (forces, gravity), to about 1e-10 relative
 * in masses, stiffnesses and the like. On failure `sensitivities` is unchanged. Nothing else changes, not a
 * bit of what follows.
 *
 * # Safety
 * `instance` is NULL or a live handle; `unknowns` and `sensitivities` hold `unknown_count` elements each,
 * `knowns` and `seed` hold `known_count` elements each.
 */
biela_status biela_directional_derivative(biela_instance *instance,
                                          const uint32_t *unknowns,
                                          size_t unknown_count,
                                          const uint32_t *knowns,
                                          size_t known_count,
                                          const double *seed,
                                          double *sensitivities);

/**
 * Moves the instance to the static equilibrium next to its present position, at rest, at the present time and with
 * the inputs as now set; prescribed motions keep their positions. Legal after `biela_initialize`. Counters and energies
 * start again. On failure the instance is unchanged.
 *
 * Directions that nothing holds, unstable ones and reactions that are not unique are no failures: the logger gets a
 * warning that names them.
 *
 * # Safety
 * `instance` is NULL or a live handle.
 */
biela_status biela_equilibrium(biela_instance *instance);

/**
 * The linear model x' = A x + B u, y = C x + D u about the present point of the motion: x are minimal coordinates and
 * their derivatives, u the inputs, y the outputs. Nothing changes, not a bit of what follows.
 *
 * `sizes` are three numbers: states, inputs, outputs. With all four matrices NULL they are written. Otherwise they must be
 * those of the present point (the numbers may change at an event), and every matrix that is not NULL is filled by rows:
 * `a` states x states, `b` states x inputs, `c` outputs x states, `d` outputs x inputs. On failure the matrices are unchanged.
 * After the first call nothing is allocated.
 *
 * # Safety
 * `instance` is NULL or a live handle; `sizes` is NULL or has three elements; each matrix is NULL or has the elements that
 * `sizes` say.
 */
biela_status biela_linearize(biela_instance *instance,
                             size_t *sizes,
                             double *a,
                             double *b,
                             double *c,
                             double *d);

/**
 * The name of a state, input or output of the last linear model of `biela_linearize`; `part` is a `biela_linear_part`.
 * `*name` is UTF-8 and valid until the next call of `biela_linearize` or `biela_linear_name`, or until the instance is
 * freed. On failure it is unchanged.
 *
 * # Safety
 * `instance` is NULL or a live handle; `name` is NULL or points to one pointer.
 */
biela_status biela_linear_name(biela_instance *instance,
                               uint32_t part,
                               size_t index,
                               const char **name);

/**
 * Saves the present state into `*state`. Where `*state` is NULL a new state is made; otherwise the state it
 * holds is overwritten, without allocating if it came from the same model. On failure `*state` is
 * unchanged. Set `*state = NULL` before the first call, and end it with `biela_state_free`.
 *
 * # Safety
 * `instance` is NULL or a live handle; `state` is NULL or points to NULL or to a live handle.
 */
biela_status biela_state_save(biela_instance *instance,
                              biela_state **state);

/**
 * Goes back to a saved state of the same model: what follows gives the same bits as it did then. The state
 * stays valid and may be restored again. On failure the instance is unchanged.
 *
 * # Safety
 * `instance` and `state` are NULL or live handles.
 */
biela_status biela_state_restore(biela_instance *instance,
                                 biela_state *state);

/**
 * The number of bytes that `biela_state_serialize` writes for this state.
 *
 * # Safety
 * `instance` and `state` are NULL or live handles; `size` is NULL or points to one number.
 */
biela_status biela_state_serialized_size(biela_instance *instance,
                                         biela_state *state,
                                         size_t *size);

/**
 * Writes a state as bytes, for a file or another process: with a version and a checksum, the same on
 * every machine, exact. `size` is what `biela_state_serialized_size` says; with less, nothing is written.
 *
 * # Safety
 * `instance` and `state` are NULL or live handles; `bytes` holds `size` bytes.
 */
biela_status biela_state_serialize(biela_instance *instance,
                                   biela_state *state,
                                   uint8_t *bytes,
                                   size_t size);

/**
 * Makes a state from bytes that `biela_state_serialize` wrote, of this instance or of any other of the same
 * model, in this process or another. `size` is the exact number of bytes. Bytes that are foreign, cut or
 * damaged are refused with `BIELA_STATUS_ERROR_STATE`.
 *
 * Where `*state` is NULL a new state is made; otherwise the one it holds is overwritten. On failure `*state`
 * is unchanged. The instance does not change: restore the state to go there.
 *
 * # Safety
 * `instance` is NULL or a live handle; `bytes` holds `size` bytes; `state` is NULL or points to NULL or to a
 * live handle.
 */
biela_status biela_state_deserialize(biela_instance *instance,
                                     const uint8_t *bytes,
                                     size_t size,
                                     biela_state **state);

/**
 * Ends a saved state; its instance need not live any more. NULL is allowed and does nothing. While a call
 * uses the state it is not freed and the answer is `BIELA_STATUS_BUSY`; sentences are with
 * `biela_last_error(NULL)`.
 *
 * # Safety
 * `state` is NULL or a live handle.
 */
biela_status biela_state_free(biela_state *state);

/**
 * Zeroes the struct and sets its `struct_size`. Call it with `sizeof(biela_counters)` of your header.
 *
 * # Safety
 * `counters` is NULL or points to `struct_size` bytes.
 */
biela_status biela_counters_default(biela_counters *counters,
                                    size_t struct_size);

/**
 * Counters since the start; on failure `*counters` is unchanged.
 *
 * # Safety
 * `instance` is NULL or a live handle; `counters` is NULL or points to a struct whose `struct_size` is set.
 */
biela_status biela_statistics(biela_instance *instance,
                              biela_counters *counters);

/**
 * Turns error bars on, as `error_bars = true` in `[solver]` does: a companion run, a hundred times looser, goes along, and every
 * output gets a variable `<output>.error`. Legal before `biela_initialize`. Variables are then counted again: error bars come
 * behind inputs, outputs and parameters. The values of all other variables keep their bits.
 *
 * # Safety
 * `instance` is NULL or a live handle.
 */
biela_status biela_use_error_bars(biela_instance *instance);

/**
 * What the error bars say as a whole. Each result may be NULL:
 * - `worst`: the largest error bar over the range of its output; INFINITY if the companion run has stopped.
 * - `event_time`: the largest difference of the times of an event (s), the bar in time of values that jump.
 * - `undetermined_after`: time from which on an output is not determined (s), its bar being more than a tenth of its range;
 *   INFINITY if all are.
 * - `accuracy_kept`: 1 if `worst` is within the `accuracy` of the model or it asks for none, else 0.
 *
 * Without error bars it is `BIELA_STATUS_ERROR_CALL_ORDER`.
 *
 * # Safety
 * `instance` is NULL or a live handle; each result is NULL or points to one element.
 */
biela_status biela_error_bars(biela_instance *instance,
                              double *worst,
                              double *event_time,
                              double *undetermined_after,
                              int32_t *accuracy_kept);

/**
 * From now on messages up to `level` (a `biela_log_level`) go to `callback`, with `user` handed through;
 * NULL: none are made. It stays through resets and restores, until it is replaced or the instance freed.
 * Without a logger, and for messages above its level, nothing is composed and nothing allocated.
 *
 * # Safety
 * `instance` is NULL or a live handle; `callback` is NULL or may be called with `user` on every thread that
 * calls this instance, as long as it is set.
 */
biela_status biela_set_logger(biela_instance *instance,
                              biela_log_callback callback,
                              void *user,
                              int level);

/**
 * Zeroes the struct and sets its `struct_size`. Call it with `sizeof(biela_system_definition)` of your header.
 *
 * # Safety
 * `definition` is NULL or points to `struct_size` bytes.
 */
biela_status biela_system_definition_default(biela_system_definition *definition,
                                             size_t struct_size);

/**
 * Makes an instance of a user-defined system. Its variables are the inputs, q1 .., v1 .., a1 .., lambda1 .. as outputs,
 * energies where `energy` is given, and the parameters. All other functions work on it as on any instance.
 *
 * `*out` is the new instance, or NULL on failure; `biela_last_error(NULL)` on the same thread then has the
 * sentence. End the instance with `biela_instance_free`.
 *
 * # Safety
 * `definition` is NULL or points to a struct whose `struct_size` is set, with arrays as long as it says, names that are
 * NUL-terminated, functions that do what it says, and a `user` that any thread may use; `out` is NULL or
 * points to one handle.
 */
biela_status biela_system_new(const biela_system_definition *definition,
                              biela_instance **out);

/**
 * The last answer other than 0 that a function of the system gave in a call that failed because of it; 0 if there was
 * none since the instance was made or reset.
 *
 * # Safety
 * `instance` is NULL or a live handle made by `biela_system_new`; `answer` is NULL or points to one number.
 */
biela_status biela_system_answer(biela_instance *instance,
                                 int32_t *answer);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* BIELA_H */
