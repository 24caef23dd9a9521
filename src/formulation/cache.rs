//! The workspace of a formulation: intermediate results and scratch memory behind the `&self` of [`super::System`].

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Access to the workspace; the lock is released when it is dropped.
pub type CacheGuard<'a, T> = MutexGuard<'a, T>;

/// The one interior-mutable part of a formulation. Evaluations do not depend on its content, which only saves work: threads may
/// share a system.
#[derive(Debug, Default)]
pub struct Cached<T>(Mutex<T>);

/// A clone begins with an empty workspace.
impl<T: Default> Clone for Cached<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T> Cached<T> {
    /// Wraps a workspace.
    pub fn new(workspace: T) -> Self {
        Self(Mutex::new(workspace))
    }

    /// Locks the workspace, also after a panic of another user: its content is recomputed where it does not fit.
    pub fn lock(&self) -> CacheGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
