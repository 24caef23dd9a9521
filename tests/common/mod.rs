//! Shared by the integration tests. Each test program uses a part of it only.
#![allow(dead_code)]

pub mod mutant;
pub mod systems;
