//! The fidelity report: what became of every element and attribute of the files.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::xml::{Concern, Fate, XmlFiles, XmlPosition};

/// Lines of a group that the text shows.
const LINES_SHOWN: usize = 4;
/// Groups of the text; the others are counted.
const GROUPS_SHOWN: usize = 12;
/// Notes of the text; the others are counted.
const NOTES_SHOWN: usize = 8;
/// Why the importer did not read something.
const UNREAD: &str = "not known to the importer";

/// What was done besides reading: an assumption, a changed name, a moved start.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportNote {
    /// The sentence.
    pub text: String,
    /// What it is about in the file, if anything.
    pub position: Option<XmlPosition>,
}

/// Elements and attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FidelityCount {
    /// Elements.
    pub elements: usize,
    /// Attributes.
    pub attributes: usize,
}

/// Elements and attributes of one name with the same fate.
#[derive(Clone, Debug, PartialEq)]
pub struct FidelityGroup {
    /// `tag`, or `tag attribute`.
    pub what: String,
    /// `kept`, `approximated` or `dropped`.
    pub fate: &'static str,
    /// How or why; empty if it was kept.
    pub reason: String,
    /// What a dropped one concerns.
    pub concern: Option<Concern>,
    /// Where they are.
    pub positions: Vec<XmlPosition>,
    /// How many.
    pub count: FidelityCount,
}

/// The report of an import.
#[derive(Clone, Debug, PartialEq)]
pub struct FidelityReport {
    /// Names of the files that were read.
    pub files: Vec<String>,
    /// `URDF` or `MJCF`.
    pub format: &'static str,
    /// In the files.
    pub total: FidelityCount,
    /// The model says the same.
    pub kept: FidelityCount,
    /// The model says nearly the same.
    pub approximated: FidelityCount,
    /// The model does not say it.
    pub dropped: FidelityCount,
    /// By name and fate.
    pub groups: Vec<FidelityGroup>,
    /// What was done besides.
    pub notes: Vec<ImportNote>,
}

impl FidelityReport {
    /// Counts what became of the elements of `xml`.
    pub fn new(format: &'static str, xml: &XmlFiles, notes: Vec<ImportNote>) -> Self {
        type Key = (u8, String, String, Option<Concern>);
        let mut groups: BTreeMap<Key, (Vec<XmlPosition>, FidelityCount)> = BTreeMap::new();
        let mut put = |what: String, fate: &Fate, at: XmlPosition, is_element: bool| {
            let (order, reason, concern) = match fate {
                Fate::Dropped(why, concern) => (0, why.clone(), Some(*concern)),
                Fate::Unread => (0, UNREAD.to_owned(), Some(Concern::Other)),
                Fate::Approximated(how) => (1, how.clone(), None),
                Fate::Kept => (2, String::new(), None),
            };
            let (positions, count) = groups.entry((order, what, reason, concern)).or_default();
            positions.push(at);
            match is_element {
                true => count.elements += 1,
                false => count.attributes += 1,
            }
        };
        for element in &xml.elements {
            put(
                element.tag.clone(),
                &element.fate.borrow(),
                element.position,
                true,
            );
            for attribute in &element.attributes {
                let what = format!("{} {}", element.tag, attribute.name);
                put(what, &attribute.fate.borrow(), attribute.position, false);
            }
        }
        let mut report = Self {
            files: xml.files.clone(),
            format,
            total: FidelityCount::default(),
            kept: FidelityCount::default(),
            approximated: FidelityCount::default(),
            dropped: FidelityCount::default(),
            groups: vec![],
            notes,
        };
        for ((order, what, reason, concern), (positions, count)) in groups {
            let (fate, sum) = match order {
                0 => ("dropped", &mut report.dropped),
                1 => ("approximated", &mut report.approximated),
                _ => ("kept", &mut report.kept),
            };
            for sum in [sum, &mut report.total] {
                sum.elements += count.elements;
                sum.attributes += count.attributes;
            }
            report.groups.push(FidelityGroup {
                what,
                fate,
                reason,
                concern,
                positions,
                count,
            });
        }
        report
    }

    /// Groups whose loss changes the motion.
    pub fn lost_dynamics(&self) -> Vec<&FidelityGroup> {
        let lost = |group: &&FidelityGroup| group.concern == Some(Concern::Dynamics);
        self.groups.iter().filter(lost).collect()
    }

    /// For people: half a screen.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut line =
            |words: String| writeln!(text, "{words}").expect("a String takes everything");
        line(format!("{}, {} files read", self.format, self.files.len()));
        let shown = |count: FidelityCount| {
            format!(
                "{:>6} elements {:>6} attributes",
                count.elements, count.attributes
            )
        };
        line(format!("  in the file   {}", shown(self.total)));
        line(format!("  kept          {}", shown(self.kept)));
        line(format!("  approximated  {}", shown(self.approximated)));
        line(format!("  dropped       {}", shown(self.dropped)));
        for (fate, heading) in [("dropped", "Dropped"), ("approximated", "Approximated")] {
            let reasons = self.by_reason(fate);
            if !reasons.is_empty() {
                line(format!("{heading}:"));
            }
            for (reason, concern, groups) in reasons.iter().take(GROUPS_SHOWN) {
                let mut positions: Vec<XmlPosition> =
                    groups.iter().flat_map(|g| g.positions.clone()).collect();
                positions.sort();
                positions.dedup_by_key(|at| (at.file, at.line));
                let tags: Vec<&str> = groups.iter().map(|g| g.what.as_str()).collect();
                let what = match &tags[..] {
                    [first, second, _, rest @ ..] => {
                        format!("{first}, {second} and {} more", rest.len() + 1)
                    }
                    few => few.join(", "),
                };
                let concern = concern.map_or(String::new(), |c| format!("[{}] ", c.name()));
                line(format!(
                    "  {concern}{what}: {reason} ({})",
                    lines(&positions)
                ));
            }
            if reasons.len() > GROUPS_SHOWN {
                line(format!(
                    "  and {} more in the report (--report)",
                    reasons.len() - GROUPS_SHOWN
                ));
            }
        }
        if !self.notes.is_empty() {
            line("Notes:".to_owned());
        }
        for note in self.notes.iter().take(NOTES_SHOWN) {
            let at = note
                .position
                .map_or(String::new(), |at| format!(" (line {})", at.line));
            line(format!("  {}{at}", note.text));
        }
        if self.notes.len() > NOTES_SHOWN {
            line(format!(
                "  and {} more in the report (--report)",
                self.notes.len() - NOTES_SHOWN
            ));
        }
        text
    }

    /// Groups of a fate with the same reason, what changes the motion first.
    fn by_reason(&self, fate: &str) -> Vec<(&str, Option<Concern>, Vec<&FidelityGroup>)> {
        let mut reasons: Vec<(&str, Option<Concern>, Vec<&FidelityGroup>)> = vec![];
        for group in self.groups.iter().filter(|group| group.fate == fate) {
            let same = |r: &&mut (&str, Option<Concern>, Vec<&FidelityGroup>)| {
                r.0 == group.reason && r.1 == group.concern
            };
            match reasons.iter_mut().find(same) {
                Some((_, _, groups)) => groups.push(group),
                None => reasons.push((&group.reason, group.concern, vec![group])),
            }
        }
        reasons.sort_by_key(|(_, concern, _)| *concern);
        reasons
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let count =
            |c: FidelityCount| json!({ "elements": c.elements, "attributes": c.attributes });
        let place = |at: &XmlPosition| match self.files.len() {
            1 => json!([at.line, at.column]),
            _ => json!([at.line, at.column, self.files[at.file]]),
        };
        let groups: Vec<Value> = (self.groups.iter())
            .map(|group| {
                let mut value = json!({
                    "what": group.what,
                    "fate": group.fate,
                    "count": group.positions.len(),
                });
                if !group.reason.is_empty() {
                    value["reason"] = json!(group.reason);
                }
                if let Some(concern) = group.concern {
                    value["concern"] = json!(concern.name());
                }
                value["at"] = group.positions.iter().map(place).collect();
                value
            })
            .collect();
        let notes: Vec<Value> = (self.notes.iter())
            .map(|note| match note.position {
                Some(at) => json!({ "text": note.text, "at": place(&at) }),
                None => json!({ "text": note.text }),
            })
            .collect();
        json!({
            "format": self.format,
            "files": self.files,
            "total": count(self.total),
            "kept": count(self.kept),
            "approximated": count(self.approximated),
            "dropped": count(self.dropped),
            "groups": groups,
            "notes": notes,
        })
    }
}

fn lines(positions: &[XmlPosition]) -> String {
    let shown: Vec<String> = (positions.iter().take(LINES_SHOWN))
        .map(|at| at.line.to_string())
        .collect();
    let word = if positions.len() == 1 {
        "line"
    } else {
        "lines"
    };
    let more = match positions.len().saturating_sub(LINES_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{word} {}{more}", shown.join(", "))
}
