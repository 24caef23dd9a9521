/* A pip-installed robot in a C host: an arm whose elbow is held by a torque from outside.
 *
 *     biela import .../robots/ur_description/urdf/ur5_robot.urdf -o ur5.toml
 *     cc -Iinclude examples/robots/arm.c -Ltarget/release -lbiela -Wl,-rpath,target/release -lm -o arm
 *     ./arm ur5.toml elbow_joint
 */
#include <biela.h>

#include <math.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    biela_instance *arm = NULL;
    uint32_t torque, position, speed;
    char name[256];
    if (argc != 3 || biela_instance_new_from_file(argv[1], &arm) != BIELA_STATUS_OK) {
        fprintf(stderr, "usage: %s MODEL JOINT (%s)\n", argv[0], argc == 3 ? biela_last_error(NULL) : "two arguments");
        return 2;
    }
    snprintf(name, sizeof name, "%s_torque", argv[2]);
    biela_status status = biela_variable_find(arm, name, &torque);
    snprintf(name, sizeof name, "%s_position", argv[2]);
    status = status == BIELA_STATUS_OK ? biela_variable_find(arm, name, &position) : status;
    snprintf(name, sizeof name, "%s_speed", argv[2]);
    status = status == BIELA_STATUS_OK ? biela_variable_find(arm, name, &speed) : status;
    status = status == BIELA_STATUS_OK ? biela_initialize(arm, 0.0, INFINITY, 0.0) : status;
    const double interval = 0.005; /* s; a sampled controller needs short ones */
    for (int k = 0; k < 200 && status == BIELA_STATUS_OK; k++) {
        double q = 0.0, v = 0.0, reached = 0.0;
        biela_get_real(arm, &position, 1, &q);
        biela_get_real(arm, &speed, 1, &v);
        if (k % 20 == 0) {
            printf("%.1f,%.6f,%.6f\n", interval * k, q, v);
        }
        const double hold = -100.0 * q - 10.0 * v;
        biela_set_real(arm, &torque, 1, &hold);
        status = biela_step(arm, interval * k, interval, &reached);
    }
    if (status != BIELA_STATUS_OK) {
        fprintf(stderr, "%s\n", biela_last_error(arm));
    }
    biela_instance_free(arm);
    return status == BIELA_STATUS_OK ? 0 : 1;
}
