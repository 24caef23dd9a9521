"""Biela from Python: one file over ctypes, nothing to compile. Python 3.8 or later.

    import biela
    crank = biela.Instance("models/slider_crank.toml")
    crank.initialize()
    for k in range(40):
        crank["tau"] = 0.5
        crank.step(0.05)
        print(crank.time, crank["slider_x"])

The library is found by BIELA_LIBRARY, beside this file, in target/release of the repository, or where the system looks.
A call that fails raises biela.Error with the library's sentence. An instance is freed when it is no longer used.
"""

import ctypes
import ctypes.util
import os
import sys
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from pathlib import Path

__all__ = ["Instance", "System", "State", "Error", "NotHere", "version"]

_ABI = 1
STATUS = ("OK ERROR_ARGUMENT ERROR_MODEL ERROR_FILE ERROR_CALL_ORDER ERROR_UNKNOWN_VARIABLE ERROR_NOT_SETTABLE "
          "ERROR_ASSEMBLY ERROR_NUMERIC ERROR_LIMIT CANCELLED ERROR_CALLBACK ERROR_STATE BUSY PANIC ERROR_MEMORY").split()
_CAUSALITY = {1: "parameter", 2: "input", 3: "output", 4: "local"}
_LEVELS = {"error": 1, "warning": 2, "info": 3, "debug": 4}


class Error(Exception):
    """A call that failed: its text is the library's sentence, `status` the name of the status."""

    def __init__(self, status, sentence):
        super().__init__(sentence)
        self.status = STATUS[status] if 0 <= status < len(STATUS) else str(status)


class NotHere(Exception):
    """Raised by a function of a System where it does not exist: the solver tries a shorter step."""


# --- the library as C sees it -----------------------------------------------------------------------------------------


class _Variable(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("unit", c_char_p), ("causality", c_int),
                ("has_start", c_int32), ("start", c_double), ("description", c_char_p)]


class _Counters(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t)] + [
        (name, c_uint64) for name in ("steps rejected newton_failures newton_iterations residuals evaluations "
                                      "factorizations solves events").split()] + [
        (name, c_double) for name in "smallest_step largest_step step_size error worst_error energy_drift".split()] + [
        (name, c_uint64) for name in "steps_smooth steps_corrected steps_plain time_stepping".split()]


class _Point(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("time", c_double)] + [
        (name, POINTER(c_double)) for name in "q v a lambda u u_dot u_ddot p".split()] + [("modes", POINTER(c_int32))]


class _Reaction(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("kind", c_int32), ("restitution", c_double), ("slowest", c_double),
                ("gradient", POINTER(c_double))]


_Function = ctypes.CFUNCTYPE(c_int32, c_void_p, POINTER(_Point), POINTER(c_double))
_Events = ctypes.CFUNCTYPE(c_int32, c_void_p, POINTER(_Point), POINTER(c_double), POINTER(c_double))
_Crossing = ctypes.CFUNCTYPE(c_int32, c_void_p, POINTER(c_int32), c_size_t)
_Fire = ctypes.CFUNCTYPE(c_int32, c_void_p, POINTER(_Point), c_size_t, POINTER(c_int32), POINTER(_Reaction))
_Log = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_double, c_char_p)
_Doubles, _Words, _Names = POINTER(c_double), POINTER(c_uint32), POINTER(c_char_p)
_FUNCTIONS = ("mass mass_times force force_by_q force_by_v inertia_by_q reaction_by_q constraint jacobian "
              "constraint_rate convective energy power").split()


class _Definition(ctypes.Structure):
    _fields_ = ([("struct_size", c_size_t), ("user", c_void_p), ("release", c_void_p), ("name", c_char_p),
                 ("solver", c_char_p), ("flags", c_uint32)]
                + [(name, c_size_t) for name in "nq nv nc ne modes inputs parameters".split()]
                + [(name, _Doubles) for name in "q v weights constraint_scales input_starts parameter_starts".split()]
                + [(name + "_names", _Names) for name in "input parameter coordinate constraint event".split()]
                + [("tangent_count", c_size_t), ("tangent_rows", _Words), ("tangent_columns", _Words)]
                + [("jacobian_count", c_size_t), ("jacobian_rows", _Words), ("jacobian_columns", _Words)]
                + [(name, _Function) for name in _FUNCTIONS]
                + [(name, c_void_p) for name in "retract difference bracket tangent_inverse".split()]
                + [("events", _Events), ("crossing", _Crossing), ("fire", _Fire)]
                + [(name, c_void_p) for name in "hold active start_modes".split()])


_PROTOTYPES = {
    "biela_abi_version": (c_int, []),
    "biela_version": (c_char_p, []),
    "biela_last_error": (c_char_p, [c_void_p]),
    "biela_instance_new_from_file": (c_int, [c_char_p, POINTER(c_void_p)]),
    "biela_instance_new_from_string": (c_int, [c_char_p, c_size_t, c_char_p, POINTER(c_void_p)]),
    "biela_instance_free": (c_int, [c_void_p]),
    "biela_instance_reset": (c_int, [c_void_p]),
    "biela_initialize": (c_int, [c_void_p, c_double, c_double, c_double]),
    "biela_step": (c_int, [c_void_p, c_double, c_double, _Doubles]),
    "biela_time": (c_int, [c_void_p, _Doubles]),
    "biela_cancel": (c_int, [c_void_p]),
    "biela_variable_count": (c_int, [c_void_p, _Words]),
    "biela_variable_default": (c_int, [POINTER(_Variable), c_size_t]),
    "biela_variable_info": (c_int, [c_void_p, c_uint32, POINTER(_Variable)]),
    "biela_variable_find": (c_int, [c_void_p, c_char_p, _Words]),
    "biela_set_real": (c_int, [c_void_p, _Words, c_size_t, _Doubles]),
    "biela_get_real": (c_int, [c_void_p, _Words, c_size_t, _Doubles]),
    "biela_set_input_derivatives": (c_int, [c_void_p, _Words, _Words, c_size_t, _Doubles]),
    "biela_set_extrapolation": (c_int, [c_void_p, c_uint32]),
    "biela_get_output_derivatives": (c_int, [c_void_p, _Words, _Words, c_size_t, _Doubles]),
    "biela_directional_derivative": (c_int, [c_void_p, _Words, c_size_t, _Words, c_size_t, _Doubles, _Doubles]),
    "biela_equilibrium": (c_int, [c_void_p]),
    "biela_linearize": (c_int, [c_void_p, POINTER(c_size_t), _Doubles, _Doubles, _Doubles, _Doubles]),
    "biela_linear_name": (c_int, [c_void_p, c_uint32, c_size_t, POINTER(c_char_p)]),
    "biela_state_save": (c_int, [c_void_p, POINTER(c_void_p)]),
    "biela_state_restore": (c_int, [c_void_p, c_void_p]),
    "biela_state_free": (c_int, [c_void_p]),
    "biela_state_serialized_size": (c_int, [c_void_p, c_void_p, POINTER(c_size_t)]),
    "biela_state_serialize": (c_int, [c_void_p, c_void_p, POINTER(c_uint8), c_size_t]),
    "biela_state_deserialize": (c_int, [c_void_p, POINTER(c_uint8), c_size_t, POINTER(c_void_p)]),
    "biela_counters_default": (c_int, [POINTER(_Counters), c_size_t]),
    "biela_statistics": (c_int, [c_void_p, POINTER(_Counters)]),
    "biela_use_error_bars": (c_int, [c_void_p]),
    "biela_error_bars": (c_int, [c_void_p, POINTER(c_double), POINTER(c_double), POINTER(c_double), POINTER(c_int32)]),
    "biela_set_logger": (c_int, [c_void_p, _Log, c_void_p, c_int]),
    "biela_system_definition_default": (c_int, [POINTER(_Definition), c_size_t]),
    "biela_system_new": (c_int, [POINTER(_Definition), POINTER(c_void_p)]),
    "biela_system_answer": (c_int, [c_void_p, POINTER(c_int32)]),
}


def _load():
    name = {"win32": "biela.dll", "darwin": "libbiela.dylib"}.get(sys.platform, "libbiela.so")
    here = Path(__file__).resolve().parent
    tried = [os.environ.get("BIELA_LIBRARY"), here / name, here.parent.parent / "target" / "release" / name]
    found = [str(path) for path in tried if path and Path(path).is_file()] or [ctypes.util.find_library("biela") or name]
    library = ctypes.CDLL(found[0])
    for function, (result, arguments) in _PROTOTYPES.items():
        prototype = getattr(library, function)
        prototype.restype, prototype.argtypes = result, arguments
    if library.biela_abi_version() != _ABI:
        raise ImportError(f"{found[0]} has interface {library.biela_abi_version()}, this module needs {_ABI}")
    return library


_lib = _load()


def version():
    """Version of the library."""
    return _lib.biela_version().decode()


def _doubles(values):
    values = list(values)
    return (c_double * len(values))(*values)


def _words(values):
    values = list(values)
    return (c_uint32 * len(values))(*values)


def _check(status, handle=None):
    if status:
        raise Error(status, _lib.biela_last_error(handle).decode())


# --- instances --------------------------------------------------------------------------------------------------------


class State:
    """A saved state. It may outlive its instance."""

    def __init__(self, handle):
        self._handle = handle

    def __del__(self):
        if _lib is not None:
            _lib.biela_state_free(self._handle)


class Instance:
    """A mechanism that can be driven, from a model file or, with `text=`, from the text of one."""

    def __init__(self, path=None, *, text=None, base_dir=None):
        self._handle, self._kept, self._raised = c_void_p(), [], None
        if text is None:
            _check(_lib.biela_instance_new_from_file(os.fsencode(path), byref(self._handle)))
        else:
            data = text.encode()
            directory = None if base_dir is None else os.fsencode(base_dir)
            _check(_lib.biela_instance_new_from_string(data, len(data), directory, byref(self._handle)))
        self._learn()

    def _learn(self):
        count = c_uint32()
        self._call("biela_variable_count", byref(count))
        self.variables = {}  #: name -> dictionary with reference, unit, causality, start, description
        for reference in range(count.value):
            told = _Variable()
            self._call_plain("biela_variable_default", byref(told), ctypes.sizeof(told))
            self._call("biela_variable_info", reference, byref(told))
            self.variables[told.name.decode()] = {
                "reference": reference, "unit": told.unit.decode(), "causality": _CAUSALITY[told.causality],
                "start": told.start if told.has_start else None, "description": told.description.decode()}

    def __del__(self):
        if _lib is not None and getattr(self, "_handle", None):
            _lib.biela_instance_free(self._handle)

    def _call_plain(self, function, *arguments):
        _check(getattr(_lib, function)(*arguments))

    def _call(self, function, *arguments):
        status = getattr(_lib, function)(self._handle, *arguments)
        raised, self._raised = self._raised, None
        if status and raised is not None:
            raise raised  # what a function of the system raised comes out of the call that asked for it
        _check(status, self._handle)

    def find(self, name):
        """Value reference of a variable."""
        known = self.variables.get(name)
        if known is None:  # the library knows the nearest name
            self._call("biela_variable_find", name.encode(), byref(c_uint32()))
        return known["reference"]

    def _references(self, names):
        return _words(self.find(name) for name in names)

    def initialize(self, start=0.0, stop=float("inf"), tolerance=0.0):
        self._call("biela_initialize", start, stop, tolerance)

    def step(self, size, time=None):
        """One communication step. If it raises, `time` is where it got to."""
        self._call("biela_step", self.time if time is None else time, size, None)

    @property
    def time(self):
        time = c_double()
        self._call("biela_time", byref(time))
        return time.value

    def reset(self):
        self._call("biela_instance_reset")

    def cancel(self):
        """From any thread, while a step runs."""
        _check(_lib.biela_cancel(self._handle))

    def __getitem__(self, name):
        return self.get([name])[0]

    def __setitem__(self, name, value):
        self.set({name: value})

    def get(self, names):
        """Values of many variables."""
        references = self._references(names)
        values = (c_double * len(references))()
        self._call("biela_get_real", references, len(references), values)
        return list(values)

    def set(self, values):
        """Sets many inputs and parameters from a dictionary: all of them or, on failure, none."""
        references = self._references(values)
        self._call("biela_set_real", references, len(references), _doubles(values.values()))

    def set_derivatives(self, values, order=1):
        """Derivatives of inputs from now on, from a dictionary."""
        references = self._references(values)
        orders = _words([order] * len(references))
        self._call("biela_set_input_derivatives", references, orders, len(references), _doubles(values.values()))

    def set_extrapolation(self, order):
        self._call("biela_set_extrapolation", order)

    def derivatives(self, names, order=1):
        """Time derivatives of outputs."""
        references = self._references(names)
        values = (c_double * len(references))()
        self._call("biela_get_output_derivatives", references, _words([order] * len(references)), len(references), values)
        return list(values)

    def directional_derivative(self, unknowns, seed):
        """d unknowns / d knowns times the seed, a dictionary from knowns to numbers."""
        unknowns, knowns = self._references(unknowns), self._references(seed)
        values = (c_double * len(unknowns))()
        self._call("biela_directional_derivative", unknowns, len(unknowns), knowns, len(knowns),
                   _doubles(seed.values()), values)
        return list(values)

    def equilibrium(self):
        """Moves to the static equilibrium next to the present position, at rest."""
        self._call("biela_equilibrium")

    def linearize(self):
        """x' = A x + B u, y = C x + D u about the present point: a dictionary of names and matrices (lists of rows)."""
        sizes = (c_size_t * 3)()
        self._call("biela_linearize", sizes, None, None, None, None)
        n, m, p = sizes
        matrices = [(c_double * max(1, size))() for size in (n * n, n * m, p * n, p * m)]
        self._call("biela_linearize", sizes, *matrices)

        def names(part, count):
            name, found = c_char_p(), []
            for index in range(count):
                self._call("biela_linear_name", part, index, byref(name))
                found.append(name.value.decode())
            return found

        shapes = {"A": (n, n), "B": (n, m), "C": (p, n), "D": (p, m)}
        model = {key: [list(values[i * columns:(i + 1) * columns]) for i in range(rows)]
                 for (key, (rows, columns)), values in zip(shapes.items(), matrices)}
        return dict(model, states=names(0, n), inputs=names(1, m), outputs=names(2, p))

    def save(self):
        handle = c_void_p()
        self._call("biela_state_save", byref(handle))
        return State(handle)

    def restore(self, state):
        self._call("biela_state_restore", state._handle)

    def serialize(self, state):
        """A state as bytes, the same on every machine."""
        size = c_size_t()
        self._call("biela_state_serialized_size", state._handle, byref(size))
        room = (c_uint8 * size.value)()
        self._call("biela_state_serialize", state._handle, room, size.value)
        return bytes(room)

    def deserialize(self, data):
        handle = c_void_p()
        self._call("biela_state_deserialize", (c_uint8 * len(data)).from_buffer_copy(data), len(data), byref(handle))
        return State(handle)

    @property
    def statistics(self):
        """Counters as a dictionary."""
        counters = _Counters()
        self._call_plain("biela_counters_default", byref(counters), ctypes.sizeof(counters))
        self._call("biela_statistics", byref(counters))
        return {name: getattr(counters, name) for name, _ in _Counters._fields_[1:]}

    def use_error_bars(self):
        """A companion run states the error of every output as `<output>.error`. Before initialize."""
        self._call("biela_use_error_bars")

    def error_bars(self):
        """What the error bars say as a whole: worst, event_time, undetermined_after, accuracy_kept."""
        worst, event_time, undetermined, kept = c_double(), c_double(), c_double(), c_int32()
        self._call("biela_error_bars", byref(worst), byref(event_time), byref(undetermined), byref(kept))
        return {
            "worst": worst.value, "event_time": event_time.value, "undetermined_after": undetermined.value,
            "accuracy_kept": bool(kept.value),
        }

    def set_logger(self, sink, level="info"):
        """Messages up to the level go to sink(level, category, time, message); None ends that."""
        names = {number: name for name, number in _LEVELS.items()}

        def heard(_user, at, category, time, message):
            sink(names[at], category.decode(), time, message.decode())

        callback = _Log(heard) if sink else _Log()
        self._call("biela_set_logger", callback, None, _LEVELS[level] if sink else 0)
        self._log = callback


# --- systems of one's own ---------------------------------------------------------------------------------------------


class _At:
    """Where a function of a system is evaluated: time, and the sequences q, v, a, lambda_, u, p, modes it may depend on."""

    def __init__(self, point, counts):
        self.time = point.time
        for name, count in counts.items():
            field = getattr(point, name.rstrip("_"))
            setattr(self, name, field[:count] if field else [])


class System(Instance):
    """A system of your own, M a + G^T lambda = f, Phi = 0, as Python functions.

    Each function takes a point (at.time, at.q, at.v, at.a, at.lambda_, at.u, at.p, at.modes) and returns its numbers as a
    flat sequence: `mass_times` or `mass`, `force`, `constraint`, `jacobian`, ... as in biela_system_definition. `events`
    returns phi; `fire(at, event, modes)` may change the list `modes` and returns None or (restitution, slowest, gradient).
    Raising NotHere asks for a shorter step; any other exception stops and comes out of the call.
    """

    FLAGS = {"constant_mass": 1, "no_velocity_forces": 2, "fixed_constraints": 4, "linear": 8}

    def __init__(self, q, v=None, *, nc=0, ne=0, modes=0, inputs=(), parameters=None, weights=None, solver="",
                 name="system", flags=(), crossing=None, fire=None, events=None, **functions):
        self._handle, self._kept, self._raised = c_void_p(), [], None
        parameters, inputs = dict(parameters or {}), dict(inputs or {})
        n = len(q)
        counts = {"q": n, "v": n, "a": n, "lambda_": nc, "u": len(inputs), "p": len(parameters), "modes": modes}
        definition = _Definition()
        self._call_plain("biela_system_definition_default", byref(definition), ctypes.sizeof(definition))
        definition.name, definition.solver = name.encode(), solver.encode()
        definition.flags = sum(self.FLAGS[flag] for flag in flags)
        definition.nv, definition.nc, definition.ne, definition.modes = n, nc, ne, modes
        definition.inputs, definition.parameters = len(inputs), len(parameters)
        definition.q = _doubles(q)
        if v is not None:
            definition.v = _doubles(v)
        if weights is not None:
            definition.weights = _doubles(weights)
        for kind, values in (("input", inputs), ("parameter", parameters)):
            names = (c_char_p * len(values))(*[key.encode() for key in values])
            setattr(definition, kind + "_names", ctypes.cast(names, _Names))
            setattr(definition, kind + "_starts", _doubles(values.values()))
            self._kept.append(names)
        for key, function in functions.items():
            if key not in _FUNCTIONS:
                raise TypeError(f"a system has no function {key!r}: there are {', '.join(_FUNCTIONS)}, events, crossing, fire")
            setattr(definition, key, self._keep(_Function, self._numbers(function, counts)))
        if events:
            definition.events = self._keep(_Events, self._event_functions(events, counts))
        if crossing:
            answers = {"off": 0, "rising": 1, "falling": 2, "either": 3}
            definition.crossing = self._keep(
                _Crossing, lambda _user, at, event: self._guarded(lambda: answers[crossing(at[:modes], event)]))
        if fire:
            definition.fire = self._keep(_Fire, self._fire_function(fire, counts))
        _check(_lib.biela_system_new(byref(definition), byref(self._handle)))
        self._raised = None
        self._learn()

    @property
    def answer(self):
        answer = c_int32()
        self._call("biela_system_answer", byref(answer))
        return answer.value

    def _keep(self, kind, function):
        callback = kind(function)
        self._kept.append(callback)  # C holds no reference
        return callback

    def _guarded(self, action):
        try:
            return action() or 0
        except NotHere:
            return 1
        except BaseException as raised:  # nothing may pass through C
            self._raised = raised
            return -1

    def _numbers(self, function, counts):
        def call(_user, point, out):
            def action():
                for i, value in enumerate(function(_At(point[0], counts))):
                    out[i] = value
            return self._guarded(action)
        return call

    def _event_functions(self, events, counts):
        def call(_user, point, phi, _rate):
            def action():
                for i, value in enumerate(events(_At(point[0], counts))):
                    phi[i] = value
            return self._guarded(action)
        return call

    def _fire_function(self, fire, counts):
        def call(_user, point, event, modes, reaction):
            def action():
                changed = modes[:counts["modes"]] if counts["modes"] else []
                impact = fire(_At(point[0], counts), event, changed)
                for i, mode in enumerate(changed):
                    modes[i] = mode
                if impact is not None:
                    told = reaction[0]
                    told.kind, told.restitution, told.slowest = 1, impact[0], impact[1]
                    for i, value in enumerate(impact[2]):
                        told.gradient[i] = value
            return self._guarded(action)
        return call
