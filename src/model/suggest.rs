//! Suggestions for misspelt names: the nearest existing name by the optimal string alignment distance (insert, delete,
//! replace, or swap two neighbours). Case does not count.

/// Longer names get no suggestion: bounds the work for any text.
const LONGEST: usize = 64;
/// Largest number of candidates compared, for the same reason.
const MOST: usize = 100_000;

/// The candidate nearest to `name` that a typing error explains: at most one change for every three characters, and at
/// least one is allowed. Of several at the same distance, the first.
pub fn nearest<S: AsRef<str>>(name: &str, candidates: impl IntoIterator<Item = S>) -> Option<S> {
    let (name, length) = lower(name)?;
    let mut best: Option<(usize, S)> = None;
    for candidate in candidates.into_iter().take(MOST) {
        let Some((other, other_length)) = lower(candidate.as_ref()) else {
            continue;
        };
        let limit = match &best {
            Some((distance, _)) if *distance == 0 => break,
            Some((distance, _)) => distance - 1,
            None => (length.max(other_length) / 3).max(1),
        };
        if length.abs_diff(other_length) > limit {
            continue;
        }
        let d = strsim::osa_distance(&name, &other);
        // Names of one or two letters differ by one change from each other: no suggestion.
        if d <= limit && 2 * d < length.max(other_length) {
            best = Some((d, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// `; did you mean "x"?` or nothing.
pub(crate) fn did_you_mean<S: AsRef<str>>(
    name: &str,
    candidates: impl IntoIterator<Item = S>,
) -> String {
    match nearest(name, candidates) {
        Some(candidate) => format!("; did you mean \"{}\"?", candidate.as_ref()),
        None => String::new(),
    }
}

/// A short text in lower case, with its number of characters.
fn lower(text: &str) -> Option<(String, usize)> {
    if text.len() > 4 * LONGEST {
        return None;
    }
    let length = text.chars().count();
    (length <= LONGEST).then(|| (text.to_ascii_lowercase(), length))
}

/// At most 40 characters of one line, for messages.
pub(crate) fn shorten(text: &str) -> String {
    const MOST: usize = 40;
    let mut short: String = text
        .chars()
        .take(MOST)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_find_the_name_that_was_meant() {
        let keys = [
            "mass",
            "inertia",
            "position",
            "velocity",
            "angular_velocity",
        ];
        for (typed, meant) in [
            ("mas", "mass"),
            ("amss", "mass"),
            ("Mass", "mass"),
            ("intertia", "inertia"),
            ("positon", "position"),
            ("angularvelocity", "angular_velocity"),
        ] {
            assert_eq!(nearest(typed, keys), Some(meant), "{typed}");
        }
    }

    #[test]
    fn a_stranger_gets_no_suggestion() {
        assert_eq!(nearest("colour", ["mass", "inertia", "position"]), None);
        assert_eq!(nearest("a", ["b", "c"]), None);
        assert_eq!(nearest("z", ["wz", "x"]), None);
        assert_eq!(nearest(&"x".repeat(1000), ["x"]), None);
        assert_eq!(nearest("", ["a"]), None);
    }
}
