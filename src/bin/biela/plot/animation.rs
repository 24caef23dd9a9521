//! What the camera saw, and how it becomes an animation: frames at equal times, shown in real time where that can be
//! watched, slower or faster by a round factor where it cannot.

use super::svg::{Attribute, Svg, px};

/// Samples at equally spaced times.
#[derive(Clone, Debug, Default)]
pub struct Animation {
    times: Vec<f64>,
    values: Vec<f64>,
}

impl Animation {
    /// Adds a sample; all have the same number of values.
    pub fn push(&mut self, time: f64, values: &[f64]) {
        self.times.push(time);
        self.values.extend_from_slice(values);
    }

    /// The times.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// One value over time.
    pub fn column(&self, index: usize) -> impl Iterator<Item = f64> + '_ {
        let width = self.values.len() / self.times.len().max(1);
        self.values
            .iter()
            .skip(index)
            .step_by(width.max(1))
            .copied()
    }
}

/// How a film is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Show {
    /// Every how many samples a frame is shown.
    pub stride: usize,
    /// Frames that stand still at the end before the loop begins again.
    pub hold: usize,
    /// Length of the loop on the screen (s).
    pub duration: f64,
    /// "shown in real time", "shown in slow motion 1:10", ...
    pub pace: String,
}

/// A loop shorter than this cannot be watched (s).
const SHORTEST: f64 = 1.0;
/// A loop longer than this is not waited for (s).
const LONGEST: f64 = 20.0;
/// How long the last frame stays (s).
const HOLD: f64 = 0.5;
/// Largest turn of a body between frames (rad): the players move points on chords, and at this angle the chord leaves
/// the arc by 0.3 % of its radius.
const LARGEST_TURN: f64 = 0.15;
/// Frames for each second on the screen, at least.
const SLOWEST_RATE: f64 = 25.0;

impl Show {
    /// For `samples` samples over `span` seconds; `turns` holds angles over time, one list for each body.
    pub fn new(samples: usize, span: f64, turns: &[Vec<f64>]) -> Self {
        let intervals = samples.saturating_sub(1).max(1);
        let factor = pace_factor(span);
        let playing = span * factor;
        let quickest = turns
            .iter()
            .flat_map(|angles| angles.windows(2).map(|w| (w[1] - w[0]).abs()))
            .fold(0.0, f64::max);
        let by_turn = (LARGEST_TURN / quickest).floor();
        let by_rate = (intervals as f64 / (playing * SLOWEST_RATE)).floor();
        let stride = by_turn.min(by_rate).clamp(1.0, intervals as f64) as usize;
        // Equal key times need the last frame on the last sample.
        let stride = (1..=stride)
            .rev()
            .find(|s| intervals.is_multiple_of(*s))
            .unwrap_or(1);
        let frames = intervals / stride;
        let hold = (HOLD / playing * frames as f64).ceil() as usize;
        Self {
            stride,
            hold,
            duration: playing * (frames + hold) as f64 / frames as f64,
            pace: pace(factor),
        }
    }

    /// Key values of the animation: every shown frame, then the last one held.
    fn keys(&self, values: impl Iterator<Item = String>) -> String {
        let mut keys: Vec<String> = values.step_by(self.stride).collect();
        let last = keys.last().cloned().unwrap_or_default();
        keys.extend(std::iter::repeat_n(last, self.hold));
        keys.join(";")
    }

    /// Moves the element around it: `kind` is translate, rotate or scale. The first animation of an element replaces
    /// its own `transform`, which is the first frame for viewers that stand still; further ones are added.
    pub fn animate(
        &self,
        svg: &mut Svg,
        kind: &str,
        added: bool,
        values: impl Iterator<Item = String>,
    ) {
        let mut attributes: Vec<Attribute> = vec![
            ("attributeName", "transform".to_owned()),
            ("type", kind.to_owned()),
            ("values", self.keys(values)),
            ("dur", format!("{}s", px(self.duration))),
            ("repeatCount", "indefinite".to_owned()),
        ];
        if added {
            attributes.push(("additive", "sum".to_owned()));
        }
        svg.leaf("animateTransform", &attributes);
    }

    /// Changes the `d` of the path around it.
    pub fn animate_outline(&self, svg: &mut Svg, values: impl Iterator<Item = String>) {
        let attributes: [Attribute; 4] = [
            ("attributeName", "d".to_owned()),
            ("values", self.keys(values)),
            ("dur", format!("{}s", px(self.duration))),
            ("repeatCount", "indefinite".to_owned()),
        ];
        svg.leaf("animate", &attributes);
    }
}

/// Seconds on the screen for each simulated second: 1 where the loop can be watched, else a round number.
fn pace_factor(span: f64) -> f64 {
    let mut factor = 1.0;
    let mut steps = [2.0, 2.5, 2.0].into_iter().cycle();
    while span * factor < SHORTEST {
        factor *= steps.next().expect("a cycle never ends");
    }
    while span * factor > LONGEST {
        factor /= steps.next().expect("a cycle never ends");
    }
    factor
}

fn pace(factor: f64) -> String {
    if factor == 1.0 {
        "shown in real time".to_owned()
    } else if factor > 1.0 {
        format!("shown in slow motion 1:{}", px(factor))
    } else {
        format!("shown {} times faster", px(1.0 / factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_watched_is_shown_in_real_time() {
        let show = Show::new(1201, 2.0, &[]);
        assert_eq!(show.pace, "shown in real time");
        // 25 frames for each second: 50 intervals of 24 samples.
        assert_eq!(show.stride, 24);
        assert_eq!(show.hold, 13);
        assert!((show.duration - 2.0 * 63.0 / 50.0).abs() < 1e-12);
    }

    #[test]
    fn very_short_and_very_long_runs_get_a_round_factor() {
        assert_eq!(Show::new(1201, 0.03, &[]).pace, "shown in slow motion 1:50");
        assert_eq!(Show::new(1201, 100.0, &[]).pace, "shown 5 times faster");
    }

    #[test]
    fn quick_turns_get_more_frames() {
        // 20 rad/s sampled at 1/600 s: 0.0333 rad for each sample, so 4 samples stay below 0.15 rad.
        let angles: Vec<f64> = (0..=1200).map(|i| i as f64 * 20.0 / 600.0).collect();
        assert_eq!(Show::new(1201, 2.0, &[angles]).stride, 4);
    }

    #[test]
    fn columns_are_read_over_time() {
        let mut film = Animation::default();
        film.push(0.0, &[1.0, 2.0, 3.0]);
        film.push(0.5, &[4.0, 5.0, 6.0]);
        assert_eq!(film.times(), [0.0, 0.5]);
        assert_eq!(film.column(1).collect::<Vec<_>>(), [2.0, 5.0]);
    }
}
