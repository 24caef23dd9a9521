//! `--plot`: an SVG file with the animated mechanism on the left (SMIL: every browser shows it; viewers without animation show
//! the first frame) and its outputs over time on the right.

mod animation;
mod axes;
mod beam_drawing;
mod body_trajectory;
mod drawing;
mod force_drawing;
mod geometry;
mod ground;
mod outline;
mod png;
mod svg;
mod view;
mod xy;

pub use animation::Animation;

use std::path::Path;

use biela::component::Variable;
use biela::model::suggest::nearest;
use biela::model::{Model, Output, TextPosition};

use animation::Playback;
use drawing::Scene;
use svg::Svg;
use view::DrawnFrame;
use xy::XyPanel;

use crate::Failure;
use crate::output;

/// Number of intervals between the samples of an animation. It has many divisors, so that frames can be left out evenly.
pub const FRAMES: u64 = 1200;

/// First letters of the outputs that only the plot needs; more underscores follow where a declared name begins like that.
const HIDDEN: &str = "plot_";

/// Width of a column (px).
const COLUMN: f64 = 452.0;
/// Margin (px).
const MARGIN: f64 = 24.0;
/// Height of the title (px).
const HEAD: f64 = 62.0;
/// Least height of the mechanism (px): that of two panels, so that both columns end at the same height.
const LEAST_HEIGHT: f64 = 288.0;

const STYLE: &str = "\
text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#3d4652}\
.paper{fill:#fff}\
.title{font-size:18px;font-weight:600;fill:#1f2933}.subtitle{font-size:12px;fill:#6b7785}\
.tick{font-size:10.5px;fill:#6b7785}.axis{font-size:11px;fill:#6b7785}.name{font-size:12px}\
.middle{text-anchor:middle}.end{text-anchor:end}\
.grid{stroke:#e6eaee}.zero{stroke:#b9c2cc}.hair{stroke:#1f2933;stroke-opacity:.45}\
.series{fill:none;stroke-width:1.6;stroke-linejoin:round}\
.s0{stroke:#2f6fab}.s1{stroke:#d17a22}.s2{stroke:#3a8f6f}.s3{stroke:#a64d79}.s4{stroke:#7a68a6}.s5{stroke:#8a8f98}\
.bar{fill:none;stroke-linecap:round;stroke-linejoin:round}.solid{stroke-linejoin:round}\
.e0{stroke:#2a5f92}.e1{stroke:#a8611a}.e2{stroke:#2e7359}.e3{stroke:#853d61}.e4{stroke:#615385}.e5{stroke:#646a73}\
.f0{stroke:#bcd4ea}.f1{stroke:#f3d3ae}.f2{stroke:#bfe0d3}.f3{stroke:#e6c6d6}.f4{stroke:#d6cfe8}.f5{stroke:#d9dce1}\
.p0{fill:#bcd4ea}.p1{fill:#f3d3ae}.p2{fill:#bfe0d3}.p3{fill:#e6c6d6}.p4{fill:#d6cfe8}.p5{fill:#d9dce1}\
.pin{fill:#fff;stroke:#1f2933;stroke-width:1.6}.support{fill:#eef1f4;stroke:#55606d;stroke-width:1.4;stroke-linejoin:round}\
.ground{stroke:#55606d;stroke-width:1.4;fill:none}.hatch{stroke:#55606d;stroke-width:1;stroke-opacity:.7}\
.trace{fill:none;stroke:#c0392b;stroke-opacity:.45;stroke-width:1.2;stroke-linejoin:round}.sensor{fill:#c0392b}\
.spring{fill:none;stroke:#55606d;stroke-width:1.5;stroke-linejoin:round}\
.rod{stroke:#55606d;stroke-width:2;stroke-dasharray:5 3}\
.scale{stroke:#6b7785;stroke-width:1.2;fill:none}";

/// Layout of the plot of a model.
pub struct PlotLayout {
    scene: Option<Scene>,
    /// Number of outputs that [`prepare`] added behind the declared ones.
    pub hidden: usize,
    /// Which outputs are shown.
    choice: PlotChoice,
}

/// Adds the outputs that a plot needs: the pose of every body. They are only read, so the simulation stays the same.
pub fn prepare(model: &mut Model, choice: PlotChoice) -> PlotLayout {
    // Spatial mechanisms are not drawn; only their outputs are shown.
    let scene = (model.dimension == 2 && !model.bodies.is_empty()).then(|| Scene::of(model));
    let declared = model.outputs.len();
    if scene.is_some() {
        let mut prefix = HIDDEN.to_owned();
        while variable_names(model).any(|name| name.starts_with(&prefix)) {
            prefix.push('_');
        }
        // By number: the nodes of a beam have a dot in their names.
        for (number, body) in model.bodies.iter().enumerate() {
            for field in ["x", "y", "angle"] {
                let source = format!("{}.{field}", body.name);
                model.outputs.push(Output {
                    name: format!("{prefix}{number}_{field}"),
                    source,
                    unit: None,
                    text_position: TextPosition::default(),
                });
            }
        }
    }
    let hidden = model.outputs.len() - declared;
    PlotLayout {
        scene,
        hidden,
        choice,
    }
}

/// Names of the declared variables.
fn variable_names(model: &Model) -> impl Iterator<Item = &String> {
    let inputs = model.inputs.iter().map(|input| &input.name);
    let outputs = model.outputs.iter().map(|output| &output.name);
    let parameters = model.parameters.iter().map(|parameter| &parameter.name);
    inputs.chain(outputs).chain(parameters)
}

/// Which outputs a plot shows.
#[derive(Clone, Debug, Default)]
pub struct PlotChoice {
    /// Outputs over time; all if there is none.
    pub shown: Vec<String>,
    /// Pairs of outputs, the second over the first.
    pub pairs: Vec<[String; 2]>,
}

impl PlotChoice {
    /// Refuses names that are no outputs.
    pub fn check(&self, outputs: &[Variable]) -> Result<(), Failure> {
        for name in self.shown.iter().chain(self.pairs.iter().flatten()) {
            if outputs.iter().all(|output| output.name != *name) {
                let names = outputs.iter().map(|output| output.name.as_str());
                let hint = match nearest(name, names) {
                    Some(near) => format!("; did you mean \"{near}\"?"),
                    None => String::new(),
                };
                let message = format!("there is no output \"{name}\" to draw{hint}");
                return Err(Failure::Input(message));
            }
        }
        Ok(())
    }

    fn shows(&self, name: &str) -> bool {
        self.shown.is_empty() || self.shown.iter().any(|shown| shown == name)
    }

    fn panels(&self, outputs: &[Variable]) -> Vec<XyPanel> {
        let pairs = self
            .pairs
            .iter()
            .map(|pair| pair.each_ref().map(String::as_str));
        pairs
            .filter_map(|pair| XyPanel::new(outputs, pair).ok())
            .collect()
    }
}

/// The bytes of a file with this name: SVG as it is, or drawn as PNG.
pub fn file_bytes(path: &Path, svg: String) -> Result<Vec<u8>, Failure> {
    let png = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("png"));
    if !png || output::is_standard(path) {
        return Ok(svg.into_bytes());
    }
    png::png(&svg).map_err(|reason| {
        Failure::Simulation(format!("cannot draw \"{}\": {reason}", path.display()))
    })
}

/// Outputs over time without a mechanism, as SVG text.
pub fn draw_outputs(
    title: &str,
    outputs: &[Variable],
    animation: &Animation,
    subtitle: &str,
) -> String {
    let layout = PlotLayout {
        scene: None,
        hidden: 0,
        choice: PlotChoice::default(),
    };
    let model = Model {
        name: title.to_owned(),
        ..Model::default()
    };
    draw(&model, &layout, outputs, animation, subtitle)
}

/// The plot as SVG text. The animation has the declared outputs first, then those that [`prepare`] added.
pub fn draw(
    model: &Model,
    layout: &PlotLayout,
    outputs: &[Variable],
    animation: &Animation,
    subtitle: &str,
) -> String {
    let panels = axes::panels(outputs, |name| layout.choice.shows(name));
    let pairs = layout.choice.panels(outputs);
    let poses: Vec<[Vec<f64>; 3]> = (0..layout.scene.as_ref().map_or(0, Scene::bodies))
        .map(|body| [0, 1, 2].map(|k| animation.column(outputs.len() + 3 * body + k).collect()))
        .collect();
    let angles: Vec<Vec<f64>> = poses.iter().map(|pose| pose[2].clone()).collect();
    let times = animation.times();
    let span = times.last().copied().unwrap_or(0.0) - times.first().copied().unwrap_or(0.0);
    let playback = Playback::new(times.len(), span, &angles);

    let columns = Columns::new(panels, layout.scene.is_some());
    let count = columns.count() + usize::from(!pairs.is_empty());
    let width = MARGIN + count as f64 * (COLUMN + MARGIN);
    let height = columns.height.max(pairs.len() as f64 * XyPanel::HEIGHT);
    Svg::document(width, HEAD + height + MARGIN * 0.5, STYLE, |svg| {
        svg.label("title", MARGIN, 32.0, &model.name);
        let subtitle = match layout.scene {
            Some(_) => format!("{subtitle}; {}", playback.pace),
            None => subtitle.to_owned(),
        };
        svg.label("subtitle", MARGIN, 50.0, &subtitle);
        let mut left = MARGIN;
        if let Some(scene) = &layout.scene {
            let below = axes::height(&columns.below, COLUMN);
            let frame = DrawnFrame {
                corner: [left, HEAD],
                size: [COLUMN, columns.height - below],
            };
            scene.draw(svg, model, &poses, &playback, &frame);
            let corner = [left, HEAD + columns.height - below];
            axes::draw(svg, &columns.below, animation, &playback, corner, COLUMN);
            left += COLUMN + MARGIN;
        }
        axes::draw(
            svg,
            &columns.right,
            animation,
            &playback,
            [left, HEAD],
            COLUMN,
        );
        let left = width - COLUMN - MARGIN;
        for (k, pair) in pairs.iter().enumerate() {
            let corner = [left, HEAD + k as f64 * XyPanel::HEIGHT];
            pair.draw(svg, animation, &playback, corner, COLUMN);
        }
    })
}

/// Panels to the right of the mechanism and below it, divided so that the plot is as low as possible.
struct Columns {
    right: Vec<axes::Panel>,
    below: Vec<axes::Panel>,
    height: f64,
    mechanism: bool,
}

impl Columns {
    fn new(mut panels: Vec<axes::Panel>, mechanism: bool) -> Self {
        let height = |right: usize| {
            let beside = axes::height(&panels[..right], COLUMN);
            let below = axes::height(&panels[right..], COLUMN);
            beside.max(LEAST_HEIGHT + below)
        };
        let right = if mechanism {
            (0..=panels.len())
                .rev()
                .min_by(|a, b| height(*a).total_cmp(&height(*b)))
                .unwrap_or(0)
        } else {
            panels.len()
        };
        let height = height(right);
        let below = panels.split_off(right);
        Self {
            right: panels,
            below,
            height,
            mechanism,
        }
    }

    fn count(&self) -> usize {
        usize::from(self.mechanism) + usize::from(!self.right.is_empty() || !self.mechanism)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use biela::model::{
        Body, BodyShape, Experiment, Joint, JointFrame, JointKind, JointPlacement, Sensor,
        SolverSettings,
    };

    const CRANK: f64 = 0.2;
    const ROD: f64 = 0.5;

    /// Centre and angle of crank, rod and slider at a crank angle.
    fn poses(angle: f64) -> [f64; 9] {
        let (sin, cos) = angle.sin_cos();
        let slope = (-CRANK * sin / ROD).asin();
        let slider = CRANK * cos + ROD * slope.cos();
        [
            [CRANK / 2.0 * cos, CRANK / 2.0 * sin, angle],
            [(CRANK * cos + slider) / 2.0, CRANK / 2.0 * sin, slope],
            [slider, 0.0, 0.0],
        ]
        .concat()
        .try_into()
        .expect("three bodies of three numbers")
    }

    fn slider_crank() -> Model {
        let start = poses(0.7);
        let body = |i: usize, name: &str, shape| Body {
            name: name.to_owned(),
            mass: 1.0,
            inertia: [0.0; 6],
            position: [start[3 * i], start[3 * i + 1], 0.0],
            angle: start[3 * i + 2],
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            center_of_mass: [0.0; 3],
            shape,
            ..Body::default()
        };
        let joint = |name: &str, kind, bodies, x: f64, y: f64| Joint {
            name: name.to_owned(),
            kind,
            bodies,
            frame: JointPlacement::InitialPose(JointFrame {
                point: [x, y, 0.0],
                axis: [1.0, 0.0, 0.0],
                ..JointFrame::default()
            }),
            ..Joint::default()
        };
        let pin = [CRANK * 0.7f64.cos(), CRANK * 0.7f64.sin()];
        Model {
            origin: "test".to_owned(),
            name: "slider_crank".to_owned(),
            dimension: 2,
            gravity: [0.0, -9.81, 0.0],
            solver: SolverSettings::default(),
            experiment: Experiment {
                start: 0.0,
                stop: 2.0,
                interval: None,
                ..Experiment::default()
            },
            system: None,
            motions: vec![],
            user_system: None,
            bodies: vec![
                body(0, "crank", None),
                body(1, "rod", None),
                body(2, "slider", Some(BodyShape::Box([0.12, 0.08, 0.0]))),
            ],
            joints: vec![
                joint("main", JointKind::Revolute, [None, Some(0)], 0.0, 0.0),
                joint(
                    "pin",
                    JointKind::Revolute,
                    [Some(0), Some(1)],
                    pin[0],
                    pin[1],
                ),
                joint(
                    "wrist",
                    JointKind::Revolute,
                    [Some(1), Some(2)],
                    start[6],
                    0.0,
                ),
                joint(
                    "guide",
                    JointKind::Prismatic,
                    [None, Some(2)],
                    start[6],
                    0.0,
                ),
            ],
            forces: Vec::new(),
            sensors: vec![Sensor {
                name: "middle".to_owned(),
                body: Some(1),
                point: [0.0; 3],
                text_position: TextPosition::default(),
            }],
            inputs: Vec::new(),
            outputs: Vec::new(),
            parameters: Vec::new(),
            ..Model::default()
        }
    }

    fn output(name: &str, unit: &str) -> Variable {
        Variable::output(name, unit)
    }

    fn plot() -> String {
        let mut model = slider_crank();
        let layout = prepare(&mut model, PlotChoice::default());
        assert_eq!(model.outputs.len(), 9);
        assert!(model.outputs.iter().all(|o| o.name.starts_with(HIDDEN)));
        let outputs = [
            output("angle", "rad"),
            output("slider_x", "m"),
            output("slider_v<", "m/s"),
        ];
        let mut animation = Animation::default();
        for i in 0..=FRAMES {
            let t = 2.0 * i as f64 / FRAMES as f64;
            let angle = 0.7 + 12.0 * t;
            let pose = poses(angle);
            let values = [&[angle, pose[6], -12.0 * CRANK * angle.sin()], &pose[..]].concat();
            animation.push(t, &values);
        }
        draw(&model, &layout, &outputs, &animation, "drawn by a test")
    }

    #[test]
    fn every_body_is_an_animated_group_with_the_first_frame_as_its_transform() {
        let text = plot();
        let groups: Vec<&str> = text
            .lines()
            .filter(|l| l.contains("class=\"body\""))
            .collect();
        assert_eq!(groups.len(), 3);
        for (group, name) in groups.iter().zip(["crank", "rod", "slider"]) {
            assert!(group.contains(&format!("id=\"{name}\"")), "{group}");
            assert!(group.contains("transform=\"translate("), "{group}");
        }
        // Two for each body and one for the cursor.
        assert_eq!(text.matches("<animateTransform").count(), 7);
        assert_eq!(text.matches("class=\"rail\"").count(), 1);
        assert_eq!(text.matches("class=\"fixed\"").count(), 1);
        assert_eq!(text.matches("class=\"pin\"").count(), 3);
        assert!(text.contains("slider_v&lt;"));
        assert!(text.contains("shown in real time"));
    }
}
