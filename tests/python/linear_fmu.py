"""A, B, C, D of a linear model, built by FMPy from the directional derivatives of a unit at a point of its motion.

Argument: `units`, archives of one model; `steps` and `h` to the point; `states` with the outputs for each state and for its derivative,
`inputs`, `outputs`, and the matrices `A`, `B`, `C`, `D` of `biela linearize` there.
"""
from units import Unit, task


def columns(unit, made, unknowns, knowns):
    """∂unknowns/∂knowns by rows."""
    call = made.getDirectionalDerivative
    found = [call([unit.references[n] for n in unknowns], [unit.references[known]], [1.0]) for known in knowns]
    return [[float(column[i]) for column in found] for i in range(len(unknowns))]


given = task()
worst = 0.0
for path in given["units"]:
    with Unit(path) as unit:
        made = unit.make()
        unit.start(made)
        for k in range(given["steps"]):
            unit.step(made, k * given["h"], given["h"])
        states = [state for state, _ in given["states"]]
        rates = [rate for _, rate in given["states"]]
        built = {"A": columns(unit, made, rates, states), "B": columns(unit, made, rates, given["inputs"]),
                 "C": columns(unit, made, given["outputs"], states), "D": columns(unit, made, given["outputs"], given["inputs"])}
        made.terminate()
        made.freeInstance()
    for key, matrix in built.items():
        expected = given[key]
        scale = max([1.0] + [abs(x) for row in expected for x in row])
        off = max(abs(x - y) for row, other in zip(matrix, expected) for x, y in zip(row, other)) / scale
        assert len(matrix) == len(expected) and off < 1e-8, f"{path}: {key} is off by {off:.1e}: {matrix} {expected}"
        worst = max(worst, off)
print(f"ok, off by {worst:.1e}")
