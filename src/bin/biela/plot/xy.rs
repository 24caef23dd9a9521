//! `--xy`: one output over another, with a point that moves with the mechanism.

use super::animation::{Animation, Playback};
use super::axes::{Axis, padded};
use super::svg::{Svg, polyline, px, simplified};
use biela::component::Variable;

/// Height of the drawing area (px).
const PLOT: f64 = 240.0;
/// Height of the name of the vertical axis above it (px).
const HEAD: f64 = 20.0;
/// Height of ticks and name of the horizontal axis below it, with a gap (px).
const FOOT: f64 = 48.0;
/// Width of the tick labels left of it (px).
const LABELS: f64 = 52.0;

/// One output over another.
pub struct XyPanel {
    /// Column and name with unit of the horizontal axis.
    x: (usize, String),
    /// The same of the vertical axis.
    y: (usize, String),
}

impl XyPanel {
    /// The panel of two outputs by name; the error is the name that does not exist.
    pub fn new(outputs: &[Variable], [x, y]: [&str; 2]) -> Result<Self, String> {
        let axis = |name: &str| match outputs.iter().position(|output| output.name == name) {
            Some(index) => {
                let unit = match outputs[index].unit.as_str() {
                    "" => String::new(),
                    unit => format!(" ({unit})"),
                };
                Ok((index, format!("{name}{unit}")))
            }
            None => Err(name.to_owned()),
        };
        Ok(Self {
            x: axis(x)?,
            y: axis(y)?,
        })
    }

    /// Height of one panel (px).
    pub const HEIGHT: f64 = HEAD + PLOT + FOOT;

    /// Draws the panel; `corner` is its upper left one.
    pub fn draw(
        &self,
        svg: &mut Svg,
        animation: &Animation,
        playback: &Playback,
        corner: [f64; 2],
        width: f64,
    ) {
        let (top, bottom) = (corner[1] + HEAD, corner[1] + HEAD + PLOT);
        let (left, right) = (corner[0] + LABELS, corner[0] + width);
        let axis = |index: usize, from: f64, to: f64| {
            let (low, high) = range(animation.column(index));
            Axis::new(low, high, from, to)
        };
        let x = axis(self.x.0, left, right);
        let y = axis(self.y.0, bottom, top);
        for tick in x.ticks(6) {
            let at = x.at(tick.value);
            let class = if tick.value == 0.0 { "zero" } else { "grid" };
            svg.line(class, [at, top], [at, bottom]);
            svg.label("tick middle", at, bottom + 15.0, &tick.label);
        }
        for tick in y.ticks(6) {
            let at = y.at(tick.value);
            let class = if tick.value == 0.0 { "zero" } else { "grid" };
            svg.line(class, [left, at], [right, at]);
            svg.label("tick end", left - 7.0, at + 3.5, &tick.label);
        }
        svg.label("name", left, corner[1] + 12.0, &self.y.1);
        svg.label(
            "axis middle",
            (left + right) / 2.0,
            bottom + 31.0,
            &self.x.1,
        );
        let points: Vec<[f64; 2]> = (animation.column(self.x.0))
            .zip(animation.column(self.y.0))
            .map(|(a, b)| [x.at(a), y.at(b)])
            .filter(|point| point.iter().all(|p| p.is_finite()))
            .collect();
        let Some(first) = points.first().copied() else {
            return;
        };
        let line = polyline(simplified(&points, 0.12));
        svg.path(&[("class", "series s0".to_owned())], line);
        let start = format!("translate({} {})", px(first[0]), px(first[1]));
        let attributes = [("class", "cursor".to_owned()), ("transform", start)];
        svg.element("g", &attributes, |svg| {
            svg.circle("sensor", [0.0, 0.0], 4.0);
            let places = points.iter().map(|p| format!("{} {}", px(p[0]), px(p[1])));
            playback.animate(svg, "translate", false, places);
        });
    }
}

/// Range of an axis through these values.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values.filter(|v| v.is_finite()) {
        low = low.min(value);
        high = high.max(value);
    }
    padded(low, high)
}
