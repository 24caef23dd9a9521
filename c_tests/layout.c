/* Enum numbers and struct layouts as C sees them, in the form of tests/abi/layout.txt. */
#include <biela.h>

#include <stdio.h>

#define NUMBER(name) printf("%s = %d\n", #name, (int)(name))
#define STRUCT(type) printf("%s: size %zu\n", #type, sizeof(type))
#define FIELD(type, field) printf("%s.%s: offset %zu, size %zu\n", #type, #field, offsetof(type, field), sizeof(((type *)0)->field))

int main(void)
{
    NUMBER(BIELA_ABI_VERSION);
    NUMBER(BIELA_STATUS_OK);
    NUMBER(BIELA_STATUS_ERROR_ARGUMENT);
    NUMBER(BIELA_STATUS_ERROR_MODEL);
    NUMBER(BIELA_STATUS_ERROR_FILE);
    NUMBER(BIELA_STATUS_ERROR_CALL_ORDER);
    NUMBER(BIELA_STATUS_ERROR_UNKNOWN_VARIABLE);
    NUMBER(BIELA_STATUS_ERROR_NOT_SETTABLE);
    NUMBER(BIELA_STATUS_ERROR_ASSEMBLY);
    NUMBER(BIELA_STATUS_ERROR_NUMERIC);
    NUMBER(BIELA_STATUS_ERROR_LIMIT);
    NUMBER(BIELA_STATUS_CANCELLED);
    NUMBER(BIELA_STATUS_ERROR_CALLBACK);
    NUMBER(BIELA_STATUS_ERROR_STATE);
    NUMBER(BIELA_STATUS_BUSY);
    NUMBER(BIELA_STATUS_PANIC);
    STRUCT(biela_status);
    NUMBER(BIELA_CAUSALITY_PARAMETER);
    NUMBER(BIELA_CAUSALITY_INPUT);
    NUMBER(BIELA_CAUSALITY_OUTPUT);
    STRUCT(biela_causality);
    STRUCT(biela_variable);
    FIELD(biela_variable, struct_size);
    FIELD(biela_variable, name);
    FIELD(biela_variable, unit);
    FIELD(biela_variable, causality);
    FIELD(biela_variable, has_start);
    FIELD(biela_variable, start);
    STRUCT(biela_counters);
    FIELD(biela_counters, struct_size);
    FIELD(biela_counters, steps);
    FIELD(biela_counters, rejected);
    FIELD(biela_counters, newton_failures);
    FIELD(biela_counters, newton_iterations);
    FIELD(biela_counters, residuals);
    FIELD(biela_counters, evaluations);
    FIELD(biela_counters, factorizations);
    FIELD(biela_counters, solves);
    FIELD(biela_counters, events);
    FIELD(biela_counters, smallest_step);
    FIELD(biela_counters, largest_step);
    FIELD(biela_counters, step_size);
    FIELD(biela_counters, error);
    FIELD(biela_counters, worst_error);
    FIELD(biela_counters, energy_drift);
    return 0;
}
