//! The fidelity report: what became of every element and attribute of the files.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::xml::{Concern, Fate, XmlFiles, XmlPosition};

/// Lines of a group that the text shows.
const LINES_SHOWN: usize = 4;
/// Reasons of the text for what was dropped and approximated, and notes; the others are counted. All of it is half a screen.
const DROPPED_SHOWN: usize = 7;
const APPROXIMATED_SHOWN: usize = 3;
const NOTES_SHOWN: usize = 4;
/// In notes about names that were changed.
pub const RENAMED: &str = "\" is called ";
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
        let files = match self.files.len() {
            1 => "1 file".to_owned(),
            many => format!("{many} files"),
        };
        line(format!("{}, {files} read", self.format));
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
        line(match self.lost_dynamics().is_empty() {
            true => "Nothing that changes the motion was dropped.".to_owned(),
            false => "What is dropped as [dynamics] changes the motion.".to_owned(),
        });
        for (fate, heading, most) in [
            ("dropped", "Dropped", DROPPED_SHOWN),
            ("approximated", "Approximated", APPROXIMATED_SHOWN),
        ] {
            let reasons = self.by_reason(fate);
            if !reasons.is_empty() {
                line(format!("{heading}:"));
            }
            let most = shown_of(reasons.len(), most);
            for (reason, concern, groups) in reasons.iter().take(most) {
                line(self.reason_line(reason, *concern, groups));
            }
            more_line(&mut line, reasons.len(), most);
        }
        let notes = self.notes_in_short();
        if !notes.is_empty() {
            line("Notes:".to_owned());
        }
        let most = shown_of(notes.len(), NOTES_SHOWN);
        for note in notes.iter().take(most) {
            line(format!("  {note}"));
        }
        more_line(&mut line, notes.len(), most);
        text
    }

    fn reason_line(
        &self,
        reason: &str,
        concern: Option<Concern>,
        groups: &[&FidelityGroup],
    ) -> String {
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
        format!("  {concern}{what}: {reason} ({})", self.lines(&positions))
    }

    /// The notes as lines; names that were changed are one of them.
    fn notes_in_short(&self) -> Vec<String> {
        let placed = |note: &ImportNote| match note.position {
            Some(at) => format!("{} ({})", note.text, self.lines(&[at])),
            None => note.text.clone(),
        };
        let renamed = |note: &&ImportNote| note.text.contains(RENAMED);
        let mut lines: Vec<String> = (self.notes.iter().filter(|note| !renamed(note)))
            .map(placed)
            .collect();
        let names: Vec<&ImportNote> = self.notes.iter().filter(renamed).collect();
        match &names[..] {
            [] => {}
            [one] => lines.push(placed(one)),
            [first, rest @ ..] => {
                let many = format!("{}; {} more names were changed", placed(first), rest.len());
                lines.insert(lines.len().min(NOTES_SHOWN - 1), many);
            }
        }
        lines
    }

    /// Where things are: lines of the first file, `file:line` in others.
    fn lines(&self, positions: &[XmlPosition]) -> String {
        let shown = positions.iter().take(LINES_SHOWN).map(|at| match at.file {
            0 => at.line.to_string(),
            other => {
                let name = self.files[other].rsplit(['/', '\\']).next();
                format!("{}:{}", name.unwrap_or_default(), at.line)
            }
        });
        let shown: Vec<String> = shown.collect();
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

/// How many of `all` are shown: one more than `most` takes no more room than a line that says so.
fn shown_of(all: usize, most: usize) -> usize {
    if all == most + 1 { all } else { most }
}

/// Says how many of `all` are not shown.
fn more_line(line: &mut dyn FnMut(String), all: usize, shown: usize) {
    if all > shown {
        let more = all - shown;
        line(format!("  and {more} more in the report (--report)"));
    }
}
