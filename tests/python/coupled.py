"""A mechanism cut in two, put together by Ecos and by libcosim: the error against the whole shrinks with the step, at
least nearly in proportion (inputs are held during a step: order one).
Argument: {crank, cart, whole: {output: value}, stop, steps: [..]}."""
import math

from units import Unit, ecos, task

CONNECTIONS = [("crank", "end_force", "cart", "push"), ("cart", "end_force", "crank", "pull")]


def run_ecos(paths, count, h, outputs):
    ecospy = ecos()
    structure = ecospy.EcosSimulationStructure()
    for name, path in paths.items():
        structure.add_model(name, path)
    for a, out, b, into in CONNECTIONS:
        structure.make_real_connection(f"{a}::{out}", f"{b}::{into}")
    sim = ecospy.EcosSimulation(structure=structure, step_size=h)
    sim.init(0)
    sim.step(count)
    found = {name: sim.get_real(f"{unit}::{name}") for unit, name in outputs}
    sim.terminate()
    return found


def run_libcosim(paths, count, h, outputs):
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave
    log_output_level(CosimLogLevel.FATAL)
    execution = CosimExecution.from_step_size(round(h * 1e9))
    index, references = {}, {}
    for name, path in paths.items():
        slave = CosimLocalSlave(fmu_path=path, instance_name=name)
        assert slave.ptr(), "libcosim did not load the unit"
        index[name] = execution.add_local_slave(slave)
        with Unit(path) as unit:
            references[name] = unit.references
    for a, out, b, into in CONNECTIONS:
        assert execution.connect_real_variables(index[a], references[a][out], index[b], references[b][into]) == 0
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer)
    assert execution.step(count), "a step failed in libcosim"
    return {name: observer.last_real_values(index[unit], [references[unit][name]])[0] for unit, name in outputs}


t = task()
outputs = [("crank", "slider_x"), ("crank", "slider_v"), ("cart", "cart_x"), ("cart", "cart_v"), ("cart", "bob_angle")]
whole = t["whole"]


def error(found):
    return math.sqrt(sum((found[name] - whole[name]) ** 2 for _, name in outputs))


def check(master, run, paths):
    errors = [error(run(paths, round(t["stop"] / h), h, outputs)) for h in t["steps"]]
    print(master, " ".join(f"{h:g}: {e:.2e}" for h, e in zip(t["steps"], errors)), flush=True)
    for (h, e), (finer, smaller) in zip(zip(t["steps"], errors), list(zip(t["steps"], errors))[1:]):
        order = math.log(e / smaller) / math.log(h / finer)
        assert order > 0.8, f"{master}: from h = {h} to {finer} the error goes from {e} to {smaller}: order {order:.2f}"
    size = math.sqrt(sum(whole[name] ** 2 for _, name in outputs))
    assert errors[-1] < 0.02 * size, f"{master}: {errors[-1]} is not small against {size}"


for standard in ("2", "3"):
    check("Ecos, FMI " + standard, run_ecos, {name: t[name + standard] for name in ("crank", "cart")})
check("libcosim", run_libcosim, {name: t[name + "2"] for name in ("crank", "cart")})
print("ok")
