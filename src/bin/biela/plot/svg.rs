//! A writer of SVG: elements, attributes, escapes, short numbers.

use biela::linalg::elementary::hypot;
use std::fmt::Write;

/// An attribute: name and value.
pub type Attribute<'a> = (&'a str, String);

/// A document under construction.
#[derive(Default)]
pub struct Svg {
    text: String,
    depth: usize,
}

impl Svg {
    /// A document of `width` x `height` pixels, with a style sheet and a white background (readable on dark pages).
    pub fn document(width: f64, height: f64, style: &str, fill: impl FnOnce(&mut Svg)) -> String {
        let mut svg = Self::default();
        let attributes = [
            ("xmlns", "http://www.w3.org/2000/svg".to_owned()),
            ("width", px(width)),
            ("height", px(height)),
            ("viewBox", format!("0 0 {} {}", px(width), px(height))),
        ];
        svg.element("svg", &attributes, |svg| {
            svg.leaf_with_text("style", &[], style);
            let paper = [
                ("class", "paper".to_owned()),
                ("width", "100%".to_owned()),
                ("height", "100%".to_owned()),
            ];
            svg.leaf("rect", &paper);
            fill(svg);
        });
        svg.text
    }

    /// An element with children.
    pub fn element(
        &mut self,
        tag: &str,
        attributes: &[Attribute],
        children: impl FnOnce(&mut Svg),
    ) {
        self.open(tag, attributes, ">\n");
        self.depth += 1;
        children(self);
        self.depth -= 1;
        self.indent();
        writeln!(self.text, "</{tag}>").expect(FITS);
    }

    /// A group of a class.
    pub fn group(&mut self, class: &str, children: impl FnOnce(&mut Svg)) {
        self.element("g", &[("class", class.to_owned())], children);
    }

    /// An element without children.
    pub fn leaf(&mut self, tag: &str, attributes: &[Attribute]) {
        self.open(tag, attributes, "/>\n");
    }

    /// A line of text at a point; `class` gives font, colour and anchor.
    pub fn label(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let attributes = [("class", class.to_owned()), ("x", px(x)), ("y", px(y))];
        self.leaf_with_text("text", &attributes, text);
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, from: [f64; 2], to: [f64; 2]) {
        let attributes = [
            ("class", class.to_owned()),
            ("x1", px(from[0])),
            ("y1", px(from[1])),
            ("x2", px(to[0])),
            ("y2", px(to[1])),
        ];
        self.leaf("line", &attributes);
    }

    /// A circle.
    pub fn circle(&mut self, class: &str, centre: [f64; 2], radius: f64) {
        let attributes = [
            ("class", class.to_owned()),
            ("cx", px(centre[0])),
            ("cy", px(centre[1])),
            ("r", px(radius)),
        ];
        self.leaf("circle", &attributes);
    }

    /// A path; attributes besides `d` are given.
    pub fn path(&mut self, attributes: &[Attribute], d: String) {
        let mut all = attributes.to_vec();
        all.push(("d", d));
        self.leaf("path", &all);
    }

    fn leaf_with_text(&mut self, tag: &str, attributes: &[Attribute], text: &str) {
        self.open(tag, attributes, ">");
        writeln!(self.text, "{}</{tag}>", escaped(text)).expect(FITS);
    }

    fn open(&mut self, tag: &str, attributes: &[Attribute], end: &str) {
        self.indent();
        write!(self.text, "<{tag}").expect(FITS);
        for (name, value) in attributes {
            write!(self.text, " {name}=\"{}\"", escaped(value)).expect(FITS);
        }
        self.text.push_str(end);
    }

    fn indent(&mut self) {
        for _ in 0..self.depth {
            self.text.push(' ');
        }
    }
}

const FITS: &str = "a String takes everything";

/// Pixels with at most two decimals; 0 for numbers that are not finite, which SVG does not allow.
pub fn px(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// `M`/`L` commands through points; a point that is not finite interrupts the line.
pub fn polyline(points: impl IntoIterator<Item = [f64; 2]>) -> String {
    let mut d = String::new();
    let mut command = 'M';
    for [x, y] in points {
        if x.is_finite() && y.is_finite() {
            write!(d, "{command}{} {}", px(x), px(y)).expect(FITS);
            command = 'L';
        } else {
            command = 'M';
        }
    }
    d
}

/// The line without points that are within `tolerance` of it (Douglas and Peucker): a smaller file. Lines with points that
/// are not finite are unchanged.
pub fn simplified(points: &[[f64; 2]], tolerance: f64) -> Vec<[f64; 2]> {
    if points.len() < 3 || points.iter().flatten().any(|c| !c.is_finite()) {
        return points.to_vec();
    }
    let mut keep = vec![false; points.len()];
    let last = points.len() - 1;
    keep[0] = true;
    keep[last] = true;
    let mut spans = vec![(0, last)];
    while let Some((i, k)) = spans.pop() {
        let farthest = (i + 1..k)
            .map(|j| (j, distance(points[j], points[i], points[k])))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((j, far)) = farthest
            && far > tolerance
        {
            keep[j] = true;
            spans.push((i, j));
            spans.push((j, k));
        }
    }
    let kept = points.iter().zip(keep).filter(|(_, keep)| *keep);
    kept.map(|(point, _)| *point).collect()
}

/// Distance of `p` from the segment a b.
fn distance(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let (ab, ap) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let square = ab[0] * ab[0] + ab[1] * ab[1];
    let along = if square > 0.0 {
        ((ap[0] * ab[0] + ap[1] * ab[1]) / square).clamp(0.0, 1.0)
    } else {
        0.0
    };
    hypot(ap[0] - along * ab[0], ap[1] - along * ab[1])
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_finite() {
        assert_eq!(px(1.0), "1");
        assert_eq!(px(-0.001), "0");
        assert_eq!(px(12.345), "12.35");
        assert_eq!(px(100.0), "100");
        assert_eq!(px(f64::NAN), "0");
    }

    #[test]
    fn text_cannot_escape_its_element() {
        let mut svg = Svg::default();
        svg.label("a", 0.0, 1.5, "<b> & \"c\"");
        assert_eq!(
            svg.text,
            "<text class=\"a\" x=\"0\" y=\"1.5\">&lt;b&gt; &amp; &quot;c&quot;</text>\n"
        );
    }

    #[test]
    fn a_gap_in_the_values_is_a_gap_in_the_line() {
        let points = [[0.0, 0.0], [1.0, 1.0], [2.0, f64::NAN], [3.0, 1.0]];
        assert_eq!(polyline(points), "M0 0L1 1M3 1");
    }

    #[test]
    fn simplifying_keeps_corners_and_stays_within_its_tolerance() {
        let corner: Vec<[f64; 2]> = (0..=20)
            .map(|i| [i as f64, (i as f64 - 10.0).max(0.0)])
            .collect();
        assert_eq!(
            simplified(&corner, 0.1),
            [[0.0, 0.0], [10.0, 0.0], [20.0, 10.0]]
        );
        let wave: Vec<[f64; 2]> = (0..=1000)
            .map(|i| [i as f64 * 0.4, 50.0 * (i as f64 * 0.02).sin()])
            .collect();
        let short = simplified(&wave, 0.1);
        assert!(short.len() < 150, "{} points are left", short.len());
        for p in &wave {
            let nearest = short
                .windows(2)
                .map(|w| distance(*p, w[0], w[1]))
                .fold(f64::INFINITY, f64::min);
            assert!(nearest <= 0.1, "{p:?} is {nearest} away");
        }
    }
}
