//! `--plot`: a picture the program draws itself. Left the mechanism, moving (SMIL, so any browser and a README show it;
//! viewers that stand still show the first frame), right its outputs over time.

mod animation;
mod axes;
mod drawing;
mod svg;

pub use animation::Animation;

use biela::component::Variable;
use biela::model::{Model, Output, TextPosition};

use animation::Show;
use drawing::Scene;
use svg::Svg;

/// Intervals between the samples taken for a picture. Has many divisors, so that frames can be left out evenly.
pub const FRAMES: u64 = 1200;

/// What no declared name can begin with.
const HIDDEN: &str = "picture:";

/// Width of each half, rims, head, and least height of the mechanism, all in pixels.
const COLUMN: f64 = 452.0;
const RIM: f64 = 24.0;
const HEAD: f64 = 62.0;
/// As high as two panels, so that both halves end at the same height.
const LOWEST: f64 = 288.0;

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

/// The mechanism as it will be drawn.
pub struct PictureLayout {
    scene: Option<Scene>,
}

/// Adds the outputs a picture needs: the pose of every body. They are only read, so the simulation stays the same.
pub fn prepare(model: &mut Model) -> PictureLayout {
    // Three dimensions have no drawing yet; their histories are shown alone.
    let scene = (model.dimension == 2 && !model.bodies.is_empty()).then(|| Scene::of(model));
    if scene.is_some() {
        for body in &model.bodies {
            for field in ["x", "y", "angle"] {
                let source = format!("{}.{field}", body.name);
                model.outputs.push(Output {
                    name: format!("{HIDDEN}{source}"),
                    source,
                    unit: None,
                    text_position: TextPosition::default(),
                });
            }
        }
    }
    PictureLayout { scene }
}

/// Whether an output was added by [`prepare`].
pub fn is_hidden(name: &str) -> bool {
    name.starts_with(HIDDEN)
}

/// The picture as SVG text. The film holds the declared outputs first, then what [`prepare`] added.
pub fn draw(
    model: &Model,
    stage: &PictureLayout,
    outputs: &[Variable],
    film: &Animation,
    subtitle: &str,
) -> String {
    let panels = axes::panels(outputs);
    let poses: Vec<[Vec<f64>; 3]> = (0..stage.scene.as_ref().map_or(0, Scene::bodies))
        .map(|body| [0, 1, 2].map(|k| film.column(outputs.len() + 3 * body + k).collect()))
        .collect();
    let angles: Vec<Vec<f64>> = poses.iter().map(|pose| pose[2].clone()).collect();
    let times = film.times();
    let span = times.last().copied().unwrap_or(0.0) - times.first().copied().unwrap_or(0.0);
    let show = Show::new(times.len(), span, &angles);

    let columns = Columns::new(panels, stage.scene.is_some());
    let width = RIM + columns.count() as f64 * (COLUMN + RIM);
    Svg::document(width, HEAD + columns.height + RIM * 0.5, STYLE, |svg| {
        svg.label("title", RIM, 32.0, &model.name);
        let subtitle = match stage.scene {
            Some(_) => format!("{subtitle}; {}", show.pace),
            None => subtitle.to_owned(),
        };
        svg.label("subtitle", RIM, 50.0, &subtitle);
        let mut left = RIM;
        if let Some(scene) = &stage.scene {
            let below = axes::height(&columns.below, COLUMN);
            let frame = drawing::DrawnFrame {
                corner: [left, HEAD],
                size: [COLUMN, columns.height - below],
            };
            scene.draw(svg, model, &poses, &show, &frame);
            let corner = [left, HEAD + columns.height - below];
            axes::draw(svg, &columns.below, film, &show, corner, COLUMN);
            left += COLUMN + RIM;
        }
        axes::draw(svg, &columns.right, film, &show, [left, HEAD], COLUMN);
    })
}

/// Panels to the right of the mechanism and below it, so that the picture is as low as possible.
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
            beside.max(LOWEST + below)
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
        Body, BodyShape, Experiment, Expose, Joint, JointFrame, JointKind, JointPlacement, Sensor,
        SolverSettings,
    };

    const CRANK: f64 = 0.2;
    const ROD: f64 = 0.5;

    /// Centre and angle of crank, rod and slider at a crank angle.
    fn poses(angle: f64) -> [f64; 9] {
        let (sin, cos) = angle.sin_cos();
        let slope = (-CRANK * sin / ROD).asin();
        let reach = CRANK * cos + ROD * slope.cos();
        [
            [CRANK / 2.0 * cos, CRANK / 2.0 * sin, angle],
            [(CRANK * cos + reach) / 2.0, CRANK / 2.0 * sin, slope],
            [reach, 0.0, 0.0],
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
            expose: Expose::Declared,
        }
    }

    fn output(name: &str, unit: &str) -> Variable {
        Variable::output(name, unit)
    }

    fn picture() -> String {
        let mut model = slider_crank();
        let stage = prepare(&mut model);
        assert_eq!(model.outputs.len(), 9);
        assert!(model.outputs.iter().all(|o| is_hidden(&o.name)));
        let outputs = [
            output("angle", "rad"),
            output("slider_x", "m"),
            output("slider_v<", "m/s"),
        ];
        let mut film = Animation::default();
        for i in 0..=FRAMES {
            let t = 2.0 * i as f64 / FRAMES as f64;
            let angle = 0.7 + 12.0 * t;
            let pose = poses(angle);
            let values = [&[angle, pose[6], -12.0 * CRANK * angle.sin()], &pose[..]].concat();
            film.push(t, &values);
        }
        draw(&model, &stage, &outputs, &film, "drawn by a test")
    }

    #[test]
    fn every_body_is_one_animated_group_and_the_first_frame_stands_without_animation() {
        let text = picture();
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
