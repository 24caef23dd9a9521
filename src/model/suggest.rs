//! The name a user may have meant: the nearest of those that exist, by the optimal string alignment distance
//! (insert, delete, replace, or swap two neighbours; case does not count).
//!
//! ```text
//!   d(i, j) = min( d(i−1, j) + 1,  d(i, j−1) + 1,  d(i−1, j−1) + [aᵢ ≠ bⱼ],  d(i−2, j−2) + 1 if aᵢ₋₁aᵢ = bⱼbⱼ₋₁ )
//! ```

/// Longer names get no suggestion: keeps the work bounded whatever the text holds.
const LONGEST: usize = 64;
/// Only so many candidates are looked at, for the same reason.
const MOST: usize = 100_000;

/// The candidate nearest to `name`, if any is near enough to be a typing error: one change for every three characters,
/// at least one. Of equally near ones, the first.
pub fn nearest<S: AsRef<str>>(name: &str, candidates: impl IntoIterator<Item = S>) -> Option<S> {
    let name = lower(name)?;
    let mut best: Option<(usize, S)> = None;
    for candidate in candidates.into_iter().take(MOST) {
        let Some(other) = lower(candidate.as_ref()) else {
            continue;
        };
        let limit = match &best {
            Some((distance, _)) if *distance == 0 => break,
            Some((distance, _)) => distance - 1,
            None => (name.len().max(other.len()) / 3).max(1),
        };
        if name.len().abs_diff(other.len()) > limit {
            continue;
        }
        let d = distance(&name, &other);
        // Names of one or two letters are all a change apart: a suggestion would be noise.
        if d <= limit && 2 * d < name.len().max(other.len()) {
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

fn lower(text: &str) -> Option<Vec<char>> {
    if text.len() > 4 * LONGEST {
        return None;
    }
    let chars: Vec<char> = text.chars().map(|c| c.to_ascii_lowercase()).collect();
    (chars.len() <= LONGEST).then_some(chars)
}

fn distance(a: &[char], b: &[char]) -> usize {
    let mut two_before = vec![0; b.len() + 1];
    let mut before: Vec<usize> = (0..=b.len()).collect();
    let mut row = vec![0; b.len() + 1];
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..=b.len() {
            let replaced = before[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut d = replaced.min(before[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d = d.min(two_before[j - 2] + 1);
            }
            row[j] = d;
        }
        std::mem::swap(&mut two_before, &mut before);
        std::mem::swap(&mut before, &mut row);
    }
    before[b.len()]
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

    #[test]
    fn the_distance_counts_changes() {
        for (a, b, d) in [
            ("", "", 0),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
            ("rod", "rod", 0),
        ] {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            assert_eq!(distance(&a, &b), d);
            assert_eq!(distance(&b, &a), d);
        }
    }
}
