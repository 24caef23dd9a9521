"""Linear models of `biela linearize` against SciPy's and NumPy's readers and against Pinocchio's derivatives of ABA.

    linear_models.py BIELA MODELS [STATES]

BIELA is the command, MODELS the folder of example models, STATES the number of random states (20). Prints one line for each
comparison and leaves with status 1 if one fails.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pinocchio as pin
import scipy.io

BIELA, MODELS = sys.argv[1], Path(sys.argv[2])
STATES = int(sys.argv[3]) if len(sys.argv) > 3 else 20
FOLDER = Path(tempfile.mkdtemp())
failures = 0


def expect(what, off, bound):
    global failures
    failures += not off <= bound
    print(f"{'ok  ' if off <= bound else 'FAIL'} {what}: {off:.1e} (bound {bound:.0e})")


def linearize(model, *more):
    run = subprocess.run([BIELA, "linearize", str(model), *more], capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{model}: {run.stderr}")
    return run.stdout


def formats(path):
    """The same numbers and names in every format, and the same poles in the descriptor form."""
    text = json.loads(linearize(path, "--descriptor"))
    mat, npz = FOLDER / "m.mat", FOLDER / "m.npz"
    linearize(path, "--format", "mat", "--descriptor", "--out", str(mat))
    linearize(path, "--format", "npz", "--descriptor", "--out", str(npz))
    m, n = scipy.io.loadmat(mat), np.load(npz)
    off = 0.0
    for key in "ABCDEF":
        a = np.array(text[key], dtype=float)
        for other in (m[key], n[key]):
            if a.size or other.size:
                off = max(off, np.abs(a - other).max() / max(1.0, np.abs(a).max()) if a.shape == other.shape else np.inf)
    for key in ("states", "inputs", "outputs", "z"):
        same = [str(x).rstrip() for x in m[key]] == text[key] and list(n[key]) == text[key]
        off = max(off, 0.0 if same else np.inf)
    expect(f"{path.stem}: formats", off, 1e-15)
    rows = [line.split(",") for line in linearize(path, "--format", "csv").splitlines()]
    table = np.array([[float(x) for x in row[1:]] for row in rows[1:]])
    a = np.array(text["A"], dtype=float)
    expect(f"{path.stem}: csv", np.abs(table[: len(a), : len(a)] - a).max() / np.abs(a).max(), 1e-14)
    return m


def body(name, inertia, pose, velocity):
    """A body with its centre of mass as origin; `velocity` is that of the frame in its own axes."""
    r, c = pose.rotation, pose.act(inertia.lever)
    w = r @ velocity.angular
    v = r @ (velocity.linear + np.cross(velocity.angular, inertia.lever))
    q = pin.Quaternion(r)
    i = inertia.inertia
    numbers = lambda xs: "[" + ", ".join(repr(float(x)) for x in xs) + "]"
    return (f'[[body]]\nname = "{name}"\nmass = {float(inertia.mass)!r}\n'
            f"inertia = {numbers([i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])}\n"
            f"position = {numbers(c)}\norientation = {numbers([q.w, q.x, q.y, q.z])}\n"
            f"velocity = {numbers(v)}\nangular_velocity = {numbers(w)}\n")


def text_of(model, data, torque, base):
    """The mechanism at the state of `data` as a Biela model."""
    text = 'format = 1\nname = "m"\ngravity = [0.0, 0.0, -9.81]\n'
    first = 2 if base else 1
    for k in range(1, model.njoints):
        text += body(f"b{k}", model.inertias[k], data.oMi[k], data.v[k])
    for k in range(first, model.njoints):
        parent = model.parents[k]
        point = ", ".join(repr(float(x)) for x in data.oMi[k].translation)
        # Axis z of the joint frame.
        axis = ", ".join(repr(float(x)) for x in data.oMi[k].rotation[:, 2])
        text += (f'[[joint]]\nname = "j{k}"\ntype = "revolute"\nbodies = ["{f"b{parent}" if parent else "ground"}", "b{k}"]\n'
                 f"point = [{point}]\naxis = [{axis}]\n"
                 f'[[force]]\nname = "m{k}"\ntype = "actuator"\njoint = "j{k}"\n'
                 f'[[input]]\nname = "u{k}"\ntarget = "m{k}.torque"\nstart = {float(torque[k - first])!r}\n')
    return text


def random_inertia(rng, lever=True):
    a = rng.normal(size=(3, 3))
    # Second moments of a real body.
    moments = 0.01 * (a @ a.T + 0.5 * np.eye(3))
    tensor = np.trace(moments) * np.eye(3) - moments
    return pin.Inertia(rng.uniform(0.5, 3.0), 0.1 * rng.normal(size=3) if lever else np.zeros(3), tensor)


def arm(rng):
    model = pin.Model()
    parent = 0
    for k in range(7):
        place = pin.SE3(pin.SE3.Random().rotation, 0.4 * rng.normal(size=3))
        parent = model.addJoint(parent, pin.JointModelRZ(), place, f"j{k}")
        model.appendBodyToJoint(parent, random_inertia(rng), pin.SE3.Identity())
    return model


def quadruped(rng):
    model = pin.Model()
    base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(base, random_inertia(rng, lever=False), pin.SE3.Identity())
    for leg in range(4):
        parent = base
        for k in range(3):
            place = pin.SE3(pin.SE3.Random().rotation, 0.3 * rng.normal(size=3))
            parent = model.addJoint(parent, pin.JointModelRZ(), place, f"l{leg}{k}")
            model.appendBodyToJoint(parent, random_inertia(rng), pin.SE3.Identity())
    return model


def expected(model, data, q, v, torque, base):
    """A and B in Biela's coordinates: joints, then position and rotation vector of the base, both in ground axes."""
    n, first = model.nv, 6 if base else 0
    full = np.concatenate([np.zeros(first), torque])
    pin.computeABADerivatives(model, data, q, v, full)
    dq, dv, minv, a = data.ddq_dq, data.ddq_dv, np.array(data.Minv), data.ddq
    minv = np.triu(minv) + np.triu(minv, 1).T
    order = list(range(first, n)) + list(range(first))
    if not base:
        big = np.block([[np.zeros((n, n)), np.eye(n)], [dq, dv]])
        return big, np.vstack([np.zeros((n, n)), minv])
    r, vl, wl = data.oMi[1].rotation, v[:3], v[3:6]
    pdot, w = r @ vl, r @ wl
    pddot, alpha = r @ (a[:3] + np.cross(wl, vl)), r @ a[3:6]

    def accelerations(y, y_dot, u):
        shift, turn, joints = y[:3], y[3:6], y[6:]
        turn_dot = y_dot[3:6]
        dw = turn_dot - np.cross(w, turn)
        local = np.concatenate([r.T @ shift, r.T @ turn, joints])
        dvl = r.T @ (y_dot[:3] - np.cross(turn, pdot))
        dwl = r.T @ (dw - np.cross(turn, w))
        da = dq @ local + dv @ np.concatenate([dvl, dwl, y_dot[6:]]) + minv @ np.concatenate([np.zeros(6), u])
        dp = np.cross(turn, pddot) + r @ (da[:3] + np.cross(dwl, vl) + np.cross(wl, dvl))
        dalpha = np.cross(turn, alpha) + r @ da[3:6]
        return np.concatenate([dp, dalpha + np.cross(alpha, turn) + np.cross(w, turn_dot), da[6:]])

    zero, none = np.zeros(n), np.zeros(n - 6)
    eye, inputs = np.eye(n), np.eye(n - 6)
    a21 = np.column_stack([accelerations(e, zero, none) for e in eye])[np.ix_(order, order)]
    a22 = np.column_stack([accelerations(zero, e, none) for e in eye])[np.ix_(order, order)]
    b2 = np.column_stack([accelerations(zero, zero, e) for e in inputs])[order]
    return np.block([[np.zeros((n, n)), np.eye(n)], [a21, a22]]), np.vstack([np.zeros((n, n - 6)), b2])


def against_pinocchio(name, build, base):
    worst = {"A": 0.0, "B": 0.0}
    for seed in range(STATES):
        rng = np.random.default_rng(seed)
        pin.seed(seed)
        model = build(rng)
        data = model.createData()
        q = pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq)) if base else rng.uniform(-3, 3, model.nq)
        v, torque = rng.normal(size=model.nv), rng.normal(size=model.nv - (6 if base else 0))
        pin.forwardKinematics(model, data, q, v)
        path = FOLDER / f"{name}.toml"
        path.write_text(text_of(model, data, torque, base))
        found = json.loads(linearize(path))
        a, b = expected(model, data, q, v, torque, base)
        for key, matrix in (("A", a), ("B", b)):
            other = np.array(found[key], dtype=float)
            assert other.shape == matrix.shape, (found["states"], other.shape, matrix.shape)
            worst[key] = max(worst[key], np.abs(other - matrix).max() / np.abs(matrix).max())
    for key, off in worst.items():
        expect(f"{name}: {key} at {STATES} states", off, 1e-8)


for file in ("slider_crank", "quarter_car", "stewart"):
    formats(MODELS / f"{file}.toml")
against_pinocchio("arm", arm, False)
against_pinocchio("quadruped", quadruped, True)
raise SystemExit(1 if failures else 0)
