//! Time histories in panels, one for each unit: ticks, grid, lines, legend, and a cursor synchronous with the mechanism.

use biela::component::Variable;
use biela::linalg::elementary::{log10, powf};

use super::animation::{Animation, Playback};
use super::svg::{Svg, polyline, px, simplified};

/// Height of the drawing area of a panel (px).
const PLOT: f64 = 104.0;
/// Height of one line of the legend above it (px).
const LEGEND_LINE: f64 = 17.0;
/// Gap between panels (px).
const GAP: f64 = 20.0;
/// Width of the tick labels left of the drawing area (px).
const LABELS: f64 = 52.0;
/// Height of the time axis below the last panel (px).
const FOOT: f64 = 36.0;
/// Largest number of lines in a panel; more are continued in the next.
const LARGEST_COUNT: usize = 6;
/// Largest change, relative to the value, that is drawn as constant.
const CONSTANT: f64 = 1e-4;
/// Mean width of a letter of the legend (px).
const LETTER: f64 = 6.6;

/// Outputs of one unit drawn together.
pub struct Panel {
    unit: String,
    /// Output number and name.
    lines: Vec<(usize, String)>,
}

/// Panels of the outputs that are shown, those with equal unit together, in the order in which the units first occur.
pub fn panels(outputs: &[Variable], shown: impl Fn(&str) -> bool) -> Vec<Panel> {
    let mut panels: Vec<Panel> = Vec::new();
    let shown = |(_, output): &(usize, &Variable)| shown(&output.name);
    for (index, output) in outputs.iter().enumerate().filter(shown) {
        let line = (index, output.name.clone());
        let open = panels
            .iter_mut()
            .find(|panel| panel.unit == output.unit && panel.lines.len() < LARGEST_COUNT);
        match open {
            Some(panel) => panel.lines.push(line),
            None => panels.push(Panel {
                unit: output.unit.clone(),
                lines: vec![line],
            }),
        }
    }
    panels
}

/// Height of all panels at this width (px).
pub fn height(panels: &[Panel], width: f64) -> f64 {
    if panels.is_empty() {
        return 0.0;
    }
    let body: f64 = panels
        .iter()
        .map(|panel| panel.legend(width).height() + PLOT + GAP)
        .sum();
    body - GAP + FOOT
}

/// Draws the panels below each other; `corner` is the upper left one.
pub fn draw(
    svg: &mut Svg,
    panels: &[Panel],
    animation: &Animation,
    playback: &Playback,
    corner: [f64; 2],
    width: f64,
) {
    let times = animation.times();
    if panels.is_empty() || times.is_empty() {
        return;
    }
    let time = Axis::new(
        times[0],
        times[times.len() - 1],
        corner[0] + LABELS,
        corner[0] + width,
    );
    let ticks = time.ticks(8);
    let mut y = corner[1];
    for (number, panel) in panels.iter().enumerate() {
        let legend = panel.legend(width);
        legend.draw(svg, [corner[0] + LABELS, y]);
        y += legend.height();
        panel.draw(svg, animation, &time, &ticks, y);
        y += PLOT;
        if number + 1 == panels.len() {
            for tick in &ticks {
                svg.label("tick middle", time.at(tick.value), y + 15.0, &tick.label);
            }
            svg.label(
                "axis middle",
                (time.from + time.to) / 2.0,
                y + 31.0,
                "time (s)",
            );
        }
        y += GAP;
    }
    cursor(svg, animation, playback, &time, corner[1], panels, width);
}

/// Draws a line through all panels that moves with the time of the frame.
fn cursor(
    svg: &mut Svg,
    animation: &Animation,
    playback: &Playback,
    time: &Axis,
    top: f64,
    panels: &[Panel],
    width: f64,
) {
    svg.element("g", &[("class", "cursor".to_owned())], |svg| {
        let mut y = top;
        for panel in panels {
            y += panel.legend(width).height();
            svg.line("hair", [time.from, y], [time.from, y + PLOT]);
            y += PLOT + GAP;
        }
        let shifts = animation
            .times()
            .iter()
            .map(|&t| px(time.at(t) - time.from));
        playback.animate(svg, "translate", false, shifts);
    });
}

impl Panel {
    fn draw(&self, svg: &mut Svg, animation: &Animation, time: &Axis, times: &[Tick], top: f64) {
        let bottom = top + PLOT;
        let (low, high) = self.range(animation);
        let axis = Axis::new(low, high, bottom, top);
        for tick in times {
            let x = time.at(tick.value);
            svg.line("grid", [x, top], [x, bottom]);
        }
        for tick in axis.ticks(4) {
            let y = axis.at(tick.value);
            let class = if tick.value == 0.0 { "zero" } else { "grid" };
            svg.line(class, [time.from, y], [time.to, y]);
            svg.label("tick end", time.from - 7.0, y + 3.5, &tick.label);
        }
        for (colour, (index, _)) in self.lines.iter().enumerate() {
            let points: Vec<[f64; 2]> = animation
                .times()
                .iter()
                .zip(animation.column(*index))
                .map(|(&t, value)| [time.at(t), axis.at(value)])
                .collect();
            let class = format!("series s{colour}");
            svg.path(&[("class", class)], polyline(simplified(&points, 0.12)));
        }
    }

    fn range(&self, animation: &Animation) -> (f64, f64) {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (index, _) in &self.lines {
            for value in animation.column(*index).filter(|v| v.is_finite()) {
                low = low.min(value);
                high = high.max(value);
            }
        }
        padded(low, high)
    }

    fn legend(&self, width: f64) -> Legend {
        let mut entries: Vec<LegendEntry> = Vec::new();
        let (mut x, mut line) = (0.0, 0);
        let unit = if self.unit.is_empty() {
            "1"
        } else {
            &self.unit
        };
        let available = width - LABELS - letters(unit) - 24.0;
        for (colour, (_, name)) in self.lines.iter().enumerate() {
            let length = 20.0 + letters(name);
            if x > 0.0 && x + length > available {
                (x, line) = (0.0, line + 1);
            }
            entries.push(LegendEntry {
                x,
                line,
                class: format!("series s{colour}"),
                name: name.clone(),
            });
            x += length + 14.0;
        }
        Legend {
            entries,
            lines: line + 1,
            unit: unit.to_owned(),
            right: width - LABELS,
        }
    }
}

/// Names with their colours, and the unit.
struct Legend {
    entries: Vec<LegendEntry>,
    lines: usize,
    unit: String,
    right: f64,
}

/// A name and its colour.
struct LegendEntry {
    x: f64,
    line: usize,
    class: String,
    name: String,
}

impl Legend {
    fn height(&self) -> f64 {
        self.lines as f64 * LEGEND_LINE + 3.0
    }

    fn draw(&self, svg: &mut Svg, corner: [f64; 2]) {
        for entry in &self.entries {
            let (x, y) = (
                corner[0] + entry.x,
                corner[1] + entry.line as f64 * LEGEND_LINE + 11.0,
            );
            svg.line(&entry.class, [x, y - 4.0], [x + 14.0, y - 4.0]);
            svg.label("name", x + 20.0, y, &entry.name);
        }
        svg.label(
            "axis end",
            corner[0] + self.right,
            corner[1] + 11.0,
            &self.unit,
        );
    }
}

/// Approximate width of a text of the legend (px).
fn letters(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER
}

/// Range of an axis: a margin above and below the values, or a range around a constant value.
pub fn padded(low: f64, high: f64) -> (f64, f64) {
    if low > high {
        return (-1.0, 1.0);
    }
    let span = high - low;
    // Rounding errors of a constant value, such as a conserved energy, are not magnified.
    if span <= CONSTANT * low.abs().max(high.abs()) || span == 0.0 {
        let margin = if high == 0.0 { 1.0 } else { 0.5 * high.abs() };
        return (low - margin, high + margin);
    }
    (low - 0.06 * span, high + 0.06 * span)
}

/// A linear axis: values low..high are at from..to (px).
pub struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

/// A round number of an axis and its label.
pub struct Tick {
    /// The number.
    pub value: f64,
    /// Its label.
    pub label: String,
}

impl Axis {
    /// `low` to `high` from one pixel to another.
    pub fn new(low: f64, high: f64, from: f64, to: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self {
            low,
            high,
            from,
            to,
        }
    }

    /// Pixel of a value.
    pub fn at(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// About `count` round numbers, 1, 2 or 5 times a power of ten apart, and at least three.
    pub fn ticks(&self, count: usize) -> Vec<Tick> {
        let span = self.high - self.low;
        let rough = span / count as f64 * 0.999;
        let power = powf(10f64, log10(rough).floor());
        let steps = [10.0, 5.0, 2.0, 1.0, 0.5, 0.2].map(|m| m * power);
        let fine = steps.iter().rposition(|step| *step >= rough).unwrap_or(0);
        let inside = |step: f64| {
            let slack = 1e-9 * step;
            let first = ((self.low - slack) / step).ceil() as i64;
            first..=((self.high + slack) / step).floor() as i64
        };
        let step = steps[fine..]
            .iter()
            .copied()
            .find(|step| inside(*step).count() >= 3)
            .unwrap_or(steps[fine]);
        let size = self.low.abs().max(self.high.abs());
        inside(step)
            .map(|k| Tick {
                value: k as f64 * step,
                label: tick_label(k as f64 * step, step, size),
            })
            .collect()
    }
}

/// A label with as many decimals as the distance of the ticks needs; with an exponent if the largest number of the axis,
/// `size`, is very small or very large.
fn tick_label(value: f64, step: f64, size: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let text = if !(1e-3..1e5).contains(&size) {
        let digits = (log10(value.abs()).floor() - (log10(step) + 1e-9).floor()).max(0.0) as usize;
        format!("{value:.digits$e}")
    } else {
        let decimals = (-log10(step) - 1e-9).ceil().max(0.0) as usize;
        format!("{value:.decimals$}")
    };
    text.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        let ticks = Axis::new(low, high, 0.0, 1.0).ticks(4);
        ticks.into_iter().map(|t| t.label).collect()
    }

    #[test]
    fn ticks_are_round_numbers_inside_the_range() {
        assert_eq!(labels(0.0, 2.0), ["0", "0.5", "1.0", "1.5", "2.0"]);
        assert_eq!(labels(-0.13, 0.27), ["\u{2212}0.1", "0", "0.1", "0.2"]);
        assert_eq!(labels(-5.2, 5.2), ["\u{2212}5", "0", "5"]);
        assert_eq!(labels(-4.9, 4.9), ["\u{2212}4", "\u{2212}2", "0", "2", "4"]);
        assert_eq!(labels(0.0, 4e6), ["0", "1e6", "2e6", "3e6", "4e6"]);
        assert_eq!(
            labels(0.0, 4e-5),
            [
                "0",
                "1e\u{2212}5",
                "2e\u{2212}5",
                "3e\u{2212}5",
                "4e\u{2212}5"
            ]
        );
    }

    #[test]
    fn labels_of_neighbouring_ticks_differ() {
        for (low, high) in [
            (0.999, 1.001),
            (1e6, 1.000_04e6),
            (-3e-7, 5e-8),
            (12.0, 13.0),
        ] {
            let mut seen = labels(low, high);
            let count = seen.len();
            assert!(count >= 3, "{low}..{high}: {seen:?}");
            seen.dedup();
            assert_eq!(seen.len(), count, "{low}..{high}: {seen:?}");
        }
    }

    #[test]
    fn a_constant_line_has_a_range() {
        assert_eq!(padded(0.0, 0.0), (-1.0, 1.0));
        assert_eq!(padded(2.0, 2.0), (1.0, 3.0));
        let (low, high) = padded(6.22802, 6.22803);
        assert!(low < 4.0 && high > 8.0);
        assert_eq!(padded(f64::INFINITY, f64::NEG_INFINITY), (-1.0, 1.0));
    }

    #[test]
    fn outputs_of_equal_unit_share_a_panel_up_to_a_limit() {
        let output = |i: usize, unit: &str| Variable::output(format!("o{i}"), unit);
        let mut outputs: Vec<Variable> = (0..8).map(|i| output(i, "m")).collect();
        outputs.insert(1, output(9, "rad"));
        let panels = panels(&outputs, |_| true);
        let sizes: Vec<(&str, usize)> = panels
            .iter()
            .map(|p| (p.unit.as_str(), p.lines.len()))
            .collect();
        assert_eq!(sizes, [("m", 6), ("rad", 1), ("m", 2)]);
    }
}
