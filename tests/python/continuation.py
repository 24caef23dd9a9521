"""What follows a saved state has the same bits, at random points, in the same instance and, as bytes, in a fresh process.
Argument: {units: [..], points, steps, h, seed}; a second argument is a file of states to go on from (the fresh process)."""
import json
import random
import subprocess
import sys
import tempfile

from units import Unit, staircase, task


def advance(unit, made, k, h, time):
    for name in unit.inputs:
        unit.set(made, name, staircase(k))
    step = (k + 1) * h - time
    unit.step(made, time, step)
    return time + step


def follow(unit, made, k, time, steps, h):
    rows = []
    for j in range(k, k + steps):
        time = advance(unit, made, j, h, time)
        rows.append([x.hex() for x in unit.get(made, unit.outputs)])
    return rows


def first(unit, t, random_numbers):
    """States at random points with what followed each."""
    h, kept = t["h"], []
    points = sorted(random_numbers.sample(range(t["steps"]), t["points"]))
    made = unit.make()
    unit.start(made)
    time, states = 0.0, []
    for k in range(t["steps"]):
        if k in points:
            # Also right after an input was set: what is due must be in the state.
            for name in unit.inputs:
                unit.set(made, name, staircase(k + 5))
            state = unit.save(made)
            states.append((k, time, state))
            kept.append({"k": k, "time": time, "raw": bytes(unit.serialize(made, state)).hex()})
            kept[-1]["rows"] = follow(unit, made, k, time, 10, h)
            unit.restore(made, state)
        time = advance(unit, made, k, h, time)
    random_numbers.shuffle(states)
    for k, time, state in states:
        unit.restore(made, state)
        rows = follow(unit, made, k, time, 10, h)
        expected = next(x["rows"] for x in kept if x["k"] == k)
        assert rows == expected, f"{unit.path}: step {k} is not repeated"
        unit.free(made, state)
    made.freeInstance()
    return kept


def second(path, states, h):
    """In a fresh process, from bytes."""
    with Unit(path) as unit:
        for kept in states:
            made = unit.make()
            unit.start(made)
            state = unit.deserialize(made, bytes.fromhex(kept["raw"]))
            unit.restore(made, state)
            rows = follow(unit, made, kept["k"], kept["time"], 10, h)
            assert rows == kept["rows"], f"{path}: step {kept['k']} does not go on from its bytes"
            unit.free(made, state)
            made.freeInstance()


t = task()
if len(sys.argv) > 2:
    with open(sys.argv[2]) as file:
        for path, states in json.load(file).items():
            second(path, states, t["h"])
else:
    numbers, all_states = random.Random(t["seed"]), {}
    for path in t["units"]:
        with Unit(path) as unit:
            all_states[path] = first(unit, t, numbers)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(all_states, file)
        file.flush()
        subprocess.run([sys.executable, __file__, sys.argv[1], file.name], check=True)
    print("ok")
