"""A packed slider-crank driven through FMPy: a speed controller at the communication points, and a step taken twice.

    biela pack models/slider_crank.toml -o slider_crank.fmu
    pip install fmpy
    python examples/python/fmpy_slider_crank.py slider_crank.fmu
"""
import shutil
import sys

from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave

path = sys.argv[1]
description = read_model_description(path)
reference = {variable.name: variable.valueReference for variable in description.modelVariables}
folder = extract(path)

crank = FMU2Slave(guid=description.guid, unzipDirectory=folder, instanceName="crank",
                  modelIdentifier=description.coSimulation.modelIdentifier)
crank.instantiate()
crank.setReal([reference["slider_mass"]], [0.5])       # a parameter: before the start, or at any communication point
crank.setupExperiment(startTime=0.0)
crank.enterInitializationMode()
crank.exitInitializationMode()

wanted, gain, h = 12.0, 0.4, 0.05
print("time,crank_speed,tau")
for k in range(40):
    speed, = crank.getReal([reference["crank_speed"]])
    torque = gain * (wanted - speed)
    print(f"{k * h:.2f},{speed:.6f},{torque:.6f}")
    crank.setReal([reference["tau"]], [torque])

    if k == 20:                                        # try a step, go back, take it again: the same to the last bit
        state = crank.getFMUstate()
        crank.doStep(k * h, h)
        tried = crank.getReal([reference["crank_speed"]])
        crank.setFMUstate(state)
        crank.freeFMUstate(state)
    crank.doStep(k * h, h)
    if k == 20:
        assert crank.getReal([reference["crank_speed"]]) == tried

crank.terminate()
crank.freeInstance()
shutil.rmtree(folder)
