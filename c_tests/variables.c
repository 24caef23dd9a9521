/* What C is told of variables: every field, dependencies included; an older header's struct gets its own fields only. */
#include "check.h"

#include <math.h>

/* biela_variable as the first header had it. */
typedef struct {
    size_t struct_size;
    const char *name;
    const char *unit;
    biela_causality causality;
    int32_t has_start;
    double start;
    double beyond; /* not the library's */
} first_variable;

static const char EXPOSED[] =
    "format = 1\nname = \"slide\"\ndimension = 2\ngravity = [0.0, -9.81]\nexpose = \"all\"\n"
    "[[body]]\nname = \"block\"\nmass = 2.0\ninertia = 1.0\n"
    "[[joint]]\nname = \"rail\"\ntype = \"prismatic\"\nbodies = [\"ground\", \"block\"]\npoint = [0.0, 0.0]\n"
    "axis = [1.0, 0.0]\n"
    "[[force]]\nname = \"motor\"\ntype = \"actuator\"\njoint = \"rail\"\n"
    "[[input]]\nname = \"push\"\ntarget = \"motor.force\"\nstart = 3.0\n"
    "[[parameter]]\nname = \"m\"\ntarget = \"block.mass\"\n";

static biela_variable info(biela_instance *instance, const char *name)
{
    biela_variable variable;
    uint32_t reference = 0;
    MUST(NULL, biela_variable_default(&variable, sizeof variable));
    MUST(instance, biela_variable_find(instance, name, &reference));
    MUST(instance, biela_variable_info(instance, reference, &variable));
    EXPECT(strcmp(variable.name, name) == 0);
    return variable;
}

int main(void)
{
    biela_instance *slide = NULL;
    MUST(NULL, biela_instance_new_from_string(EXPOSED, strlen(EXPOSED), NULL, &slide));
    uint32_t push = 99, m = 99;
    MUST(slide, biela_variable_find(slide, "push", &push));
    MUST(slide, biela_variable_find(slide, "m", &m));

    const biela_variable input = info(slide, "push");
    EXPECT(input.causality == BIELA_CAUSALITY_INPUT && input.variability == BIELA_VARIABILITY_CONTINUOUS);
    EXPECT(input.initial == BIELA_INITIAL_NONE && input.has_start == 1 && input.start == 3.0);
    EXPECT(input.has_min == 0 && input.has_max == 0 && input.dependency_count == 0 && input.dependencies == NULL);
    EXPECT(strcmp(input.unit, "N") == 0 && strcmp(input.description, "motor.force") == 0);

    const biela_variable parameter = info(slide, "m");
    EXPECT(parameter.causality == BIELA_CAUSALITY_PARAMETER && parameter.variability == BIELA_VARIABILITY_TUNABLE);
    EXPECT(parameter.initial == BIELA_INITIAL_EXACT && parameter.start == 2.0);
    EXPECT(parameter.has_min == 1 && parameter.min == 0.0 && parameter.has_max == 0);

    /* Shown because the model says so: position on nothing, acceleration on the push. */
    const biela_variable x = info(slide, "block.x"), a = info(slide, "rail.acceleration");
    EXPECT(x.causality == BIELA_CAUSALITY_LOCAL && x.initial == BIELA_INITIAL_CALCULATED && x.has_start == 0);
    EXPECT(x.dependency_count == 0 && x.initial_dependency_count == 0);
    EXPECT(a.dependency_count == 1 && a.dependencies && a.dependencies[0] == push);
    EXPECT(a.initial_dependency_count == 2 && a.initial_dependencies[0] == push && a.initial_dependencies[1] == m);
    EXPECT(info(slide, "solver.steps").variability == BIELA_VARIABILITY_DISCRETE);

    /* A host compiled with the first header. */
    first_variable old;
    memset(&old, 0, sizeof old);
    old.struct_size = offsetof(first_variable, beyond);
    old.beyond = 7.0;
    MUST(slide, biela_variable_info(slide, push, (biela_variable *)(void *)&old));
    EXPECT(strcmp(old.name, "push") == 0 && old.start == 3.0 && old.beyond == 7.0);
    EXPECT(old.struct_size == offsetof(first_variable, beyond));

    /* What was given stays through a reset. */
    MUST(slide, biela_instance_reset(slide));
    EXPECT(strcmp(a.name, "rail.acceleration") == 0 && a.dependencies[0] == push);
    MUST(NULL, biela_instance_free(slide));
    return finish();
}
