"""Everything in examples/python/biela.py: what the example does not show, refusals, and functions that raise."""

import gc
import math
import sys

import biela

model = sys.argv[1]


def failing(action, kind=biela.Error):
    try:
        action()
    except kind as raised:
        return raised
    raise AssertionError(f"no {kind.__name__}")


# Creation, variables, refusals.
assert failing(lambda: biela.Instance("nowhere.toml")).status == "ERROR_FILE"
assert failing(lambda: biela.Instance(text="format = 2")).status == "ERROR_MODEL"
crank = biela.Instance(model)
assert crank.variables["tau"]["causality"] == "input" and crank.variables["tau"]["unit"] == "N.m"
assert crank.variables["slider_x"]["start"] is None and crank.variables["slider_x"]["description"] == "slider.x"
assert failing(lambda: crank.step(0.1)).status == "ERROR_CALL_ORDER"
crank.initialize(0.0, 10.0)
assert "did you mean" in str(failing(lambda: crank["tua"]))
assert failing(lambda: crank.set({"slider_x": 1.0})).status == "ERROR_NOT_SETTABLE"
assert failing(lambda: crank.set({"tau": math.nan})).status == "ERROR_ARGUMENT"

# Derivatives.
crank.set_extrapolation(0)
crank.set_derivatives({"tau": 1.0})
crank.step(0.25)
assert abs(crank["tau"] - 0.25) < 1e-12
assert abs(crank.derivatives(["slider_x"])[0] - crank["slider_v"]) < 1e-12
before = crank["pivot_fx"]
slope = crank.directional_derivative(["pivot_fx"], {"tau": 1.0})[0]
crank["tau"] = crank["tau"] + 1.0
assert abs(crank["pivot_fx"] - before - slope) < 1e-8 * (1.0 + abs(before))

# States, also as bytes and in another instance.
data = crank.serialize(crank.save())
twin = biela.Instance(text=open(model, encoding="utf-8").read())
state = twin.deserialize(data)
twin.restore(state)
names = [name for name, known in crank.variables.items()]
crank.step(0.1)
twin.step(0.1)
assert crank.get(names) == twin.get(names)
damaged = bytearray(data)
damaged[len(damaged) // 2] ^= 1
assert failing(lambda: twin.deserialize(bytes(damaged))).status == "ERROR_STATE"

# Messages and cancelling.
heard = []
twin.set_logger(lambda *message: heard.append(message), "debug")
twin.step(0.05)
assert heard and all(len(message) == 4 for message in heard)
twin.set_logger(None)
heard.clear()
twin.cancel()
assert failing(lambda: twin.step(0.05)).status == "CANCELLED" and not heard
twin.reset()
assert twin.time == 0.0 and twin.statistics["steps"] == 0
del crank, twin
state = None
gc.collect()


# A system of one's own: a pendulum that may refuse or break.
class Pendulum:
    refuses = breaks = math.inf

    def force(self, at):
        if at.time > self.breaks:
            raise ZeroDivisionError("the rod broke")
        if at.time > self.refuses:
            raise biela.NotHere
        return [at.u[0], -9.81]


rod = Pendulum()
pendulum = biela.System(
    q=[1.0, 0.0], v=[0.0, 0.0], weights=[1.0, 1.0], nc=1, inputs={"wind": 0.0}, flags=["constant_mass", "fixed_constraints"],
    mass_times=lambda at: at.a,
    force=rod.force,
    constraint=lambda at: [0.5 * (at.q[0] ** 2 + at.q[1] ** 2 - 1.0)],
    reaction_by_q=lambda at: [at.lambda_[0], 0.0, 0.0, at.lambda_[0]],
    energy=lambda at: [0.5 * (at.v[0] ** 2 + at.v[1] ** 2), 9.81 * at.q[1]],
)
pendulum.initialize()
pendulum.step(1.0)
assert abs(pendulum["energy.total"]) < 1e-4 and abs(math.hypot(*pendulum.get(["q1", "q2"])) - 1.0) < 1e-9
rod.refuses = 1.2
refused = failing(lambda: pendulum.step(1.0))
assert refused.status == "ERROR_CALLBACK" and '"force" answered 1' in str(refused) and pendulum.answer == 1
assert 1.19 < pendulum.time <= 1.2
rod.refuses, rod.breaks = math.inf, 1.5
assert "the rod broke" in str(failing(lambda: pendulum.step(1.0), ZeroDivisionError)) and pendulum.answer == -1
rod.breaks = math.inf
pendulum.step(0.5)
assert failing(lambda: biela.System(q=[0.0], mass=lambda at: [1.0])).status == "ERROR_ARGUMENT"
failing(lambda: biela.System(q=[0.0], force=lambda at: [0.0], weight=None), TypeError)
print("fine")
