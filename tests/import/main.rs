//! Robots from URDF: small files with known answers, hostile files, and real robots against Pinocchio.

#[path = "../common/host.rs"]
mod host;

mod hostile;
mod oracle;
mod python;
mod urdf;
