//! Intermediate updates of FMI 3: after each substep of a step the importer is called, may read the variables it asked
//! for at instantiation, and may end the step early.
//!
//! The importer reads by the same functions as always, on an instance that is inside a step. So that there is never a
//! second `&mut` to the unit, the step leaves the values here, behind a lock, and the getters find them here.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard};

use super::types::fmi3IntermediateUpdateCallback;
use super::value_reference::{TIME, ValueReferences};
use crate::component::{Observer, StepProbe};
use crate::error::{Error, Result};

/// The meeting place of a step and its importer.
#[derive(Clone)]
pub(super) struct SharedUpdates(Arc<Mutex<Board>>);

/// Values of the last substep.
pub(super) struct Board {
    layout: Arc<ValueReferences>,
    /// Is the importer being called?
    open: bool,
    time: f64,
    /// The scalars asked for at instantiation.
    references: Vec<u32>,
    values: Vec<f64>,
    /// What was refused meanwhile; the step logs it.
    complaints: Vec<String>,
}

impl SharedUpdates {
    /// With the scalars to be offered.
    pub fn new(layout: Arc<ValueReferences>, references: Vec<u32>) -> Self {
        Self(Arc::new(Mutex::new(Board {
            layout,
            open: false,
            time: 0.0,
            values: vec![0.0; references.len()],
            references,
            complaints: Vec::new(),
        })))
    }

    /// Nothing is done under the lock that could fail half-way.
    pub fn lock(&self) -> MutexGuard<'_, Board> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Board {
    /// No update is under way.
    pub fn close(&mut self) {
        self.open = false;
    }

    /// Is one under way?
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Reads during an update; on failure `values` is unchanged and the step will log why.
    pub fn get(&mut self, references: &[u32], values: &mut [f64]) -> bool {
        match self.find(references, values.len()) {
            Ok(found) => {
                values.copy_from_slice(&found);
                true
            }
            Err(error) => {
                self.complaints.push(error.to_string());
                false
            }
        }
    }

    fn find(&self, references: &[u32], count: usize) -> Result<Vec<f64>> {
        let layout = &self.layout;
        let mut scalars = Vec::new();
        for reference in references {
            layout.expand(*reference, true, &mut scalars)?;
        }
        if scalars.len() != count {
            return Err(Error::Argument {
                name: "number of values".to_owned(),
                value: count.to_string(),
                expected: scalars.len().to_string(),
            });
        }
        let value = |scalar: &u32| {
            if *scalar == TIME {
                return Ok(self.time);
            }
            let place = self.references.iter().position(|known| known == scalar);
            place
                .map(|i| self.values[i])
                .ok_or_else(|| Error::Argument {
                    name: "intermediate variable".to_owned(),
                    value: format!("\"{}\"", layout.name(*scalar).unwrap_or("")),
                    expected: "one that was named in requiredIntermediateVariables".to_owned(),
                })
        };
        scalars.iter().map(value).collect()
    }
}

/// The importer's callback and what it may do.
#[derive(Clone, Copy)]
pub(super) struct Update {
    pub callback: fmi3IntermediateUpdateCallback,
    pub environment: *mut c_void,
    pub early_return_allowed: bool,
}

/// Follows a step and calls the importer.
pub(super) struct Watcher<'s> {
    pub shared: &'s SharedUpdates,
    pub update: Update,
    /// When the importer wants the step to end, if it does.
    pub request: Option<f64>,
    /// Sentences to be logged after the step.
    pub complaints: Vec<String>,
}

impl Observer for Watcher<'_> {
    fn accepted(&mut self, probe: &mut StepProbe) -> Result<()> {
        let time = probe.end();
        {
            let mut board = self.shared.lock();
            let Board {
                references, values, ..
            } = &mut *board;
            probe.values(time, references, values)?;
            board.time = time;
            board.open = true;
        }
        // A C bool, written by the importer: read as a number.
        let (mut requested, mut early) = (0_u8, time);
        // SAFETY: the importer's own function with its own environment and pointers to locals.
        unsafe {
            (self.update.callback)(
                self.update.environment,
                time,
                false,
                true,
                true,
                self.update.early_return_allowed,
                (&raw mut requested).cast(),
                &raw mut early,
            );
        }
        let mut board = self.shared.lock();
        board.open = false;
        self.complaints.append(&mut board.complaints);
        if requested != 0 && self.update.early_return_allowed {
            self.request = Some(early);
            return Err(Error::Cancelled { time });
        }
        Ok(())
    }
}
