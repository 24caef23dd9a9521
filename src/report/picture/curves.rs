//! Outputs over time as curves, for a system without bodies.

use super::canvas::Canvas;
use super::{GRID, PAPER, png, round_up};
use crate::report::recording::Recording;

const SERIES: [[u8; 3]; 4] = [
    [0x2f, 0x6f, 0xab],
    [0xd1, 0x7a, 0x22],
    [0x2e, 0x8f, 0x6a],
    [0xa6, 0x4d, 0x79],
];
/// Of the picture's width and height.
const MARGIN: f64 = 0.06;
/// Points of a curve.
const POINTS: usize = 4000;

/// A PNG file; every curve has its own scale.
pub fn curves_png(recording: &Recording, size: [usize; 2]) -> Vec<u8> {
    let mut canvas = Canvas::new(size, PAPER);
    let [width, height] = size.map(|n| n as f64);
    let count = recording.outputs.len().min(SERIES.len());
    let (Some(first), Some(last)) = (recording.times.first(), recording.times.last()) else {
        return png::encode(&canvas.picture(), size);
    };
    let span = (last - first).max(f64::MIN_POSITIVE);
    let x = |t: f64| width * (MARGIN + (1.0 - 2.0 * MARGIN) * (t - first) / span);
    let spacing = round_up(span / 10.0);
    for i in 0..=(span / spacing).floor() as usize {
        let at = x(first + i as f64 * spacing);
        let ends = [
            [at, height * MARGIN, 0.0],
            [at, height * (1.0 - MARGIN), 0.0],
        ];
        canvas.line(ends, 1.2, GRID);
    }
    let stride = recording.times.len().div_ceil(POINTS).max(1);
    for (k, color) in SERIES.iter().enumerate().take(count) {
        let values = || recording.rows.iter().skip(k).step_by(recording.width());
        let low = values().copied().fold(f64::INFINITY, f64::min);
        let high = values().copied().fold(f64::NEG_INFINITY, f64::max);
        // One strip for each curve, one below the other.
        let strip = height * (1.0 - 2.0 * MARGIN) / count as f64;
        let top = height * MARGIN + strip * k as f64;
        let y = |v: f64| match high > low {
            true => top + strip * (0.92 - 0.84 * (v - low) / (high - low)),
            false => top + 0.5 * strip,
        };
        let rows = recording.times.iter().zip(values()).step_by(stride);
        let points: Vec<_> = rows.map(|(t, v)| [x(*t), y(*v), 1.0 + k as f64]).collect();
        for pair in points.windows(2) {
            canvas.line([pair[0], pair[1]], 1.8, *color);
        }
    }
    png::encode(&canvas.picture(), size)
}
