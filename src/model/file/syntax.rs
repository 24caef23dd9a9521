//! Sentences about texts that are not TOML. The parser says what it expected; here the habits behind the commonest
//! mistakes are recognised: a unit after a number, text without quotes, a comma for the decimal point.

use super::mistakes::MOST;
use crate::linalg::sorting::sort_by_key;
use toml::de::Error;

/// The mistakes that the parser found, the first of each line, with their byte offsets.
pub(super) fn defects(text: &str, errors: &[Error]) -> Vec<(usize, String)> {
    let offset = |error: &&Error| error.span().map_or(text.len(), |span| span.start);
    let mut errors: Vec<&Error> = errors.iter().collect();
    sort_by_key(&mut errors, offset);
    let mut defects: Vec<(usize, String)> = vec![];
    let mut last_line = None;
    for error in errors {
        let offset = offset(&error).min(text.len());
        let (start, line) = line_at(text, offset);
        if last_line == Some(start) || defects.len() == MOST {
            continue;
        }
        last_line = Some(start);
        defects.push(match explained(line) {
            Some((column, message)) => (start + column, message),
            None => {
                let message = error.message().trim().replace('\n', "; ");
                (offset, format!("not valid TOML: {message}"))
            }
        });
    }
    defects
}

/// The line that contains a byte, with the byte at which it begins.
fn line_at(text: &str, offset: usize) -> (usize, &str) {
    let bytes = text.as_bytes();
    let start =
        (bytes[..offset].iter().rposition(|b| *b == b'\n')).map_or(0, |newline| newline + 1);
    let rest = &text[start..];
    (start, rest.lines().next().unwrap_or(""))
}

/// A sentence about `key = value` whose value no TOML parser reads, and the byte of the line it is about.
fn explained(line: &str) -> Option<(usize, String)> {
    let (key, value) = line.split_once('=')?;
    let column = key.len() + 1 + (value.len() - value.trim_start().len());
    let key = key.trim();
    let value = value.split('#').next().unwrap_or("").trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if key.is_empty() || !key.chars().all(plain) || value.is_empty() || value.len() > 60 {
        return None;
    }
    let number_ends = value
        .find(|c: char| !(c.is_ascii_digit() || "+-._eE".contains(c)))
        .unwrap_or(value.len());
    // The e of "1e" may belong to a word.
    let number = value[..number_ends].trim_end_matches(['e', 'E', '.', '_']);
    let after = value[number.len()..].trim_start();
    if !number.is_empty() && number.parse::<f64>().is_ok() {
        if let Some(decimals) = after.strip_prefix(',')
            && decimals.trim().bytes().all(|b| b.is_ascii_digit())
        {
            let decimals = decimals.trim();
            let message = format!(
                "{key} = {value} has a decimal comma: write a point, {key} = {number}.{decimals}"
            );
            return Some((column, message));
        }
        let unit = |c: char| c.is_alphanumeric() || "/.*^²³°·%-".contains(c);
        if !after.is_empty() && after.chars().all(unit) {
            let after = after.replace('°', "deg");
            let message = format!(
                "a number stands without its unit: write {key} = {number}, or with the unit as text, {key} = \"{number} {after}\""
            );
            return Some((column, message));
        }
    }
    let word = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    if value.starts_with(|c: char| c.is_alphabetic()) && value.chars().all(word) {
        let message = format!(
            "{value} is neither a number nor true or false; text stands in quotes: write {key} = \"{value}\""
        );
        return Some((column, message));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn habits_are_recognised_and_answered_with_the_line_to_write() {
        for (line, column, fragment) in [
            ("mass = 1.0 kg", 7, "write mass = 1.0, or"),
            ("mass = 1.0 kg # steel", 7, "mass = \"1.0 kg\""),
            (
                "angle=30deg",
                6,
                "write angle = 30, or with the unit as text, angle = \"30 deg\"",
            ),
            ("stiffness = 1e4 N/m", 12, "write stiffness = 1e4,"),
            ("angle = 30°", 8, "angle = \"30 deg\""),
            ("mass = 1,5", 7, "write a point, mass = 1.5"),
            ("name = rod", 7, "write name = \"rod\""),
        ] {
            let (at, message) = explained(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(at, column, "{line}");
            assert!(message.contains(fragment), "{line}: {message}");
        }
        for line in [
            "mass = [1.0 kg]",
            "= 3",
            "mass = 1.0.0",
            "[[body]",
            "x = \"a",
        ] {
            assert_eq!(explained(line), None, "{line}");
        }
    }

    #[test]
    fn the_first_mistake_of_every_line_is_found() {
        let text = "format = 1\nmass = 1.0 kg\nname = rod\ninertia = 3\nx = ]\n";
        let (_, errors) = toml::de::DeTable::parse_recoverable(text);
        let found: Vec<usize> = defects(text, &errors).iter().map(|d| d.0).collect();
        assert_eq!(found, [18, 32, 52]);
    }
}
