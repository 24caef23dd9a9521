"""One trajectory from every master, none of which may say a word: FMPy, HELICS and the hosts whose numbers come as files bit by bit, Ecos and libcosim,
which keep time in their own way, to 1e-9. Argument: a list of
{name, fmi2, fmi3, steps, h, constant, csv, strict, c2, c3, output}."""
import csv

from units import Unit, ecos, near, run, same, silent, staircase, task

TOLERANCE = 1e-9


def run_ecos(path, unit, steps, h, drive, values):
    ecospy = ecos()
    structure = ecospy.EcosSimulationStructure()
    structure.add_model("m", path)
    if values:
        structure.add_parameter_set("start", {f"m::{name}": value for name, value in values.items()})
    sim = ecospy.EcosSimulation(structure=structure, step_size=h)
    if values:
        sim.init(0, "start")
    else:
        sim.init(0)
    rows = [[sim.get_real("m::" + name) for name in unit.outputs]]
    for k in range(steps):
        for name in unit.inputs if drive else ():
            sim.set_real("m::" + name, drive(k))
        sim.step(1)
        rows.append([sim.get_real("m::" + name) for name in unit.outputs])
    sim.terminate()
    return rows


def run_libcosim(path, unit, steps, h, drive, values):
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
    from libcosimpy.CosimManipulator import CosimManipulator
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave
    log_output_level(CosimLogLevel.WARNING)
    execution = CosimExecution.from_step_size(round(h * 1e9))
    slave = CosimLocalSlave(fmu_path=path, instance_name="m")
    assert slave.ptr(), "libcosim did not load the unit"
    index = execution.add_local_slave(slave)
    for name, value in dict(values).items():
        execution.real_initial_value(index, unit.references[name], value)
    observer, manipulator = CosimObserver.create_last_value(), CosimManipulator.create_override()
    execution.add_observer(observer)
    execution.add_manipulator(manipulator)
    references = [unit.references[name] for name in unit.outputs]
    rows = []
    for k in range(steps):
        if drive:
            inputs = [unit.references[name] for name in unit.inputs]
            if inputs:
                manipulator.slave_real_values(index, inputs, [drive(k)] * len(inputs))
        assert execution.step(1), "a step failed in libcosim"
        rows.append(list(observer.last_real_values(index, references)))
    return rows


def run_helics(unit, steps, h, drive, values, name):
    import helics
    info = helics.helicsCreateFederateInfo()
    helics.helicsFederateInfoSetCoreTypeFromString(info, "inproc")
    helics.helicsFederateInfoSetCoreInitString(info, "--federates=1 --autobroker")
    helics.helicsFederateInfoSetTimeProperty(info, helics.HELICS_PROPERTY_TIME_PERIOD, h)
    federate = helics.helicsCreateValueFederate(name, info)
    double = helics.HELICS_DATA_TYPE_DOUBLE
    publications = [helics.helicsFederateRegisterGlobalPublication(federate, f"{name}/{o}", double, "")
                    for o in unit.outputs]
    drives = [helics.helicsFederateRegisterGlobalPublication(federate, f"{name}/{i}", double, "") for i in unit.inputs]
    inputs = [helics.helicsFederateRegisterSubscription(federate, f"{name}/{i}", "") for i in unit.inputs]
    helics.helicsFederateEnterExecutingMode(federate)
    made = unit.make()
    unit.start(made, values)
    rows, time = [unit.get(made, unit.outputs)], 0.0
    for k in range(steps):
        # What drives the unit goes through the federation: published now, granted and read at the next point.
        for publication in drives if drive else ():
            helics.helicsPublicationPublishDouble(publication, drive(k))
        granted = helics.helicsFederateRequestTime(federate, (k + 1) * h)
        assert abs(granted - (k + 1) * h) < 1e-6 * h + 1e-9
        for subscription, input_name in zip(inputs, unit.inputs) if drive else ():
            unit.set(made, input_name, helics.helicsInputGetDouble(subscription))
        step = (k + 1) * h - time
        unit.step(made, time, step)
        time += step
        rows.append(unit.get(made, unit.outputs))
        for publication, value in zip(publications, rows[-1]):
            helics.helicsPublicationPublishDouble(publication, value)
    made.terminate()
    made.freeInstance()
    helics.helicsFederateDisconnect(federate)
    helics.helicsFederateFree(federate)
    return rows


def read_csv(path, names):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    places = [rows[0].index(name) for name in names]
    return [[float(row[p]) for p in places] for row in rows[1:]]


def check(model):
    name, steps, h = model["name"], model["steps"], model["h"]
    with Unit(model["fmi2"]) as two, Unit(model["fmi3"]) as three:
        values = {i: model["constant"] for i in two.inputs}
        expected = read_csv(model["csv"], two.outputs)
        same(f"{name}: FMPy, FMI 2", expected, silent("FMPy, FMI 2", run, two, steps, h, None, values))
        same(f"{name}: FMPy, FMI 3", expected, silent("FMPy, FMI 3", run, three, steps, h, None, values))
        driven = run(two, steps, h, staircase)
        same(f"{name}: FMPy, FMI 3, driven", driven, run(three, steps, h, staircase))
        same(f"{name}: HELICS, FMI 2, driven", driven, silent("HELICS", run_helics, two, steps, h, staircase, {}, name + "2"))
        same(f"{name}: HELICS, FMI 3, driven", driven, silent("HELICS", run_helics, three, steps, h, staircase, {}, name + "3"))
        for key in ("c2", "c3"):
            if model.get(key):
                column = two.outputs.index(model["output"])
                found = [[float.fromhex(line.split()[1])] for line in open(model[key])]
                same(f"{name}: C host {key}", [[row[column]] for row in driven], found)
        worst = 0.0
        if model["strict"]:
            for unit, standard in ((two, 2), (three, 3)):
                what = f"{name}: Ecos, FMI {standard}"
                worst = max(worst, near(what, expected, silent(what, run_ecos, unit.path, unit, steps, h, None, values), TOLERANCE, two.sizes))
                what += ", driven"
                worst = max(worst, near(what, driven, silent(what, run_ecos, unit.path, unit, steps, h, staircase, {}), TOLERANCE, two.sizes))
            found = silent("libcosim", run_libcosim, two.path, two, steps, h, None, values)
            worst = max(worst, near(f"{name}: libcosim", expected[1:], found, TOLERANCE, two.sizes))
            found = silent("libcosim", run_libcosim, two.path, two, steps, h, staircase, {})
            worst = max(worst, near(f"{name}: libcosim, driven", driven[1:], found, TOLERANCE, two.sizes))
        print(f"{name}: {len(two.outputs)} outputs, {steps} steps, other clocks agree to {worst:.1e}", flush=True)


for each in task():
    check(each)
print("ok")
