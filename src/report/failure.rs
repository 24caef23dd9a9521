//! A run that failed, in words: what happened, when, to which body or joint, what was tried, and what to change.

use serde_json::{Value, json};

use crate::component::RejectedStep;
use crate::error::Error;
use crate::model::{Model, PrescribedCoordinate};

/// How many of the last trial steps are told.
const LAST_TRIALS: usize = 12;

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq)]
pub struct FailureReport {
    /// One line: what happened.
    pub what: String,
    /// The sentence of the error.
    pub sentence: String,
    /// Where the state was left (s); `None` where nothing was simulated.
    pub time: Option<f64>,
    /// Bodies, joints or coordinates that are to blame, by name.
    pub culprits: Vec<String>,
    /// Changes that are worth trying, most promising first.
    pub advice: Vec<String>,
}

impl FailureReport {
    /// Of a run that was left at `time`.
    pub fn of(error: &Error, model: &Model, time: Option<f64>) -> Self {
        let (what, culprits) = what(error);
        Self {
            what: what.to_owned(),
            sentence: error.to_string(),
            time,
            culprits,
            advice: advice(error, model),
        }
    }

    /// For the page; `rejected` are the trial steps of the run.
    pub(super) fn json(&self, model: &Model, rejected: &[RejectedStep]) -> Value {
        let first = rejected.len().saturating_sub(LAST_TRIALS);
        let tried: Vec<Value> = (rejected[first..].iter())
            .map(|r| {
                json!({
                    "time": r.time,
                    "step": r.step,
                    "error": r.error.is_finite().then_some(r.error),
                    "reason": r.reason,
                    "name": r.culprit,
                })
            })
            .collect();
        json!({
            "what": self.what,
            "sentence": self.sentence,
            "time": self.time,
            "culprits": self.culprits,
            "elements": self.elements(model),
            "tried": tried,
            "advice": self.advice,
        })
    }

    /// Elements of the model that a culprit names: a coordinate or constraint is called `element.something`. Of a motion
    /// also the joint that it drives.
    fn elements(&self, model: &Model) -> Vec<Value> {
        let mut found = Vec::new();
        let add = |found: &mut Vec<Value>, kind: &str, name: &str, line: usize| {
            let entry = json!({ "kind": kind, "name": name, "line": line });
            if !found.contains(&entry) {
                found.push(entry);
            }
        };
        for culprit in &self.culprits {
            let element = culprit.split(['.', ' ']).next().unwrap_or(culprit);
            let places = (model
                .bodies
                .iter()
                .map(|b| ("body", &b.name, b.text_position.line)))
            .chain(
                model
                    .joints
                    .iter()
                    .map(|j| ("joint", &j.name, j.text_position.line)),
            )
            .chain(
                model
                    .forces
                    .iter()
                    .map(|f| ("force", &f.name, f.text_position.line)),
            )
            .chain(
                model
                    .motions
                    .iter()
                    .map(|m| ("motion", &m.name, m.text_position.line)),
            );
            for (kind, name, line) in places.filter(|(_, name, _)| *name == element) {
                add(&mut found, kind, name, line);
            }
            for motion in model.motions.iter().filter(|m| m.name == element) {
                if let PrescribedCoordinate::Joint(coordinate) = motion.on {
                    let joint = &model.joints[coordinate.joint];
                    add(&mut found, "joint", &joint.name, joint.text_position.line);
                }
            }
        }
        found
    }
}

/// One line, and who is to blame.
fn what(error: &Error) -> (&'static str, Vec<String>) {
    let one = |name: &String| vec![name.clone()];
    match error {
        Error::Assembly { culprits, .. } => ("The mechanism cannot be assembled", culprits.clone()),
        Error::SingularMass { culprit } => ("A coordinate has no mass", one(culprit)),
        Error::SingularPosition { culprits, .. } => ("The position is singular", culprits.clone()),
        Error::NoEquilibrium { .. } => ("There is no static equilibrium", Vec::new()),
        Error::Evaluation { culprit, .. } => ("The equations are not finite", one(culprit)),
        Error::NewtonDiverged { culprit, .. } => {
            ("Newton's iteration did not converge", one(culprit))
        }
        Error::StepTooSmall { culprit, .. } => ("The step became too small", one(culprit)),
        Error::Coordinates { culprit, .. } => {
            ("The independent coordinates became singular", one(culprit))
        }
        Error::Chattering { culprit, .. } => {
            ("An event repeats without progress in time", one(culprit))
        }
        Error::TooManySubsteps { .. } => ("Too many steps", Vec::new()),
        Error::RunAway { body, .. } => ("A body runs away", one(body)),
        Error::Cancelled { .. } => ("The run was interrupted", Vec::new()),
        Error::Callback { .. } => ("A callback asked to stop", Vec::new()),
        Error::Model { .. } | Error::Mistakes { .. } => ("The model file has an error", Vec::new()),
        _ => ("The run failed", Vec::new()),
    }
}

/// Changes that are worth trying.
pub fn advice(error: &Error, model: &Model) -> Vec<String> {
    let fixed = model.solver.step.is_some();
    let texts: Vec<&str> = match error {
        Error::Assembly { .. } => vec![
            "Compare the points and axes of these joints: with `at` they are given in each body's own frame, with `point` in the ground frame in the initial pose.",
            "Move the initial positions of the bodies closer to a pose in which the loops close.",
            "Check lengths: a loop whose links are too short or too long cannot be closed.",
        ],
        Error::SingularMass { .. } => vec![
            "Give the body a mass and an inertia, or fix that coordinate by a joint.",
            "A body that only connects others can be replaced by a distance joint.",
        ],
        Error::Evaluation { .. } => vec![
            "Look for a spring or contact whose length becomes zero, or a table or polynomial that is left behind its range.",
            "Reduce `max_step` in [solver], so that no trial step goes so far.",
        ],
        Error::NewtonDiverged { .. } if fixed => vec![
            "Take a smaller `step` in [solver], or leave it out: the step size is then chosen by the error.",
            "Look at the position: close to a singular one a fixed step may not converge.",
        ],
        Error::NewtonDiverged { .. } | Error::StepTooSmall { .. } => vec![
            "Look at the mechanism at this time: a stretched or folded linkage, a lock-up or an end of travel has no motion beyond it.",
            "A motion law that asks for more than the mechanism can do must be changed, or replaced by a force.",
            "Very stiff springs, contacts or steep friction: reduce the stiffness, or raise `stiction_velocity`.",
            "Try `formulation = \"absolute\"` in [solver] if another one is set, or a looser `tolerance`.",
        ],
        Error::Coordinates { .. } => vec![
            "Set `rechoose = true` in [solver], so that other independent coordinates may be chosen.",
            "Use `formulation = \"absolute\"`: it has no independent coordinates that can become singular.",
        ],
        Error::Chattering { .. } => vec![
            "Give the contact or joint limit `stiffness` and `damping` in place of `restitution`.",
            "Raise `rest_speed`: slower impacts then come to rest.",
        ],
        Error::TooManySubsteps { .. } => vec![
            "See the step size in the solver section: where it stays small, the named coordinate is the reason.",
            "Loosen `tolerance`, or raise `max_substeps` in [solver] if that many steps are meant.",
        ],
        Error::RunAway { .. } => vec![
            "Look at what sets the input: an unstable controller has the wrong sign, too high a gain or too long a sampling time.",
            "Look for a force that grows with the speed.",
        ],
        Error::Callback { .. } => vec!["Look at the callback that returned this code."],
        Error::Cancelled { .. } => vec!["Run it again; the rows up to this time are complete."],
        _ => Vec::new(),
    };
    texts.into_iter().map(str::to_owned).collect()
}
