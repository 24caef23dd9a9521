//! Angles that look like degrees. Keys are in radians; nobody starts a body several turns away on purpose, but many write
//! `angle = 90`.

use std::f64::consts::{PI, TAU};

use super::TableReader;
use crate::model::file::document::{Node, NodeValue};
use crate::model::file::keys::{Key, KeyKind};

/// Distance from a multiple of 15 degrees, in radians, at which a large angle counts as radians written with a few digits.
const WRITTEN: f64 = 1e-3;

impl TableReader<'_> {
    /// Notes the value of a key in radians that is more than a turn.
    pub(super) fn suspect_degrees(&self, key: &Key) {
        let angle = match (key.unit, key.kind) {
            ("rad", _) => true,
            // Of a coordinate that the type of the joint makes an angle.
            ("rad or m", KeyKind::Limits | KeyKind::Coordinates(_) | KeyKind::Number(_)) => {
                self.is_rotational_joint()
            }
            _ => false,
        };
        if let Some(entry) = self.get(key.name)
            && angle
            && let Some(value) = self.first_suspicious(&entry.node)
        {
            let name = key.name;
            let radians = (value * PI / 180.0 * 1e6).round() / 1e6;
            let message = format!(
                "{name} {} in radians, and {value} rad is {:.1} turns; if {value} degrees are meant, write {radians}",
                if name.ends_with('s') { "are" } else { "is" },
                value / TAU
            );
            self.suspect(entry.node.span.start, &message);
        }
    }

    /// Whether the coordinates of this `[[joint]]` are angles.
    fn is_rotational_joint(&self) -> bool {
        let kind = self.get("type").map(|entry| &entry.node.value);
        self.has("bodies")
            && matches!(kind, Some(NodeValue::Text(word)) if ["revolute", "universal", "gimbal"].contains(&word.as_str()))
    }

    /// The first angle of more than a turn that is not a fraction of one, and not written with its unit.
    fn first_suspicious(&self, node: &Node) -> Option<f64> {
        match &node.value {
            NodeValue::Number(value) => {
                let written = self.source.document.text.get(node.span.clone());
                let has_unit = written.is_some_and(|text| text.contains("rad"));
                (looks_like_degrees(*value) && !has_unit).then_some(*value)
            }
            NodeValue::Array(items) => items.iter().find_map(|item| self.first_suspicious(item)),
            _ => None,
        }
    }

    fn suspect(&self, offset: usize, message: &str) {
        let error = self.error(offset, message);
        self.source.document.mistakes.suspect(error.to_string());
    }
}

fn looks_like_degrees(value: f64) -> bool {
    let parts = value / (PI / 12.0);
    value.is_finite()
        && value.abs() > TAU + WRITTEN
        && (parts - parts.round()).abs() * (PI / 12.0) > WRITTEN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;

    #[test]
    fn degrees_are_large_and_no_fraction_of_a_turn() {
        for degrees in [10.0, 30.0, -45.0, 90.0, 180.0, 270.0, 360.0, 7.5] {
            assert!(looks_like_degrees(degrees), "{degrees}");
        }
        for radians in [
            0.0,
            1.57,
            1e-5 - PI,
            1e-5 + 2.0 * PI,
            4.0 * PI,
            9.4248,
            12.566,
            f64::NAN,
        ] {
            assert!(!looks_like_degrees(radians), "{radians}");
        }
    }

    #[test]
    fn an_angle_in_degrees_is_among_the_warnings_with_its_position() {
        let text = "format = 1\ndimension = 2\ngravity = [0, -9.81]\n[[body]]\nname = \"rod\"\nmass = 1\ninertia = 1\nangle = 90\n\
                    [[joint]]\nname = \"pin\"\ntype = \"revolute\"\nbodies = [\"ground\", \"rod\"]\npoint = [0, 0]\n\
                    limits = [-90, 90]\nstiffness = 1000\n[[output]]\nname = \"a\"\nsource = \"pin.position\"\n";
        let said = Model::from_text(text, "m.toml").unwrap().warnings();
        assert_eq!(said.len(), 2, "{said:#?}");
        assert!(
            said[0].starts_with("m.toml:8:9: body \"rod\": angle is in radians"),
            "{said:#?}"
        );
        assert!(
            said[0].ends_with("if 90 degrees are meant, write 1.570796"),
            "{said:#?}"
        );
        assert!(
            said[1].starts_with("m.toml:14:10: joint \"pin\": limits"),
            "{said:#?}"
        );
        // With their unit the numbers mean what they say.
        let with_unit = text.replace("= 90\n", "= \"90 rad\"\n");
        let with_unit = with_unit.replace("[-90, 90]", "[\"-90 rad\", \"90 rad\"]");
        let said = Model::from_text(&with_unit, "m.toml").unwrap().warnings();
        assert_eq!(said, Vec::<String>::new());
        // A prismatic joint has metres.
        let sliding = text
            .replace("\"revolute\"", "\"prismatic\"\naxis = [1, 0]")
            .replace("angle = 90\n", "");
        assert_eq!(
            Model::from_text(&sliding, "m.toml").unwrap().warnings(),
            Vec::<String>::new()
        );
    }
}
