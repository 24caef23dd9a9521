//! Warnings: legal but seldom intended. They need no equations.

use super::body::{InertiaDefect, check_inertia};
use super::validate::norm;
use super::{
    Characteristic, CouplingLaw, Curve, ForceKind, FormulationName, Interpolation, Model,
    MotionLaw, PrescribedCoordinate, Target, TextPosition,
};
use crate::linalg::interpolation::{Spline, SplineEnds};

/// Distance of a joint from a centre of mass that is suspicious (m), if the inertia does not fit.
const FAR: f64 = 50.0;
/// The same over the radius of gyration: a rod that turns about its end has 1.7.
const FAR_BY_INERTIA: f64 = 100.0;

impl Model {
    /// Sentences about suspicious parts of a valid model, each with its position if the model was read from a text.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.suspicions.clone();
        if self.bodies.is_empty() && self.system.is_none() && self.user_system.is_none() {
            warnings.push("there are no bodies: nothing moves".to_owned());
        }
        self.warn_of_bodies(&mut warnings);
        self.warn_of_lengths(&mut warnings);
        self.warn_of_motions(&mut warnings);
        self.warn_of_parameters(&mut warnings);
        self.warn_of_splines(&mut warnings);
        if !self.solver.repartition && self.solver.formulation != FormulationName::Topological {
            warnings.push(
                "repartition = false has no effect: only formulation = \"topological\" partitions the coordinates"
                    .to_owned(),
            );
        }
        if self.outputs.is_empty() {
            warnings.push("there are no outputs: a run shows only its counters".to_owned());
        }
        warnings
    }

    /// A sentence about the element at a position.
    fn warning_at(&self, position: TextPosition, sentence: String) -> String {
        self.text_place(position) + &sentence
    }

    fn warn_of_bodies(&self, warnings: &mut Vec<String>) {
        let driven = |target: Target| {
            (self.inputs.iter().map(|i| i.target))
                .chain(self.parameters.iter().map(|p| p.target))
                .any(|other| other == target)
        };
        let free = || self.bodies.iter().filter(|body| !body.prescribed);
        if self.gravity == [0.0; 3]
            && free().next().is_some()
            && !(0..self.dimension).any(|axis| driven(Target::Gravity(axis)))
        {
            warnings.push("gravity is zero".to_owned());
        }
        let mut jointed = vec![false; self.bodies.len()];
        for body in self.joints.iter().flat_map(|j| j.bodies).flatten() {
            jointed[body] = true;
        }
        for beam in &self.beams {
            if !jointed[beam.nodes()].iter().any(|jointed| *jointed) {
                let sentence = format!("beam \"{}\" is in no joint", beam.name);
                warnings.push(self.warning_at(beam.text_position, sentence));
            }
            jointed[beam.nodes()].fill(true);
        }
        for (body, jointed) in self.bodies.iter().zip(jointed) {
            let name = &body.name;
            let mut warn = |sentence| warnings.push(self.warning_at(body.text_position, sentence));
            if !jointed {
                warn(format!("body \"{name}\" is in no joint"));
            }
            if body.mass == 0.0 && !body.prescribed {
                warn(format!("body \"{name}\" has no mass"));
            }
            let rounded = || check_inertia(&body.inertia) == InertiaDefect::Rounded;
            if self.dimension == 3 && body.name.find('.').is_none() && rounded() {
                warn(format!(
                    "body \"{name}\": one principal moment of inertia slightly exceeds the sum of the others, as no real \
                     body's does; rounded digits?"
                ));
            }
        }
    }

    /// Joints so far from the centre of mass of their body that its inertia does not fit: lengths in millimetres.
    fn warn_of_lengths(&self, warnings: &mut Vec<String>) {
        for joint in &self.joints {
            for index in joint.bodies.into_iter().flatten() {
                let body = &self.bodies[index];
                let largest = body.inertia[..3]
                    .iter()
                    .fold(0.0f64, |most, i| most.max(*i));
                let gyration = (largest / body.mass).sqrt();
                let Some(point) = self.point_on(joint, Some(index)) else {
                    continue;
                };
                let offset: [f64; 3] = std::array::from_fn(|i| point[i] - body.center_of_mass[i]);
                let distance = norm(&offset);
                if distance > FAR && gyration > 0.0 && distance > FAR_BY_INERTIA * gyration {
                    let sentence = format!(
                        "joint \"{}\" is {} m from the centre of mass of body \"{}\", whose radius of gyration is \
                         {gyration:.2e} m; lengths are in metres, are these millimetres?",
                        joint.name,
                        (distance * 1e3).round() / 1e3,
                        body.name
                    );
                    warnings.push(self.warning_at(joint.text_position, sentence));
                }
            }
        }
    }

    fn warn_of_motions(&self, warnings: &mut Vec<String>) {
        let mut moved = vec![false; self.bodies.len()];
        for (i, motion) in self.motions.iter().enumerate() {
            if let PrescribedCoordinate::Body(body, _) = motion.on {
                moved[body] = true;
            }
            let waits = matches!(motion.law, MotionLaw::Input { .. })
                && !self.inputs.iter().any(|x| x.target == Target::Motion(i));
            if waits {
                let sentence = format!(
                    "motion \"{}\" needs an input, but no [[input]] has the target \"{}\"",
                    motion.name,
                    self.target_name(Target::Motion(i))
                );
                warnings.push(self.warning_at(motion.text_position, sentence));
            }
        }
        for (body, moved) in self.bodies.iter().zip(moved) {
            if body.prescribed && !moved {
                let sentence = format!(
                    "body \"{}\" is prescribed but no [[motion]] moves it",
                    body.name
                );
                warnings.push(self.warning_at(body.text_position, sentence));
            }
        }
    }

    /// Splines that leave the range of their points.
    fn warn_of_splines(&self, warnings: &mut Vec<String>) {
        for motion in &self.motions {
            if let MotionLaw::Table {
                points,
                periodic,
                interpolation: Interpolation::Spline,
            } = &motion.law
            {
                let ends = match periodic {
                    true => SplineEnds::Periodic,
                    false => SplineEnds::Clamped,
                };
                let what = format!("motion \"{}\"", motion.name);
                let sentence = overshoot(&what, points, ends);
                warnings.extend(sentence.map(|s| self.warning_at(motion.text_position, s)));
            }
        }
        let mut warn = |at: TextPosition, what: String, curve: &Curve| {
            if let Curve::Table {
                points,
                interpolation: Interpolation::Spline,
            } = curve
            {
                let sentence = overshoot(&what, points, SplineEnds::Natural);
                warnings.extend(sentence.map(|s| self.warning_at(at, s)));
            }
        };
        for joint in &self.joints {
            if let Some(coupling) = &joint.coupling
                && let CouplingLaw::Curve(curve) = &coupling.law
            {
                let what = format!("joint \"{}\": law", joint.name);
                warn(joint.text_position, what, curve);
            }
        }
        for force in &self.forces {
            let (characteristics, profile) = match &force.kind {
                ForceKind::SpringDamper(spring) => ([&spring.stiffness, &spring.damping], None),
                ForceKind::Tyre(tyre) => ([&tyre.stiffness, &tyre.damping], tyre.profile.as_ref()),
                _ => continue,
            };
            for (key, characteristic) in ["stiffness", "damping"].into_iter().zip(characteristics) {
                if let Characteristic::Law(curve) = characteristic {
                    let what = format!("force \"{}\": {key}", force.name);
                    warn(force.text_position, what, curve);
                }
            }
            if let Some(curve) = profile {
                let what = format!("force \"{}\": profile", force.name);
                warn(force.text_position, what, curve);
            }
        }
    }

    /// Parameters without effect.
    fn warn_of_parameters(&self, warnings: &mut Vec<String>) {
        let set = |target: Target| self.parameters.iter().any(|p| p.target == target);
        let massless = (self.bodies.iter().enumerate())
            .all(|(i, body)| body.mass == 0.0 && !set(Target::BodyMass(i)));
        for parameter in &self.parameters {
            let why = match parameter.target {
                Target::ForceLength(i) => match &self.forces[i].kind {
                    ForceKind::SpringDamper(spring)
                        if spring.stiffness == Characteristic::Linear(0.0)
                            && !set(Target::ForceStiffness(i)) =>
                    {
                        "the stiffness is zero"
                    }
                    _ => continue,
                },
                Target::Gravity(_) if massless && self.system.is_none() => "no body has a mass",
                _ => continue,
            };
            let sentence = format!("parameter \"{}\" changes nothing: {why}", parameter.name);
            warnings.push(self.warning_at(parameter.text_position, sentence));
        }
    }
}

/// Part of the range of its points by which a spline may leave it without a warning: a peak between two points.
const OVERSHOOT: f64 = 1e-3;

/// A sentence if the spline through points leaves their range.
fn overshoot(what: &str, points: &[[f64; 2]], ends: SplineEnds) -> Option<String> {
    let [low, high] = points
        .iter()
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], p| {
            [low.min(p[1]), high.max(p[1])]
        });
    let [least, most] = Spline::new(points, ends).extremes();
    let allowed = OVERSHOOT * (high - low);
    if least[1] >= low - allowed && most[1] <= high + allowed {
        return None;
    }
    let [least, most] = [least, most].map(|p| p.map(|x| format!("{}", four_digits(x))));
    Some(format!(
        "{what}: the spline leaves the range of its points: they are within {low} .. {high}, it goes from {} at {} to {} at \
         {}; interpolation = \"monotone\" stays within",
        least[1], least[0], most[1], most[0]
    ))
}

/// A number for people, to four significant digits.
fn four_digits(x: f64) -> f64 {
    format!("{x:.3e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use crate::model::Model;

    fn warnings(text: &str) -> Vec<String> {
        Model::from_text(text, "t").unwrap().warnings()
    }

    #[test]
    fn suspicious_elements_are_reported_by_name() {
        let text = r#"format = 1
[[body]]
name = "plate"
mass = 1
inertia = [0.0833, 0.0833, 0.167]
[[body]]
name = "link"
mass = 0
inertia = [0, 0, 0]
[[body]]
name = "road"
prescribed = true
[[body]]
name = "table"
prescribed = true
[[joint]]
name = "ball"
type = "spherical"
bodies = ["road", "link"]
point = [0, 0, 0]
[[motion]]
name = "lift"
body = "table"
coordinate = "z"
law = "input"
[[force]]
name = "damper"
type = "spring_damper"
bodies = ["ground", "plate"]
points = [[0, 0, 1], [0, 0, 0]]
damping = 1
[[parameter]]
name = "l"
target = "damper.length"
"#;
        let said = warnings(text);
        for (count, fragment) in [
            (1, "gravity is zero"),
            (1, "body \"plate\" is in no joint"),
            (1, "body \"table\" is in no joint"),
            (1, "body \"link\" has no mass"),
            (
                1,
                "body \"plate\": one principal moment of inertia slightly exceeds",
            ),
            (
                1,
                "motion \"lift\" needs an input, but no [[input]] has the target \"lift.position\"",
            ),
            (1, "body \"road\" is prescribed but no [[motion]] moves it"),
            (1, "parameter \"l\" changes nothing: the stiffness is zero"),
            (1, "there are no outputs"),
            (0, "\"road\" has no mass"),
            (0, "\"table\" is prescribed but"),
        ] {
            let found = said.iter().filter(|s| s.contains(fragment)).count();
            assert_eq!(found, count, "{fragment}: {said:#?}");
        }
        assert_eq!(said.len(), 9, "{said:#?}");
        // What is said of an element begins with file, line and column.
        let line = 1 + text[..text.find("name = \"plate\"").unwrap()]
            .matches('\n')
            .count();
        let start = format!("t:{}:1: body \"plate\" is in no joint", line - 1);
        assert!(said.contains(&start), "{start}: {said:#?}");
    }

    #[test]
    fn repartition_has_an_effect_only_in_the_topological_formulation() {
        for (formulation, count) in [("topological", 0), ("hybrid", 1)] {
            let text = format!(
                "format = 1\n[solver]\nformulation = \"{formulation}\"\nrechoose = false\n"
            );
            let said = warnings(&text);
            let found = said
                .iter()
                .filter(|s| s.contains("repartition = false"))
                .count();
            assert_eq!(found, count, "{said:#?}");
        }
    }

    #[test]
    fn a_spline_that_leaves_its_points_is_reported_with_numbers() {
        let text = |interpolation: &str| {
            format!(
                r#"format = 1
dimension = 2
[[body]]
name = "b"
mass = 1
inertia = 1
[[joint]]
name = "rail"
type = "prismatic"
bodies = ["ground", "b"]
point = [0, 0]
axis = [1, 0]
[[motion]]
name = "drive"
joint = "rail"
law = "table"
points = [[0, 0], [5, 0], [5.1, 0.1], [10, 0.1]]
interpolation = "{interpolation}"
[[force]]
name = "bump"
type = "spring_damper"
joint = "rail"
stiffness = {{ table = [[-0.1, -5000], [-0.09, 0], [0.09, 0], [0.1, 5000]], interpolation = "{interpolation}" }}
length = 0
"#
            )
        };
        let leaves = |said: &[String]| -> Vec<String> {
            let found = said.iter().filter(|s| s.contains("leaves the range"));
            found.cloned().collect()
        };
        let said = leaves(&warnings(&text("spline")));
        // Both ends of the swing to four digits, by an independent evaluation of the spline.
        assert!(
            said[0].contains("motion \"drive\"")
                && said[0].contains("from -0.7")
                && said[0].contains("to 0.8"),
            "{said:#?}"
        );
        assert!(said[1].contains("force \"bump\": stiffness"), "{said:#?}");
        assert_eq!(said.len(), 2);
        for interpolation in ["linear", "monotone"] {
            assert!(leaves(&warnings(&text(interpolation))).is_empty());
        }
    }

    #[test]
    fn the_slider_crank_has_no_warnings() {
        let none: Vec<String> = vec![];
        assert_eq!(
            crate::model::tests::model("slider_crank.toml").warnings(),
            none
        );
    }
}
