//! Samples of a motion and their playback: frames at equal times, in real time if the loop has a length that can be watched,
//! otherwise slower or faster by a round factor.

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

/// Playback of an animation.
#[derive(Clone, Debug, PartialEq)]
pub struct Playback {
    /// Number of samples from one frame to the next.
    pub stride: usize,
    /// Number of frames for which the last one stays before the loop begins again.
    pub hold: usize,
    /// Length of the loop on the screen (s).
    pub duration: f64,
    /// "shown in real time", "shown in slow motion 1:10", ...
    pub pace: String,
}

/// Shortest loop that can be watched (s). A convention, as the following.
const SHORTEST: f64 = 1.0;
/// Longest loop (s).
const LONGEST: f64 = 20.0;
/// Time for which the last frame stays (s).
const HOLD: f64 = 0.5;
/// Largest rotation of a body between frames (rad): players interpolate linearly, and at this angle the chord deviates from
/// the arc by 0.3 % of its radius.
const LARGEST_ROTATION: f64 = 0.15;
/// Lowest number of frames for each second on the screen.
const LOWEST_RATE: f64 = 25.0;

impl Playback {
    /// For `samples` samples over `span` seconds; `angles` over time, one list for each body.
    pub fn new(samples: usize, span: f64, angles: &[Vec<f64>]) -> Self {
        let intervals = samples.saturating_sub(1).max(1);
        let factor = pace_factor(span);
        let playing = span * factor;
        let largest = angles
            .iter()
            .flat_map(|angle| angle.windows(2).map(|w| (w[1] - w[0]).abs()))
            .fold(0.0, f64::max);
        let by_rotation = (LARGEST_ROTATION / largest).floor();
        let by_rate = (intervals as f64 / (playing * LOWEST_RATE)).floor();
        let stride = by_rotation.min(by_rate).clamp(1.0, intervals as f64) as usize;
        // The key times are equally spaced, so the last frame must be the last sample.
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

    /// Key values of the animation: all frames, then the last one repeated.
    fn keys(&self, values: impl Iterator<Item = String>) -> String {
        let mut keys: Vec<String> = values.step_by(self.stride).collect();
        let last = keys.last().cloned().unwrap_or_default();
        keys.extend(std::iter::repeat_n(last, self.hold));
        keys.join(";")
    }

    /// Animates the transform of the enclosing element: `kind` is translate, rotate or scale. The first animation replaces the
    /// `transform` attribute, which viewers without animation show; further ones are added to it.
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

    /// Animates the `d` of the enclosing path.
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

/// Seconds on the screen for each simulated second: 1 if the loop can be watched, else a round number.
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

/// The pace in words.
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
    fn loops_that_can_be_watched_are_shown_in_real_time() {
        let playback = Playback::new(1201, 2.0, &[]);
        assert_eq!(playback.pace, "shown in real time");
        // 25 frames for each second: 50 intervals of 24 samples.
        assert_eq!(playback.stride, 24);
        assert_eq!(playback.hold, 13);
        assert!((playback.duration - 2.0 * 63.0 / 50.0).abs() < 1e-12);
    }

    #[test]
    fn very_short_and_very_long_runs_get_a_round_factor() {
        assert_eq!(
            Playback::new(1201, 0.03, &[]).pace,
            "shown in slow motion 1:50"
        );
        assert_eq!(Playback::new(1201, 100.0, &[]).pace, "shown 5 times faster");
    }

    #[test]
    fn fast_rotations_get_more_frames() {
        // 20 rad/s sampled at 1/600 s: 0.0333 rad for each sample, so 4 samples stay below 0.15 rad.
        let angles: Vec<f64> = (0..=1200).map(|i| i as f64 * 20.0 / 600.0).collect();
        assert_eq!(Playback::new(1201, 2.0, &[angles]).stride, 4);
    }

    #[test]
    fn columns_are_read_over_time() {
        let mut animation = Animation::default();
        animation.push(0.0, &[1.0, 2.0, 3.0]);
        animation.push(0.5, &[4.0, 5.0, 6.0]);
        assert_eq!(animation.times(), [0.0, 0.5]);
        assert_eq!(animation.column(1).collect::<Vec<_>>(), [2.0, 5.0]);
    }
}
