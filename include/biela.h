/* Biela: mechanisms as components for co-simulation. The C interface.
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
 * What became of a call. Numbers are never reused; later versions may add some. Everything but
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
} biela_status;

/**
 * Who sets a variable.
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
} biela_causality;

/**
 * A mechanism that can be driven. Opaque; made by `biela_instance_new_...`, ended by `biela_instance_free`.
 *
 * An instance may be used from any thread, one call at a time: a call that finds another one running
 * returns `BIELA_STATUS_BUSY` and changes nothing. Only `biela_cancel` is allowed while a call runs.
 * Different instances never influence each other.
 */
typedef struct biela_instance biela_instance;

/**
 * A state of an instance, to go back to. Opaque; made by `biela_state_save`, ended by `biela_state_free`.
 *
 * It holds all that the future depends on: a run continued from a restored state gives the same bits. It may
 * outlive its instance and be restored into any instance of the same model, one call at a time.
 */
typedef struct biela_state biela_state;

/**
 * What `biela_variable_info` tells. Call `biela_variable_default` on it first.
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
} biela_variable;

/**
 * What `biela_statistics` tells: counters since the start. Call `biela_counters_default` on it first.
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
     * Attempts refused by the error estimate.
     */
    uint64_t rejected;
    /**
     * Attempts in which Newton's iteration did not converge.
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
} biela_counters;

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
 * Ends an instance and frees all that belongs to it: names and units given by `biela_variable_info`, and
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
 * Back to the beginning of its life: as just created, all variables at their start values, not
 * initialized. Mends an instance that has answered `BIELA_STATUS_PANIC`. Names and units already given by
 * `biela_variable_info` stay valid.
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
 * Sets `count` inputs or parameters; on failure none is set. Inputs hold from the instance's time on.
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

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* BIELA_H */
