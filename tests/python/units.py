"""What the scripts beside this one share: a unit driven through FMPy, and comparisons that say what differs.

A driver counts time as the unit does: the next point is (k + 1) h, the step is what is missing to it, and time goes on by
exactly that. So hosts that use the same numbers get the same bits.
"""
import ctypes
import json
import os
import shutil
import sys
import tempfile


def staircase(k):
    """An input that changes at every communication point; all values are exact doubles."""
    return (k % 16 - 8) / 32.0


class Unit:
    """An unpacked unit of either standard."""

    def __init__(self, path):
        from fmpy import extract, read_model_description
        self.path = path
        self.description = read_model_description(path, validate=False)
        self.three = self.description.fmiVersion.startswith("3")
        self.folder = extract(path, unzipdir=tempfile.mkdtemp(prefix="biela_"))
        scalars = [v for v in self.description.modelVariables if not v.dimensions]
        self.references = {v.name: v.valueReference for v in scalars}
        self.outputs = [v.name for v in scalars if v.causality == "output"]
        # An energy balance is nothing but error: its size is not what it can be compared with, one joule is.
        balances = ("energy.balance", "energy.numerical")
        self.sizes = [1.0 if v.description in balances else 1e-12 for v in scalars if v.causality == "output"]
        self.inputs = [v.name for v in scalars if v.causality == "input"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def make(self, name="one"):
        arguments = dict(guid=self.description.guid, unzipDirectory=self.folder,
                         modelIdentifier=self.description.coSimulation.modelIdentifier, instanceName=name)
        if self.three:
            from fmpy.fmi3 import FMU3Slave
            made = FMU3Slave(**arguments)
        else:
            from fmpy.fmi2 import FMU2Slave
            made = FMU2Slave(**arguments)
        made.instantiate()
        return made

    def start(self, made, values=(), time=0.0, stop=None):
        for name, value in dict(values).items():
            self.set(made, name, value)
        if self.three:
            made.enterInitializationMode(startTime=time, stopTime=stop)
        else:
            made.setupExperiment(startTime=time, stopTime=stop)
            made.enterInitializationMode()
        made.exitInitializationMode()

    def set(self, made, name, value):
        call = made.setFloat64 if self.three else made.setReal
        call([self.references[name]], [value])

    def get(self, made, names):
        call = made.getFloat64 if self.three else made.getReal
        return [float(x) for x in call([self.references[n] for n in names])] if names else []

    def step(self, made, time, h):
        made.doStep(currentCommunicationPoint=time, communicationStepSize=h)

    def save(self, made):
        return made.getFMUState() if self.three else made.getFMUstate()

    def restore(self, made, state):
        (made.setFMUState if self.three else made.setFMUstate)(state)

    def free(self, made, state):
        (made.freeFMUState if self.three else made.freeFMUstate)(state)

    def serialize(self, made, state):
        return (made.serializeFMUState if self.three else made.serializeFMUstate)(state)

    def deserialize(self, made, raw):
        return (made.deserializeFMUState if self.three else made.deSerializeFMUstate)(raw)


def run(unit, steps, h, drive=None, values=()):
    """Rows of outputs at all communication points; `drive` gives each input's value for step k."""
    made = unit.make()
    # Where nothing changes, the last steps depend on the stop time: the solver may look ahead up to it.
    unit.start(made, values, stop=None if drive else steps * h)
    rows, time = [unit.get(made, unit.outputs)], 0.0
    for k in range(steps):
        for name in unit.inputs if drive else ():
            unit.set(made, name, drive(k))
        step = (k + 1) * h - time
        unit.step(made, time, step)
        time += step
        rows.append(unit.get(made, unit.outputs))
    made.terminate()
    made.freeInstance()
    return rows


# What Ecos 0.7.2 prints of every FMI 3 unit: it also looks for a function named placeholder_fmi3GetVersion.
OF_ECOS = ('Function "fmi3GetVersion" is not provided by this FMU.', "Loading FMI version 3...")
# What a unit says of its model, such as a start that does not fit the joints, is no complaint of the master.
OF_THE_MODEL = "category=logStatusWarning"


def silent(what, function, *arguments):
    """Runs a master and expects that neither it nor the unit has anything to say, in Python or below it."""
    sys.stdout.flush()
    kept = [os.dup(1), os.dup(2)]
    with tempfile.TemporaryFile() as heard:
        os.dup2(heard.fileno(), 1)
        os.dup2(heard.fileno(), 2)
        try:
            result = function(*arguments)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            ctypes.CDLL(None).fflush(None)
            for place, fd in enumerate(kept, 1):
                os.dup2(fd, place)
                os.close(fd)
            heard.seek(0)
            text = heard.read().decode(errors="replace")
            if sys.exc_info()[0]:
                print(text)
    lines = [line.strip() for line in text.splitlines()]
    said = [line for line in lines if line and line not in OF_ECOS and OF_THE_MODEL not in line]
    assert not said, f"{what} says: {said}"
    return result


def same(what, expected, found):
    """Bit by bit."""
    assert len(expected) == len(found), f"{what}: {len(found)} rows, not {len(expected)}"
    for k, (a, b) in enumerate(zip(expected, found)):
        assert [x.hex() for x in a] == [x.hex() for x in b], f"{what}, row {k}: {b} is not {a}"


def near(what, expected, found, tolerance, sizes):
    """Relative to the largest value of each output in the run, or to the size given if that is larger."""
    assert len(expected) == len(found), f"{what}: {len(found)} rows, not {len(expected)}"
    worst = 0.0
    for column in range(len(expected[0]) if expected else 0):
        size = max(max(abs(row[column]) for row in expected), sizes[column])
        for k, (a, b) in enumerate(zip(expected, found)):
            error = abs(a[column] - b[column]) / size
            assert error <= tolerance, f"{what}, row {k}, output {column}: {b[column]!r} is not {a[column]!r} ({error:.1e})"
            worst = max(worst, error)
    return worst


def ecos():
    """Ecos needs libtbb, which the wheel of that name brings."""
    tbb = os.path.join(sys.prefix, "lib", "libtbb.so.12")
    if os.path.exists(tbb):
        ctypes.CDLL(tbb, mode=ctypes.RTLD_GLOBAL)
    import ecospy
    ecospy.EcosLib.set_log_level("warn")
    return ecospy


def task():
    """What the test wants, as JSON in the first argument."""
    return json.loads(sys.argv[1])
