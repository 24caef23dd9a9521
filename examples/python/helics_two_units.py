"""Two units in a HELICS federation: the halves of a mechanism (models/coupled_crank.toml and models/coupled_cart.toml),
each in a federate of its own, exchange the forces of the bushing between them.

    biela pack models/coupled_crank.toml -o crank.fmu
    biela pack models/coupled_cart.toml -o cart.fmu
    pip install fmpy helics
    python examples/python/helics_two_units.py crank.fmu cart.fmu
"""
import shutil
import sys
import threading

import helics
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave

STEP, STOP = 0.002, 1.0


class Federate(threading.Thread):
    """One unit: publishes its end of the bushing and hears of the other one."""

    def __init__(self, name, path, output, hears, into, shows):
        super().__init__(name=name)
        description = read_model_description(path)
        self.reference = {variable.name: variable.valueReference for variable in description.modelVariables}
        self.folder = extract(path)
        self.unit = FMU2Slave(guid=description.guid, unzipDirectory=self.folder, instanceName=name,
                              modelIdentifier=description.coSimulation.modelIdentifier)
        self.output, self.into, self.shows = output, into, shows
        self.result = None

        info = helics.helicsCreateFederateInfo()
        helics.helicsFederateInfoSetCoreTypeFromString(info, "inproc")
        helics.helicsFederateInfoSetCoreInitString(info, "--broker=bushing")
        helics.helicsFederateInfoSetTimeProperty(info, helics.HELICS_PROPERTY_TIME_PERIOD, STEP)
        self.federate = helics.helicsCreateValueFederate(name, info)
        double = helics.HELICS_DATA_TYPE_DOUBLE
        self.publication = helics.helicsFederateRegisterGlobalPublication(self.federate, f"{name}/{output}", double, "N")
        self.subscription = helics.helicsFederateRegisterSubscription(self.federate, hears, "N")

    def get(self, name):
        return self.unit.getReal([self.reference[name]])[0]

    def run(self):
        unit = self.unit
        unit.instantiate()
        unit.setupExperiment(startTime=0.0)
        unit.enterInitializationMode()
        unit.exitInitializationMode()
        helics.helicsFederateEnterInitializingMode(self.federate)
        helics.helicsPublicationPublishDouble(self.publication, self.get(self.output))
        helics.helicsFederateEnterExecutingMode(self.federate)
        for k in range(round(STOP / STEP)):
            unit.setReal([self.reference[self.into]], [helics.helicsInputGetDouble(self.subscription)])
            unit.doStep(k * STEP, STEP)
            helics.helicsPublicationPublishDouble(self.publication, self.get(self.output))
            helics.helicsFederateRequestTime(self.federate, (k + 1) * STEP)
        self.result = self.get(self.shows)
        unit.terminate()
        unit.freeInstance()
        helics.helicsFederateDisconnect(self.federate)


broker = helics.helicsCreateBroker("inproc", "bushing", "--federates=2")
federates = [
    Federate("crank", sys.argv[1], "end_force", "cart/end_force", "pull", "slider_x"),
    Federate("cart", sys.argv[2], "end_force", "crank/end_force", "push", "cart_x"),
]
for federate in federates:
    federate.start()
for federate in federates:
    federate.join()
    shutil.rmtree(federate.folder)
    print(f"{federate.shows} = {federate.result:.6f}")
helics.helicsBrokerDisconnect(broker)
helics.helicsCloseLibrary()
