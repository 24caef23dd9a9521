/* Equilibrium and linear model from C. A rod on a pin, J = 0.35 kg m^2 about it, m g l = 4.905 N m, with a motor:
 * J q'' = u - m g l cos(q), so that it rests at q = -pi/2, where A = [0 1; -m g l / J 0], B = [0; 1/J]. */
#include "check.h"

#include <math.h>

static const char ROD[] =
    "format = 1\nname = \"rod\"\ndimension = 2\ngravity = [0.0, -9.81]\n"
    "[[body]]\nname = \"rod\"\nmass = 1.0\ninertia = 0.1\nposition = [0.5, 0.0]\n"
    "[[joint]]\nname = \"pin\"\ntype = \"revolute\"\nbodies = [\"ground\", \"rod\"]\npoint = [0.0, 0.0]\n"
    "[[force]]\nname = \"motor\"\ntype = \"actuator\"\njoint = \"pin\"\n"
    "[[input]]\nname = \"u\"\ntarget = \"motor.torque\"\n"
    "[[output]]\nname = \"angle\"\nsource = \"pin.position\"\n"
    "[[output]]\nname = \"acceleration\"\nsource = \"pin.acceleration\"\n";
static const char STONE[] =
    "format = 1\nname = \"stone\"\ndimension = 2\ngravity = [0.0, -9.81]\n"
    "[[body]]\nname = \"stone\"\nmass = 1.0\ninertia = 0.1\n";

enum { U, ANGLE, ACCELERATION };

static int near(double x, double y)
{
    if (fabs(x - y) <= 1e-11 * fmax(1.0, fabs(y))) {
        return 1;
    }
    fprintf(stderr, "%.17g is not %.17g\n", x, y);
    return 0;
}

static void rest(biela_instance *rod)
{
    MUST(rod, biela_initialize(rod, 0.0, INFINITY, 0.0));
    MUST(rod, biela_equilibrium(rod));
    const uint32_t references[2] = {ANGLE, ACCELERATION};
    double values[2] = {NAN, NAN};
    MUST(rod, biela_get_real(rod, references, 2, values));
    EXPECT(near(values[0], -acos(0.0)) && near(values[1], 0.0));
}

static void linear_model(biela_instance *rod)
{
    const double stiffness = 4.905 / 0.35;
    const snapshot before = look(rod);
    size_t sizes[3] = {7, 7, 7};
    MUST(rod, biela_linearize(rod, sizes, NULL, NULL, NULL, NULL));
    EXPECT(sizes[0] == 2 && sizes[1] == 1 && sizes[2] == 2);
    double a[4], b[2], c[4], d[2];
    MUST(rod, biela_linearize(rod, sizes, a, b, c, d));
    EXPECT(near(a[0], 0.0) && near(a[1], 1.0) && near(a[2], -stiffness) && near(a[3], 0.0));
    EXPECT(near(b[0], 0.0) && near(b[1], 1.0 / 0.35));
    EXPECT(near(c[0], 1.0) && near(c[1], 0.0) && near(c[2], -stiffness) && near(c[3], 0.0));
    EXPECT(near(d[0], 0.0) && near(d[1], 1.0 / 0.35));
    const char *name = NULL;
    MUST(rod, biela_linear_name(rod, BIELA_LINEAR_PART_STATE, 1, &name));
    EXPECT(strcmp(name, "pin.speed") == 0);
    MUST(rod, biela_linear_name(rod, BIELA_LINEAR_PART_INPUT, 0, &name));
    EXPECT(strcmp(name, "u") == 0);
    MUST(rod, biela_linear_name(rod, BIELA_LINEAR_PART_OUTPUT, 1, &name));
    EXPECT(strcmp(name, "acceleration") == 0);
    const snapshot after = look(rod);
    EXPECT(same(&before, &after));
    /* Wrong sizes touch nothing. */
    sizes[0] = 4;
    a[0] = 7.0;
    REFUSED(rod, biela_linearize(rod, sizes, a, NULL, NULL, NULL), BIELA_STATUS_ERROR_ARGUMENT, "states");
    EXPECT(a[0] == 7.0);
}

int main(void)
{
    biela_instance *rod = NULL, *stone = NULL;
    MUST(NULL, biela_instance_new_from_string(ROD, strlen(ROD), NULL, &rod));
    rest(rod);
    linear_model(rod);
    /* It stays there. */
    MUST(rod, biela_step(rod, 0.0, 1.0, NULL));
    const uint32_t angle = ANGLE;
    double value = NAN;
    MUST(rod, biela_get_real(rod, &angle, 1, &value));
    EXPECT(near(value, -acos(0.0)));
    MUST(NULL, biela_instance_new_from_string(STONE, strlen(STONE), NULL, &stone));
    MUST(stone, biela_initialize(stone, 0.0, INFINITY, 0.0));
    EXPECT(biela_equilibrium(stone) != BIELA_STATUS_OK && strstr(biela_last_error(stone), "stone.y"));
    MUST(NULL, biela_instance_free(rod));
    MUST(NULL, biela_instance_free(stone));
    return finish();
}
