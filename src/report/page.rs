//! The HTML file. Scripts and styles are allowed by their hashes only, everything else is forbidden, and what comes from
//! the model stands in JSON elements in which no tag can begin.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::columns::base64;

const TEMPLATE: &str = include_str!("assets/page.html");

/// Foreign code, as it was published; licences in `assets/vendor`.
const VENDOR: [&str; 2] = [
    include_str!("assets/vendor/uplot.min.js"),
    include_str!("assets/vendor/ogl.min.js"),
];

/// The page's own script: these files in this order, in one function, so that they share names with each other only.
const SCRIPTS: [&str; 19] = [
    include_str!("assets/js/data.js"),
    include_str!("assets/js/math.js"),
    include_str!("assets/js/mesh.js"),
    include_str!("assets/js/theme.js"),
    include_str!("assets/js/bodies.js"),
    include_str!("assets/js/mechanism.js"),
    include_str!("assets/js/elements.js"),
    include_str!("assets/js/beams.js"),
    include_str!("assets/js/arrows.js"),
    include_str!("assets/js/camera.js"),
    include_str!("assets/js/webgl.js"),
    include_str!("assets/js/canvas.js"),
    include_str!("assets/js/stage.js"),
    include_str!("assets/js/player.js"),
    include_str!("assets/js/plots.js"),
    include_str!("assets/js/solver.js"),
    include_str!("assets/js/tables.js"),
    include_str!("assets/js/live.js"),
    include_str!("assets/js/main.js"),
];

const STYLES: [&str; 2] = [
    include_str!("assets/vendor/uplot.min.css"),
    include_str!("assets/page.css"),
];

const LICENCES: [(&str, &str); 2] = [
    ("uPlot", include_str!("assets/vendor/uplot.LICENSE")),
    ("OGL", include_str!("assets/vendor/ogl.LICENSE")),
];

/// A run, encoded.
pub struct ReportData {
    pub(super) title: String,
    pub(super) summary: Value,
    pub(super) columns: String,
}

/// Times measured by a clock, by what they were spent on (CPU seconds).
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// In the order of the run.
    pub parts: Vec<(&'static str, f64)>,
}

impl ReportData {
    /// The page as a file.
    pub fn page(&self, measured: &Measured) -> String {
        self.filled(measured, None)
    }

    /// The page as a server of changes gives it out: it asks `state` for a later version, and its policy allows that.
    pub fn live_page(&self, measured: &Measured, version: &str) -> String {
        self.filled(measured, Some(version))
    }

    fn filled(&self, measured: &Measured, version: Option<&str>) -> String {
        let script = script();
        let style = STYLES.concat();
        let mut policy = format!(
            "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
            hash(&script),
            hash(&style)
        );
        let mut live = String::new();
        if let Some(version) = version {
            policy.push_str("; connect-src 'self'");
            live = format!(" data-live=\"{}\"", escape(version));
        }
        let measured: Vec<Value> = (measured.parts.iter())
            .map(|(what, seconds)| json!([what, seconds]))
            .collect();
        fill(
            TEMPLATE,
            &[
                ("live", &live),
                ("policy", &policy),
                ("title", &escape(&self.title)),
                ("style", &style),
                ("licences", &escape(&licences())),
                ("summary", &in_element(&self.summary)),
                ("measured", &in_element(&Value::Array(measured))),
                ("columns", &self.columns),
                ("script", &script),
            ],
        )
    }
}

fn script() -> String {
    format!(
        "{}\n(() => {{\n\"use strict\";\n{}\n}})();\n",
        VENDOR.join("\n"),
        SCRIPTS.join("\n")
    )
}

fn licences() -> String {
    LICENCES
        .map(|(name, text)| format!("{name}\n\n{text}"))
        .join("\n\n")
}

/// Puts each text at the place of its name, `{{name}}`, once.
fn fill(template: &str, texts: &[(&str, &str)]) -> String {
    let mut page = String::new();
    let mut rest = template;
    for (name, text) in texts {
        let (before, after) = rest
            .split_once(&format!("{{{{{name}}}}}"))
            .expect("the template has every place, in this order");
        page.push_str(before);
        page.push_str(text);
        rest = after;
    }
    page + rest
}

/// As a source expression of a content-security policy.
fn hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text)))
}

/// JSON that may stand in a `<script>` element: no tag and no comment can begin in it.
fn in_element(value: &Value) -> String {
    value
        .to_string()
        .replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// Text between tags or in quotes.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_leave_their_element() {
        let evil = "</script><script>alert(1)</script><!-- & \u{2028}";
        let data = ReportData {
            title: evil.to_owned(),
            summary: json!({ "text": evil }),
            columns: String::new(),
        };
        let page = data.page(&Measured::default());
        assert!(!page.contains("alert(1)</script>"));
        assert!(!page.contains("<!--"));
        assert_eq!(
            page.matches("<script").count(),
            page.matches("</script>").count()
        );
        let read: Value = serde_json::from_str(&in_element(&data.summary)).unwrap();
        assert_eq!(read["text"], evil);
    }

    #[test]
    fn own_code_cannot_end_its_element() {
        let script = script().to_lowercase();
        assert!(!script.contains("</script") && !script.contains("<!--"));
        assert!(!STYLES.concat().to_lowercase().contains("</style"));
    }
}
