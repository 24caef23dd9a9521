"""Answers of Pinocchio (URDF) and MuJoCo (MJCF) about robots: masses, poses, accelerations at random states, trajectories.

Reads a list of requests as JSON from standard input and writes the list of answers to standard output."""

import json
import re
import sys
import xml.etree.ElementTree as ElementTree

import mesh_axes
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
        return self.state_at(self.coordinates(w), self.G @ w_dot, self.G @ w + self.offset)

    def state_at(self, q, v, displacement):
        """At a configuration, of which the displacements of joints with one coordinate are known (turns are counted)."""
        pin, model, data = self.pin, self.model, self.data
        a = self.acceleration(q, v)
        pin.forwardKinematics(model, data, q, v, a)
        links, joints = {}, {}
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
        """The state at the end, by DOP853."""
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
            return self.state(found.y[:n, -1], found.y[n:, -1])

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
        return self.state_at(pin.integrate(self.model, q0, theta), found.y[self.model.nv :, -1], displacement)


class MujocoRobot:
    """A model in MuJoCo without contacts, limits, dry friction and equalities."""

    def __init__(self, request):
        import mujoco

        self.mj = mujoco
        self.model, self.given_back = mesh_axes.restore(mujoco, request["path"])
        flags = mujoco.mjtDisableBit
        for flag in (flags.mjDSBL_CONTACT, flags.mjDSBL_LIMIT, flags.mjDSBL_FRICTIONLOSS, flags.mjDSBL_EQUALITY):
            self.model.opt.disableflags |= flag
        self.data = mujoco.MjData(self.model)

    def joint_name(self, j):
        name = self.model.joint(j).name
        if name:
            return name
        body = self.model.jnt_bodyid[j]
        own = self.model.body(body).name or f"body{body}"
        return f"{own}_joint{j - self.model.body_jntadr[body] + 1}"

    def masses(self):
        """Of each body with all that is welded to it, centre of mass in its frame."""
        m, mj, out = self.model, self.mj, {}
        data = mj.MjData(m)
        mj.mj_kinematics(m, data)
        for b in range(1, m.nbody):
            if m.body_weldid[b] != b:
                continue
            parts = [k for k in range(1, m.nbody) if m.body_weldid[k] == b]
            # The armature of a free joint is a mass at the origin of its frame.
            armature = self.free_armature(b)
            mass = sum(m.body_mass[k] for k in parts) + armature
            moment = sum(m.body_mass[k] * data.xipos[k] for k in parts) + armature * data.xpos[b]
            center = moment / (mass or 1.0)
            out[str(b)] = [mass, *(data.xmat[b].reshape(3, 3).T @ (center - data.xpos[b]))]
        return out

    def free_armature(self, body):
        m, free = self.model, self.mj.mjtJoint.mjJNT_FREE
        joints = range(m.body_jntadr[body], m.body_jntadr[body] + m.body_jntnum[body])
        return sum(m.dof_armature[m.jnt_dofadr[j]] for j in joints if m.jnt_type[j] == free)

    def facts(self):
        """Mass of all that moves, and the moving body above each body."""
        m = self.model
        weld = m.body_weldid
        # A mocap body on which nothing hangs is for pictures.
        moving = (b for b in range(1, m.nbody) if weld[b] != 0 and m.body_mocapid[weld[b]] < 0)
        moving = sum(m.body_mass[b] + self.free_armature(b) for b in moving)
        parents = {str(b): str(weld[m.body_parentid[b]]) for b in range(1, m.nbody)}
        return {"moving_mass": moving, "parents": parents}

    def actuator_name(self, i):
        name = self.model.actuator(i).name
        if name:
            return name
        kind, target = self.model.actuator_trntype[i], self.model.actuator_trnid[i, 0]
        if kind == self.mj.mjtTrn.mjTRN_TENDON:
            return self.model.tendon(target).name
        return self.joint_name(target)

    def state(self, random):
        m, d, mj = self.model, self.data, self.mj
        mj.mj_resetData(m, d)
        joints, controls = {}, {}
        for i in range(m.nu):
            # Some of them beyond their range.
            d.ctrl[i] = random.uniform(-2, 2)
            controls[re.sub(r"\W", "_", self.actuator_name(i))] = d.ctrl[i]
        for j in range(m.njnt):
            q, v, kind = m.jnt_qposadr[j], m.jnt_dofadr[j], mj.mjtJoint(m.jnt_type[j])
            if kind in (mj.mjtJoint.mjJNT_HINGE, mj.mjtJoint.mjJNT_SLIDE):
                d.qpos[q] += random.uniform(-1, 1)
                d.qvel[v] = random.uniform(-1, 1)
                joints[self.joint_name(j)] = [d.qpos[q], d.qvel[v]]
                continue
            if kind == mj.mjtJoint.mjJNT_FREE:
                d.qpos[q : q + 3] += random.uniform(-1, 1, 3)
                q, v, n = q + 3, v, 6
            else:
                n = 3
            x = random.normal(size=4)
            d.qpos[q : q + 4] = x / np.linalg.norm(x)
            d.qvel[v : v + n] = random.uniform(-1, 1, n)
        mj.mj_forward(m, d)
        mj.mj_rnePostConstraint(m, d)
        gravity = np.array(m.opt.gravity)
        if m.opt.disableflags & mj.mjtDisableBit.mjDSBL_GRAVITY:
            gravity = np.zeros(3)
        links = {}
        for b in range(1, m.nbody):
            rate, change = np.zeros(6), np.zeros(6)
            mj.mj_objectVelocity(m, d, mj.mjtObj.mjOBJ_XBODY, b, rate, 0)
            mj.mj_objectAcceleration(m, d, mj.mjtObj.mjOBJ_XBODY, b, change, 0)
            links[str(b)] = {
                "position": list(d.xpos[b]),
                "orientation": list(d.xquat[b]),
                "velocity": list(rate[3:]),
                "angular_velocity": list(rate[:3]),
                # Accelerations are measured as by an accelerometer.
                "acceleration": list(change[3:] + gravity) + list(change[:3]),
            }
        return {"links": links, "joints": joints, "controls": controls, "between": self.between(links)}

    def between(self, links):
        """States of the frames between the joints of bodies that have several, by the names of body and joint."""
        m, d, mj = self.model, self.data, self.mj
        states = {}
        for b in range(1, m.nbody):
            first, count = m.body_jntadr[b], m.body_jntnum[b]
            if count < 2:
                continue
            p = m.body_parentid[b]
            rate = np.zeros(6)
            mj.mj_objectVelocity(m, d, mj.mjtObj.mjOBJ_XBODY, p, rate, 0)
            spin, R = rate[:3].copy(), d.xmat[p].reshape(3, 3)
            x = d.xpos[p] + R @ m.body_pos[b]
            v = rate[3:] + np.cross(spin, x - d.xpos[p])
            q = np.zeros(4)
            mj.mju_mulQuat(q, d.xquat[p], m.body_quat[b])
            for j in range(first, first + count - 1):
                s = d.qpos[m.jnt_qposadr[j]] - m.qpos0[m.jnt_qposadr[j]]
                rate = d.qvel[m.jnt_dofadr[j]]
                R = np.zeros(9)
                mj.mju_quat2Mat(R, q)
                R = R.reshape(3, 3)
                axis = R @ m.jnt_axis[j]
                if m.jnt_type[j] == mj.mjtJoint.mjJNT_SLIDE:
                    x, v = x + axis * s, v + axis * rate + np.cross(spin, axis * s)
                else:
                    anchor = x + R @ m.jnt_pos[j]
                    v_anchor = v + np.cross(spin, anchor - x)
                    turn, turned = np.zeros(4), np.zeros(4)
                    mj.mju_axisAngle2Quat(turn, m.jnt_axis[j], s)
                    mj.mju_mulQuat(turned, q, turn)
                    q, spin = turned, spin + axis * rate
                    R = np.zeros(9)
                    mj.mju_quat2Mat(R, q)
                    x = anchor - R.reshape(3, 3) @ m.jnt_pos[j]
                    v = v_anchor + np.cross(spin, x - anchor)
                own = self.model.body(b).name or f"body{b}"
                states[re.sub(r"\W", "_", f"{own}_{self.joint_name(j)}")] = {
                    "position": list(x),
                    "orientation": list(q),
                    "velocity": list(v),
                    "angular_velocity": list(spin),
                }
        return states


def answer(request):
    if request["path"].endswith(".xml"):
        robot = MujocoRobot(request)
        random = np.random.default_rng(request["seed"])
        states = [robot.state(random) for _ in range(request["states"])]
        return {"masses": robot.masses(), "states": states, "dofs": robot.model.nv, **robot.facts()}
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
