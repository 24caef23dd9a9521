/* A pip-installed robot in a C host, in ten lines: it falls, and the angle of its elbow is printed. arm.c holds it by a torque. */
#include <biela.h>
#include <stdio.h>
int main(void) {
    biela_instance *arm; uint32_t elbow; double q;
    if (biela_instance_new_from_file("ur5.toml", &arm) || biela_variable_find(arm, "elbow_joint_position", &elbow)) return 1;
    biela_initialize(arm, 0.0, 1.0, 0.0);
    for (int k = 0; k < 10 && !biela_step(arm, 0.1 * k, 0.1, NULL) && !biela_get_real(arm, &elbow, 1, &q); k++)
        printf("%.1f,%.6f\n", 0.1 * (k + 1), q);
    biela_instance_free(arm);
}
