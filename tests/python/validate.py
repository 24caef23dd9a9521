"""FMPy's validation with the schema of the standard: no message at all. Argument: a list of archives."""
from fmpy.validation import validate_fmu

from units import task

problems = []
for path in task():
    problems += [f"{path}: {problem}" for problem in validate_fmu(path)]
assert not problems, "\n".join(problems)
print("ok")
