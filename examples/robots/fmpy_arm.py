"""A pip-installed robot as an FMU in FMPy: an arm that falls against a damping torque.

    pip install example-robot-data fmpy
    biela import .../share/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf -o ur5.toml
    biela pack ur5.toml -o ur5.fmu
    python examples/robots/fmpy_arm.py ur5.fmu
"""
import sys

from fmpy import simulate_fmu

outputs = ["shoulder_lift_joint_position", "elbow_joint_position"]
result = simulate_fmu(sys.argv[1], stop_time=1.0, output_interval=0.1, output=outputs)
print(",".join(result.dtype.names))
for row in result:
    print(",".join(f"{value:.6f}" for value in row))
