"""Biela beside Exudyn: CPU time at equal accuracy and for equal steps. Started by benches/peers.sh.

  peers.py BIELA [REPEATS] [PROBLEM ...]

Exudyn runs in this process, Biela as a child that answers requests (benches/peers.rs). Both are timed in turns in the same
minutes: in every round each setting of each program runs once, and the smallest CPU time of all rounds counts. What is timed is
Exudyn's SolveSystem (initialisation and steps, models built and assembled before) and Biela's elimination order, start and steps
(equations built before); nothing is written or watched then. Energies come from separate runs, looked at after every step.

Exudyn: generalised alpha, rho = 0.9, fixed steps (its step control halves on failures and knows no errors), modified Newton (its
default), one thread; each step size with every Newton tolerance in TOLERANCES, the best counts. Linear solver: dense for few bodies,
Eigen's sparse LU for many, Eigen's dense LU with full pivoting where rows are redundant.
"""
import math
import subprocess
import sys
import time
import warnings

# Names of parameters that the pinned version still takes.
warnings.filterwarnings("ignore", category=DeprecationWarning)

import exudyn as exu
import numpy as np
from exudyn.utilities import (
    LoadCoordinate,
    LoadMassProportional,
    MarkerBodyMass,
    MarkerBodyPosition,
    MarkerBodyRigid,
    MarkerNodeCoordinate,
    NodeRigidBody2D,
    ObjectGround,
    RevoluteJoint2D,
    RigidBody2D,
    RigidBodyInertia,
    SphericalJoint,
    SpringDamper,
)

G = 9.81
TOLERANCES = [1e-8, 1e-6, 1e-5, 1e-4]
SPARSE, DENSE, PIVOTED = (
    exu.LinearSolverType.EigenSparse,
    exu.LinearSolverType.EXUdense,
    exu.LinearSolverType.EigenDense,
)


class Plane:
    """Bodies of the plane by their centres of mass, joined by pins."""

    def __init__(self, gravity):
        self.container = exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.ground = self.mbs.AddObject(ObjectGround())
        self.gravity = gravity
        self.nodes, self.objects, self.mass, self.inertia, self.pose = [], [], [], [], []

    def body(self, mass, inertia, pose, velocity=(0, 0, 0)):
        node = self.mbs.AddNode(
            NodeRigidBody2D(referenceCoordinates=list(pose), initialVelocities=list(velocity))
        )
        self.nodes.append(node)
        self.objects.append(
            self.mbs.AddObject(RigidBody2D(nodeNumber=node, physicsMass=mass, physicsInertia=inertia))
        )
        if self.gravity:
            whole = self.mbs.AddMarker(MarkerBodyMass(bodyNumber=self.objects[-1]))
            self.mbs.AddLoad(LoadMassProportional(markerNumber=whole, loadVector=[0, -self.gravity, 0]))
        self.mass.append(mass)
        self.inertia.append(inertia)
        self.pose.append(pose)
        return len(self.objects) - 1

    def at(self, body, point):
        """A marker at a point of the drawing, fixed to a body or (None) to the ground."""
        if body is None:
            return self.mbs.AddMarker(MarkerBodyPosition(bodyNumber=self.ground, localPosition=[*point, 0]))
        x, y, angle = self.pose[body]
        c, s = math.cos(angle), math.sin(angle)
        dx, dy = point[0] - x, point[1] - y
        local = [c * dx + s * dy, c * dy - s * dx, 0]
        return self.mbs.AddMarker(MarkerBodyPosition(bodyNumber=self.objects[body], localPosition=local))

    def pin(self, first, second, point):
        self.mbs.AddObject(RevoluteJoint2D(markerNumbers=[self.at(first, point), self.at(second, point)]))

    def done(self):
        self.mbs.Assemble()
        self.mass, self.inertia = np.array(self.mass), np.array(self.inertia)
        return self

    def now(self):
        data = self.mbs.systemData
        # Displacements from the drawing.
        moved = data.GetODE2Coordinates().reshape(-1, 3)
        return np.array(self.pose) + moved, data.GetODE2Coordinates_t().reshape(-1, 3)

    def energy(self):
        q, v = self.now()
        kinetic = 0.5 * self.mass @ (v[:, 0] ** 2 + v[:, 1] ** 2) + 0.5 * self.inertia @ v[:, 2] ** 2
        return float(kinetic + self.gravity * self.mass @ q[:, 1])


class FourBars(Plane):
    """A row of n four-bars, upright, tips moving with 1 m/s."""

    end_time = 10.0

    def __init__(self, n):
        super().__init__(G)
        for k in range(n + 1):
            self.body(1.0, 1 / 12, (k, 0.5, math.pi / 2), (0.5, 0, -1.0))
        for k in range(n):
            self.body(1.0, 1 / 12, (k + 0.5, 1.0, 0.0), (1.0, 0, 0))
        for k in range(n + 1):
            self.pin(None, k, (k, 0.0))
        for k in range(n):
            self.pin(k, n + 1 + k, (k, 1.0))
            self.pin(k + 1, n + 1 + k, (k + 1, 1.0))
        self.n = n
        self.done()

    def error(self):
        tips = {2: (0.3284581115, 0.9445185382), 160: (0.1745087641, math.sqrt(1 - 0.1745087641**2))}
        q, _ = self.now()
        x, y = tips.get(self.n, (math.nan, math.nan))
        return math.hypot(2 * q[0, 0] - x, 2 * q[0, 1] - y)


class Andrews(Plane):
    """Andrews' squeezing mechanism with the data of the Test Set for IVP Solvers."""

    end_time = 0.03
    KNOWN = [15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948,
             0.5244099658805304, 0.5347301163226948, 1.048080741042263]

    def __init__(self):
        super().__init__(0.0)
        beta, theta, gamma, phi = -0.0617138900142764, 0.0, 0.4552798191630704, 0.2226683901658859
        delta, omega, epsilon = 0.4873649795438426, -0.2226683901658859, 1.2305474445498212
        a, b, c = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])

        def turned(angle, x, y):
            """x along the direction of the angle, y to its left."""
            return np.array([x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)])

        crank = turned(beta, 0.007, 0)
        meeting = crank - turned(beta + theta, 0.028, 0)
        five, seven = a + turned(delta, 0.04, 0), a + turned(epsilon, 0, -0.04)
        self.eye = (0.02, -0.018)
        spring = b + turned(gamma, *self.eye)
        bodies = [
            (0.04325, 2.194e-6, turned(beta, 0.00092, 0), beta),
            (0.00365, 4.410e-7, crank - turned(beta + theta, 0.0115, 0), beta + theta),
            (0.02373, 5.255e-6, b + turned(gamma, 0.01043, -0.01874), gamma),
            (0.00706, 5.667e-7, five + turned(phi + delta, 0, -(0.02 - 0.01421)), phi + delta),
            (0.07050, 1.169e-5, a + turned(delta, 0.02308, 0.00916), delta),
            (0.00706, 5.667e-7, seven + turned(omega + epsilon, 0.02 - 0.01421, 0), omega + epsilon),
            (0.05498, 1.912e-5, a + turned(epsilon, -0.00449, -0.01228), epsilon),
        ]
        for mass, inertia, point, angle in bodies:
            self.body(mass, inertia, (float(point[0]), float(point[1]), angle))
        joints = [(None, 0, (0, 0)), (0, 1, crank), (None, 2, b), (1, 2, meeting), (1, 3, meeting), (1, 5, meeting),
                  (None, 4, a), (None, 6, a), (3, 4, five), (5, 6, seven)]
        for first, second, point in joints:
            self.pin(first, second, [float(x) for x in point])
        angle = self.mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=self.nodes[0], coordinate=2))
        self.mbs.AddLoad(LoadCoordinate(markerNumber=angle, load=0.033))
        ends = [self.at(None, [float(x) for x in c]), self.at(2, [float(x) for x in spring])]
        self.mbs.AddObject(SpringDamper(markerNumbers=ends, referenceLength=0.07785, stiffness=4530.0, damping=0.0))
        self.done()

    def energy(self):
        return 0.0

    def error(self):
        t = self.now()[0][:, 2]
        angles = [t[0], t[1] - t[0], t[2], t[3] - t[4], t[4], t[5] - t[6], t[6]]
        return max(abs(x / r - 1) for x, r in zip(angles, self.KNOWN))


class Space:
    """Prisms along the axes, with Euler parameters."""

    def __init__(self):
        self.container = exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.ground = self.mbs.AddObject(ObjectGround())
        self.rods = []

    def rod(self, start, end, mass, width, velocity=(0, 0, 0), spin=(0, 0, 0)):
        start, end = np.array(start, float), np.array(end, float)
        length = np.linalg.norm(end - start)
        moments = np.full(3, mass * (length**2 + width**2) / 12)
        moments[np.argmax(abs(end - start))] = mass * width**2 / 6
        body = self.mbs.CreateRigidBody(
            inertia=RigidBodyInertia(mass=mass, inertiaTensor=np.diag(moments)),
            nodeType=exu.NodeType.RotationEulerParameters,
            referencePosition=list((start + end) / 2),
            initialVelocity=list(velocity),
            initialAngularVelocity=list(spin),
            gravity=[0, -G, 0],
        )
        self.rods.append((body, mass, moments))
        return body

    def energy(self):
        total, kind = 0.0, exu.OutputVariableType
        for body, mass, moments in self.rods:
            x, v, w = (
                self.mbs.GetObjectOutputBody(body, what, localPosition=[0, 0, 0])
                for what in (kind.Position, kind.Velocity, kind.AngularVelocityLocal)
            )
            total += 0.5 * mass * float(v @ v) + 0.5 * float(moments @ w**2) + mass * G * float(x[1])
        return total

    def error(self):
        return math.nan


class Bricard(Space):
    end_time = 10.0

    def __init__(self):
        super().__init__()
        points = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]
        axes = [(0, 1, 0), (0, 0, 1), (1, 0, 0)] * 2
        before = self.ground
        for k in range(5):
            body = self.rod(points[k], points[k + 1], 1.0, 0.1)
            self.mbs.CreateRevoluteJoint(bodyNumbers=[before, body], position=list(points[k]), axis=list(axes[k]))
            before = body
        self.mbs.CreateRevoluteJoint(bodyNumbers=[before, self.ground], position=list(points[5]), axis=list(axes[5]))
        self.mbs.Assemble()


class Chain(Space):
    end_time = 1.0

    def __init__(self, n):
        super().__init__()
        last = self.mbs.AddMarker(MarkerBodyRigid(bodyNumber=self.ground, localPosition=[0, 0, 0]))
        for k in range(n):
            middle = 0.1 * (k + 0.5)
            body = self.rod((0.1 * k, 0, 0), (0.1 * (k + 1), 0, 0), 0.1, 0.02, (0, 0, -middle), (0, 1.0, 0))
            near, far = (
                self.mbs.AddMarker(MarkerBodyRigid(bodyNumber=body, localPosition=[x, 0, 0])) for x in (-0.05, 0.05)
            )
            self.mbs.AddObject(SphericalJoint(markerNumbers=[last, near]))
            last = far
        self.mbs.Assemble()


class Result:
    """The smallest CPU time so far, and what a watched run has shown."""

    def __init__(self):
        self.cpu, self.steps, self.drift, self.error, self.fault = math.inf, 0, math.nan, math.nan, None


class Exudyn:
    def __init__(self, model, linear, step, tolerance):
        self.model, self.linear, self.step, self.tolerance = model, linear, step, tolerance
        self.name = f"Exudyn h={step:g} tol={tolerance:g}"
        self.family = f"Exudyn tol={tolerance:g}"
        self.result = Result()

    def solve(self, watch):
        model = self.model()
        settings = exu.SimulationSettings()
        time_integration = settings.timeIntegration
        time_integration.endTime = model.end_time
        time_integration.numberOfSteps = round(model.end_time / self.step)
        time_integration.verboseMode = 0
        time_integration.adaptiveStep = False
        time_integration.newton.relativeTolerance = self.tolerance
        time_integration.newton.useModifiedNewton = True
        time_integration.generalizedAlpha.spectralRadius = 0.9
        settings.linearSolver.solverType = self.linear
        settings.linearSolver.ignoreSingularJacobian = self.linear == PIVOTED
        settings.solution.file.write = False
        settings.parallel.numberOfThreads = 1
        seen = []
        if watch:
            def look(_mbs, _t):
                seen.append(model.energy())
                return True

            model.mbs.SetPreStepUserFunction(look)
        solver = exu.MainSolverImplicitSecondOrder()
        begin = time.process_time()
        good = solver.SolveSystem(model.mbs, settings)
        cpu = time.process_time() - begin
        result = self.result
        if not good:
            result.fault = "failed"
        elif watch:
            seen.append(model.energy())
            result.drift = max(abs(e - seen[0]) for e in seen)
            result.error = model.error()
            result.steps = time_integration.numberOfSteps
        else:
            result.cpu = min(result.cpu, cpu)


class Biela:
    child = None

    def __init__(self, problem, n, formulation, kind, value, corrector="auto"):
        self.request = f"{problem} {n} {formulation} {kind} {value:g} {corrector}"
        self.name = f"Biela {formulation} {kind}={value:g}" + ("" if corrector == "auto" else " plain HHT")
        self.family = f"Biela {formulation}"
        self.result = Result()

    def solve(self, watch):
        Biela.child.stdin.write(f"{self.request} {'watch' if watch else 'time'}\n")
        Biela.child.stdin.flush()
        state, *words = Biela.child.stdout.readline().split(" ", 4)
        if state != "ok":
            self.result.fault = " ".join(words).strip()
            return
        cpu, steps, drift, error = (float(word) for word in words)
        if watch:
            self.result.steps, self.result.drift, self.result.error = int(steps), drift, error
        else:
            self.result.cpu = min(self.result.cpu, cpu)


def measure(runs, repeats):
    """All runs watched once, then timed in turns."""
    # Exudyn's and Biela's runs alternate.
    first = [r for r in runs if isinstance(r, Exudyn)]
    second = [r for r in runs if isinstance(r, Biela)]
    order = [r for k in range(max(len(first), len(second))) for r in first[k : k + 1] + second[k : k + 1]]
    for run in order:
        run.solve(watch=True)
    for _ in range(repeats):
        for run in order:
            if run.result.fault is None:
                run.solve(watch=False)


def table(runs):
    print(f"  {'':<34}{'steps':>8}{'CPU ms':>10}{'us/step':>10}{'drift J':>12}{'error':>12}")
    for run in runs:
        r = run.result
        if r.fault:
            print(f"  {run.name:<34}  {r.fault}")
        else:
            per_step = 1e6 * r.cpu / r.steps
            print(f"  {run.name:<34}{int(r.steps):>8}{1e3 * r.cpu:>10.2f}{per_step:>10.1f}{r.drift:>12.2e}{r.error:>12.2e}")
    sys.stdout.flush()


def cost(runs, family, what, target):
    """CPU time at which a family of settings keeps what is asked for, between its neighbouring settings on logarithmic scales. Of
    several crossings the one beyond which all finer settings keep it."""
    points = [(getattr(r.result, what), r.result.cpu) for r in runs if r.family == family and r.result.fault is None]
    kept = None
    for value, cpu in reversed(points):
        if not value <= target:
            if kept is None:
                return math.nan
            (good, above), (bad, below) = kept, (value, cpu)
            part = math.log(bad / target) / math.log(bad / good)
            return math.exp(math.log(below) + part * (math.log(above) - math.log(below)))
        kept = (value, cpu)
    # Even the coarsest setting keeps it.
    return kept[1] if kept else math.nan


def families(runs, program):
    names = []
    for run in runs:
        if isinstance(run, program) and run.family not in names:
            names.append(run.family)
    return names


SUMMARY = []


def compare(title, runs, what, target, must, aim):
    costs = {f: cost(runs, f, what, target) for f in families(runs, Exudyn) + families(runs, Biela)}
    known = {f: c for f, c in costs.items() if not math.isnan(c)}
    exudyn = min(((c, f) for f, c in known.items() if f.startswith("Exudyn")), default=(math.nan, "-"))
    best = min(((c, f) for f, c in known.items() if f.startswith("Biela")), default=(math.nan, "-"))
    default = known.get("Biela auto", math.nan)
    print(f"  {title}")
    for f, c in costs.items():
        print(f"    {f:<32}{1e3 * c:>10.2f} ms{c / exudyn[0]:>9.3f} x")
    SUMMARY.append((title, exudyn[0], default, best[0], best[1].removeprefix("Biela "), must, aim))


def per_step(title, exudyn, biela, must, aim):
    """The same fixed step; of Exudyn's tolerances the fastest that does not lose accuracy."""
    good = [r for r in exudyn if r.result.fault is None and r.result.drift <= 1.2 * exudyn[0].result.drift]
    peer = min(good, key=lambda r: r.result.cpu, default=exudyn[0])
    own = {r.name: r for r in biela if r.result.fault is None}
    default = next((r for r in own.values() if r.family == "Biela auto" and "plain" not in r.name), None)
    best = min(own.values(), key=lambda r: r.result.cpu, default=None)
    for r in [peer, *own.values()]:
        print(f"    {title}: {r.name:<34}{r.result.cpu / peer.result.cpu:>9.3f} x at {r.result.drift:.1e} J")
    value = lambda r: r.result.cpu if r else math.nan
    SUMMARY.append((title, peer.result.cpu, value(default), value(best), best.name.removeprefix("Biela ") if best else "-", must, aim))


FORMULATIONS = ["auto", "absolute", "relative", "hybrid"]


def p1(repeats):
    print("P1  two four-bars in a row, 10 s")
    runs = [Exudyn(lambda: FourBars(2), DENSE, h, tol) for tol in TOLERANCES
            for h in (0.02, 0.01, 0.005, 0.002, 0.001, 0.0007)]
    runs += [Biela("P1", 2, f, "tolerance", tol) for f in FORMULATIONS
             for tol in (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6)]
    measure(runs, repeats)
    table(runs)
    compare("P1, drift 0.1 J", runs, "drift", 0.1, 0.1, 0.086)
    compare("P1, drift 0.001 J", runs, "drift", 0.001, 0.03, 0.018)


def p3(repeats):
    print("P3  Andrews' mechanism, 0.03 s")
    runs = [Exudyn(Andrews, DENSE, h, tol) for tol in TOLERANCES for h in (1e-4, 3e-5, 1e-5, 5e-6)]
    runs += [Biela("P3", 0, f, "tolerance", tol) for f in FORMULATIONS
             for tol in (1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7)]
    measure(runs, repeats)
    table(runs)
    compare("P3, error 1e-4", runs, "error", 1e-4, 0.4, 0.2)


def fixed(label, problem, n, model, linear, step, tolerances, repeats, formulations):
    exudyn = [Exudyn(model, linear, step, tol) for tol in TOLERANCES]
    own = [Biela(problem, n, f, "step", step) for f in formulations]
    own.append(Biela(problem, n, "auto", "step", step, "off"))
    curve = [Biela(problem, n, f, "tolerance", tol) for f in formulations for tol in tolerances]
    measure(exudyn + own + curve, repeats)
    table(exudyn + own + curve)
    per_step(f"{label}, a step of {step:g} s", exudyn, own, 0.4, 0.2)
    good = [r for r in exudyn if r.result.fault is None]
    if good:
        target = good[0].result.drift
        compare(f"{label}, drift {target:.2g} J", good + curve, "drift", target * 1.2, None, None)


def p2(repeats):
    print("P2  160 four-bars in a row, 10 s")
    fixed("P2", "P2", 160, lambda: FourBars(160), SPARSE, 0.01, (1e-2, 1e-3, 1e-4, 1e-5), repeats, ["auto", "absolute"])


def p4(repeats):
    print("P4  Bricard's mechanism, 10 s")
    fixed("P4", "P4", 0, Bricard, PIVOTED, 0.01, (1e-3, 1e-4, 3e-5, 1e-5, 1e-6), repeats, FORMULATIONS)


def p6(repeats):
    print("P6  chain of 100 rods on balls, 1 s")
    fixed("P6", "P6", 100, lambda: Chain(100), SPARSE, 0.001, (1e-6, 3e-7, 2e-7, 1e-7, 1e-8), repeats,
          ["auto", "absolute", "relative"])


def main():
    words = sys.argv[2:]
    repeats = int(words.pop(0)) if words and words[0].isdigit() else 5
    problems = {"P1": p1, "P3": p3, "P2": p2, "P4": p4, "P6": p6}
    Biela.child = subprocess.Popen([sys.argv[1], "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    print(f"Exudyn {exu.__version__}; smallest of {repeats} rounds")
    for name in words or problems:
        problems[name](repeats)
    Biela.child.stdin.close()
    Biela.child.wait()
    print()
    print(f"{'CPU':<28}{'Exudyn ms':>11}{'Biela ms':>11}{'x':>8}{'best ms':>11}{'x':>8}  {'best with':<30}{'must':>6}{'aim':>7}")
    for title, peer, default, best, name, must, aim in SUMMARY:
        print(f"{title:<28}{1e3 * peer:>11.2f}{1e3 * default:>11.2f}{default / peer:>8.3f}{1e3 * best:>11.2f}{best / peer:>8.3f}"
              f"  {name:<30}{must or '':>6}{aim or '':>7}")


if __name__ == "__main__":
    main()
