//! Tables and curves: dimensions of both columns, and of coefficients.

use super::Resolver;
use super::wanted::{Place, Wanted, over_power};
use crate::error::Result;
use crate::model::expression::dimension_of;
use crate::model::file::document::{Node, NodeValue};
use crate::model::file::keys::Key;

impl Resolver<'_> {
    /// Points `[x, y]`.
    pub(super) fn pairs(&self, node: &mut Node, label: &str, x: &Wanted, y: &Wanted) -> Result<()> {
        let NodeValue::Array(points) = &mut node.value else {
            return Ok(());
        };
        for point in points {
            if let NodeValue::Array(two) = &mut point.value {
                for (number, wanted) in two.iter_mut().zip([x, y]) {
                    self.scalar(number, label, wanted)?;
                }
            }
        }
        Ok(())
    }

    /// A function of one number.
    pub(super) fn curve(&self, node: &mut Node, key: &Key, place: Place) -> Result<()> {
        let (x, y) = self.of_curve(key, place);
        let NodeValue::Table(entries) = &mut node.value else {
            return Ok(());
        };
        for entry in entries {
            match entry.key.as_str() {
                "polynomial" => self.coefficients(&mut entry.node, &x, &y)?,
                "table" => self.pairs(&mut entry.node, "table", &x, &y)?,
                "pieces" => {
                    let NodeValue::Array(pieces) = &mut entry.node.value else {
                        continue;
                    };
                    for piece in pieces {
                        let NodeValue::Table(entries) = &mut piece.value else {
                            continue;
                        };
                        for entry in entries {
                            match entry.key.as_str() {
                                "below" => self.scalar(&mut entry.node, "below", &x)?,
                                _ => self.coefficients(&mut entry.node, &x, &y)?,
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Coefficients [c0, c1, ..] of y over x.
    fn coefficients(&self, node: &mut Node, x: &Wanted, y: &Wanted) -> Result<()> {
        let NodeValue::Array(items) = &mut node.value else {
            return Ok(());
        };
        (items.iter_mut().enumerate())
            .try_for_each(|(k, item)| self.scalar(item, "polynomial", &over_power(y, x, k)))
    }

    /// Dimensions of x and y of the curve under a key. A force law has the unit of the number it replaces times that of x.
    fn of_curve(&self, key: &Key, place: Place) -> (Wanted, Wanted) {
        let of = |unit: &str| Some(vec![dimension_of(unit)?]);
        let turns = key.unit.contains("rad");
        let effort = of(if turns { "N.m" } else { "N" });
        match (key.name, place.coupled) {
            ("profile", _) => (of("m"), of("m")),
            ("stiffness", _) => (of(if turns { "rad" } else { "m" }), effort),
            ("damping", _) => (of(if turns { "rad/s" } else { "m/s" }), effort),
            (_, Some(angles)) => {
                let [x, y] = angles.map(|angle| of(if angle { "rad" } else { "m" }));
                (x, y)
            }
            _ => (None, None),
        }
    }
}
