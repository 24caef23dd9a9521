//! Robots from URDF and MJCF: small files with known answers, hostile files, and real robots against Pinocchio and MuJoCo.

#[path = "../common/host.rs"]
mod host;

mod hostile;
mod mjcf;
mod mujoco;
mod oracle;
mod python;
mod urdf;
