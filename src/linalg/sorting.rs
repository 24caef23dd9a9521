//! Sorting of lists that are made once: of a model, a message, a spectrum.
//!
//! The sort of the standard library is compiled again for every type and every comparison, 8 kB each time. Here it is compiled once,
//! for indices, and the list is brought into their order.

use std::cmp::Ordering;

/// Sorts a list; equal entries keep their order.
pub fn sort_by<T>(list: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut order = sorted_indices(list.len(), &|i, k| compare(&list[i], &list[k]));
    // The entry for place i is at order[i]; those that have moved are marked by an index of their own.
    for start in 0..list.len() {
        let mut place = start;
        while order[place] != start {
            let from = std::mem::replace(&mut order[place], place);
            list.swap(place, from);
            place = from;
        }
        order[place] = place;
    }
}

/// [`sort_by`] by a key.
pub fn sort_by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(list, |a, b| key(a).cmp(&key(b)));
}

/// The indices 0..n in the order of what they stand for.
fn sorted_indices(n: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &k| compare(i, k));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random::Random;

    #[test]
    fn lists_are_sorted_as_by_the_standard_library() {
        let mut random = Random::new(7);
        for n in (0..60).chain([1_000]) {
            // Few different keys: equal ones must keep their order.
            let list: Vec<(u64, usize)> = (0..n).map(|i| (random.below(7), i)).collect();
            let (mut ours, mut expected) = (list.clone(), list);
            sort_by_key(&mut ours, |entry| entry.0);
            expected.sort_by_key(|entry| entry.0);
            assert_eq!(ours, expected);
        }
    }
}
