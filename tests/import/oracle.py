"""Answers of Pinocchio about robots: masses, poses, accelerations at random states, trajectories.

Reads a list of requests as JSON from standard input and writes the list of answers to standard output."""

import json
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np


class UrdfFacts:
    """What Pinocchio does not tell: damping, friction, mimics, child links; and the counts of the file."""

    def __init__(self, path):
        root = ElementTree.parse(path).getroot()
        self.elements = sum(1 for _ in root.iter())
        self.attributes = sum(len(e.attrib) for e in root.iter())
        self.child, self.damping, self.friction, self.mimic = {}, {}, {}, {}
        for joint in root.findall("joint"):
            name = joint.get("name")
            self.child[name] = joint.find("child").get("link")
            for tag in ("dynamics", "joint_properties"):
                found = joint.find(tag)
                if found is not None:
                    self.damping[name] = float(found.get("damping", 0))
                    self.friction[name] = float(found.get("friction", 0))
            found = joint.find("mimic")
            if found is not None:
                self.mimic[name] = (
                    found.get("joint"),
                    float(found.get("multiplier", 1)),
                    float(found.get("offset", 0)),
                )
        children = set(self.child.values())
        self.root = next(l.get("name") for l in root.findall("link") if l.get("name") not in children)


class PinocchioRobot:
    """A robot in Pinocchio, with mimicking joints as functions of the others: v = G w."""

    def __init__(self, request):
        import pinocchio as pin

        self.pin = pin
        path = request["path"]
        self.facts = UrdfFacts(path)
        free = request["base"] == "free"
        model = (
            pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if free else pin.buildModelFromUrdf(path)
        )
        wanted = set(request["joints"]) | {"universe", "root_joint"}
        locked = [model.getJointId(n) for n in model.names if n not in wanted]
        if locked:
            model = pin.buildReducedModel(model, locked, pin.neutral(model))
        self.model, self.data = model, model.createData()
        self.friction_on = request.get("friction", True)
        columns, self.offset = [], np.zeros(model.nv)
        index = {n: model.joints[model.getJointId(n)].idx_v for n in list(model.names)[1:]}
        followers = {n: m for n, m in self.facts.mimic.items() if n in index and m[0] in index}
        for name in list(model.names)[1:]:
            joint = model.joints[model.getJointId(name)]
            if name in followers:
                continue
            for k in range(joint.nv):
                column = np.zeros(model.nv)
                column[joint.idx_v + k] = 1.0
                columns.append(column)
                for follower, (master, factor, _) in followers.items():
                    if master == name:
                        column[index[follower]] = factor
        for follower, (_, _, offset) in followers.items():
            self.offset[index[follower]] = offset
        self.G = np.array(columns).T if columns else np.zeros((model.nv, 0))

    def coordinates(self, w):
        """q of independent displacements w from the neutral configuration."""
        return self.pin.integrate(self.model, self.pin.neutral(self.model), self.G @ w + self.offset)

    def acceleration(self, q, v):
        """Rates of v: (Gᵀ M G) ẇ = Gᵀ (τ − h), mimics are linear."""
        pin, model = self.pin, self.model
        M = pin.crba(model, self.data, q)
        M = np.triu(M) + np.triu(M, 1).T
        h = pin.nonLinearEffects(model, self.data, q, v)
        tau = np.zeros(model.nv)
        for name in list(model.names)[1:]:
            i = model.joints[model.getJointId(name)].idx_v
            tau[i] -= self.facts.damping.get(name, 0.0) * v[i]
            if self.friction_on:
                tau[i] -= self.facts.friction.get(name, 0.0) * np.tanh(v[i] / 1e-3)
        G = self.G
        return G @ np.linalg.solve(G.T @ M @ G, G.T @ (tau - h))

    def link(self, name):
        return self.facts.root if name == "root_joint" else self.facts.child[name]

    def masses(self):
        out = {}
        for i, name in enumerate(self.model.names):
            if i:
                inertia = self.model.inertias[i]
                out[self.link(name)] = [inertia.mass, *inertia.lever]
        return out

    def state(self, w, w_dot):
        pin, model, data = self.pin, self.model, self.data
        q, v = self.coordinates(w), self.G @ w_dot
        a = self.acceleration(q, v)
        pin.forwardKinematics(model, data, q, v, a)
        links, joints = {}, {}
        displacement = self.G @ w + self.offset
        frame = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        for i, name in enumerate(model.names):
            if i == 0:
                continue
            pose = data.oMi[i]
            x, y, z, s = pin.Quaternion(pose.rotation).coeffs()
            rate = pin.getVelocity(model, data, i, frame)
            change = pin.getClassicalAcceleration(model, data, i, frame)
            links[self.link(name)] = {
                "position": list(pose.translation),
                "orientation": [s, x, y, z],
                "velocity": list(rate.linear),
                "angular_velocity": list(rate.angular),
                "acceleration": list(change.linear) + list(change.angular),
            }
            if model.joints[i].nv == 1:
                joints[name] = displacement[model.joints[i].idx_v]
        return {"links": links, "joints": joints}

    def trajectory(self, w, w_dot, time):
        """Joint displacements at the end, by DOP853."""
        from scipy.integrate import solve_ivp

        pin, n = self.pin, self.G.shape[1]
        vector = all(j.nq == j.nv or j.nq == 2 for j in list(self.model.joints)[1:])
        q0 = self.coordinates(w)
        if vector:

            def rates(t, y):
                q = self.coordinates(y[:n])
                a = self.acceleration(q, self.G @ y[n:])
                return np.concatenate([y[n:], np.linalg.lstsq(self.G, a, rcond=None)[0]])

            found = solve_ivp(rates, (0, time), np.concatenate([w, w_dot]), method="DOP853", rtol=1e-11, atol=1e-11)
            return {"joints": self.state(found.y[:n, -1], found.y[n:, -1])["joints"]}

        # With a free base the configuration is on a group: y = (θ, v), q = q0 ⊕ θ, θ' = dexp⁻¹(θ) v.
        def rates(t, y):
            theta, v = y[: self.model.nv], y[self.model.nv :]
            q = pin.integrate(self.model, q0, theta)
            jacobian = pin.dIntegrate(self.model, q0, theta, pin.ArgumentPosition.ARG1)
            return np.concatenate([np.linalg.solve(jacobian, v), self.acceleration(q, v)])

        start = np.concatenate([np.zeros(self.model.nv), self.G @ w_dot])
        found = solve_ivp(rates, (0, time), start, method="DOP853", rtol=1e-11, atol=1e-11)
        theta = found.y[: self.model.nv, -1]
        displacement = self.G @ w + self.offset + theta
        joints = {}
        for i, name in enumerate(self.model.names):
            if i and self.model.joints[i].nv == 1:
                joints[name] = displacement[self.model.joints[i].idx_v]
        return {"joints": joints}


def answer(request):
    robot = PinocchioRobot(request)
    random = np.random.default_rng(request["seed"])
    n = robot.G.shape[1]
    out = {
        "elements": robot.facts.elements,
        "attributes": robot.facts.attributes,
        "masses": robot.masses(),
        "states": [],
    }
    for _ in range(request.get("states", 0)):
        w, w_dot = random.uniform(-1.5, 1.5, n), random.uniform(-1.0, 1.0, n)
        out["states"].append(robot.state(w, w_dot))
    if request.get("time"):
        w, w_dot = random.uniform(-0.4, 0.4, n), random.uniform(-0.2, 0.2, n)
        out["start"] = robot.state(w, w_dot)
        out["end"] = robot.trajectory(w, w_dot, request["time"])
    return out


def main():
    answers = []
    for request in json.load(sys.stdin):
        try:
            answers.append(answer(request))
        except Exception as error:  # the test decides what a failure means
            answers.append({"error": f"{type(error).__name__}: {error}"})
    json.dump(answers, sys.stdout)


main()
