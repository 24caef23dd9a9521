//! Robots from URDF and MJCF: small files with known answers, hostile files, and real robots against Pinocchio and MuJoCo.

#[path = "../common/campaign/mod.rs"]
mod campaign;
#[path = "../common/mod.rs"]
mod common;
#[path = "../../src/bin/biela/cpu_time.rs"]
mod cpu_time;
#[path = "../common/host.rs"]
mod host;

mod accuracy;
mod driven;
mod examples;
mod hostile;
mod mjcf;
mod mujoco;
mod oracle;
mod python;
mod urdf;
