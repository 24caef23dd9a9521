"""Principal axes of meshes in double precision.

MuJoCo's compiler ends its search for the principal axes of a mesh when the next rotation is below some 1e-5 rad and keeps the diagonal of
the tensor only. Of slender meshes, whose larger moments are nearly equal, that is up to 1e-7 of the tensor. Here the tensor is computed
from the file; it has to have MuJoCo's volume, centre and diagonal, and what MuJoCo left beside the diagonal is given back to the body.
"""

import os
import struct

import numpy as np


def points_and_triangles(path):
    """Of an OBJ, STL or msh file, in single precision as MuJoCo reads them."""
    if path.lower().endswith(".obj"):
        points, triangles = [], []
        for line in open(path):
            words = line.split()
            if words[:1] == ["v"]:
                points.append([float(x) for x in words[1:4]])
            elif words[:1] == ["f"]:
                corners = [int(word.split("/")[0]) for word in words[1:]]
                corners = [c - 1 if c > 0 else c + len(points) for c in corners]
                triangles += [[corners[0], b, c] for b, c in zip(corners[1:], corners[2:])]
        points = np.array(points, dtype=np.float32)
        return points.astype(float), np.array(triangles)
    data = open(path, "rb").read()
    if path.lower().endswith(".stl"):
        count = struct.unpack_from("<I", data, 80)[0]
        facets = np.frombuffer(data, np.dtype([("f", "<f4", 12), ("a", "<u2")]), count, 84)["f"]
        return facets[:, 3:].reshape(-1, 3).astype(float), np.arange(3 * count).reshape(-1, 3)
    points, normals, texture, triangles = struct.unpack_from("<4i", data)
    after = 16 + 12 * points
    found = np.frombuffer(data, "<f4", 3 * points, 16).reshape(-1, 3)
    corners = np.frombuffer(data, "<i4", 3 * triangles, after + 12 * normals + 8 * texture)
    return found.astype(float), corners.reshape(-1, 3)


def solid(points, triangles):
    """Volume, centre of mass, and inertia for a unit of mass: pyramids over the triangles, all of positive volume."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    middle, normal = (a + b + c) / 3, np.cross(b - a, c - a)
    area = np.linalg.norm(normal, axis=1)
    tip = area @ middle / area.sum()
    volume = np.abs(np.einsum("ij,ij->i", middle - tip, normal)) / 6
    center = volume @ (0.75 * middle + 0.25 * tip) / volume.sum()
    volume = np.abs(np.einsum("ij,ij->i", middle - center, normal)) / 6
    corners = [x - center for x in (a, b, c)]
    second = sum(np.einsum("i,ij,ik->jk", volume, x, x) for x in [*corners, sum(corners)]) / 20 / volume.sum()
    return volume.sum(), center, np.trace(second) * np.eye(3) - second


def matrix(mj, quaternion):
    out = np.zeros(9)
    mj.mju_quat2Mat(out, quaternion)
    return out.reshape(3, 3)


def beside_diagonal(mj, model, mesh, path, scale):
    """Volume of a mesh, and its tensor in MuJoCo's axes for a unit of mass without the diagonal."""
    points, triangles = points_and_triangles(path)
    volume, center, inertia = solid(points * scale, triangles)
    axes = matrix(mj, model.mesh_quat[mesh])
    assert np.abs(center - model.mesh_pos[mesh]).max() < 1e-12 * (1 + np.abs(center).max()), path
    left = axes.T @ inertia @ axes
    left -= np.diag(np.diag(left))
    assert np.abs(left).max() < 1e-6 * inertia.max(), f"{path}: {np.abs(left).max() / inertia.max()}"
    return volume, left


def restore(mj, path):
    """The model of a file, in which bodies have the exact tensors of their meshes; what was given back, relative to the tensor."""
    spec = mj.MjSpec.from_file(path)
    spec.compile()  # the bodies of the description get their numbers
    model = mj.MjModel.from_xml_path(path)
    automatic = spec.compiler.inertiafromgeom == mj.mjtInertiaFromGeom.mjINERTIAFROMGEOM_AUTO
    groups = spec.compiler.inertiagrouprange
    folder = os.path.join(os.path.dirname(path), spec.compiler.meshdir)
    found, largest = {}, 0.0
    for body in spec.bodies:
        meshes = [g for g in body.geoms if g.type == mj.mjtGeom.mjGEOM_MESH and groups[0] <= g.group <= groups[1]]
        if automatic and body.explicitinertial or model.body_mass[body.id] == 0:
            continue
        axes = matrix(mj, model.body_iquat[body.id])
        whole = axes @ np.diag(model.body_inertia[body.id]) @ axes.T
        change = np.zeros((3, 3))
        for geom in meshes:
            asset, mesh = spec.mesh(geom.meshname), model.geom_dataid[geom.id]
            if asset.inertia != mj.mjtMeshInertia.mjMESH_INERTIA_LEGACY or geom.mass == 0 or geom.density == 0:
                continue
            if mesh not in found:
                file = os.path.join(folder, asset.file)
                found[mesh] = beside_diagonal(mj, model, mesh, file, np.array(asset.scale))
            volume, left = found[mesh]
            turn = matrix(mj, model.geom_quat[geom.id])
            change += (geom.mass if np.isfinite(geom.mass) else geom.density * volume) * turn @ left @ turn.T
        if not change.any():
            continue
        largest = max(largest, np.abs(change).max() / whole.max())
        moments, axes = np.linalg.eigh(whole + change)
        axes[:, 0] *= np.linalg.det(axes)
        model.body_inertia[body.id] = moments
        mj.mju_mat2Quat(model.body_iquat[body.id], axes.ravel())
    return model, largest
