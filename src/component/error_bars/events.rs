//! Events that a run and its companion see at different times.
//!
//! Between the two times one of them has jumped and the other has not: their difference is the jump and says nothing about the
//! error. Each event function has a pending time of either run; the event of the other run that answers it gives a difference in
//! time. An event that stays without answer for a tenth of the time since the one before it is forgotten: what remains of it is
//! then in the values.

/// Part of the time since the last event of the same kind for which an answer is awaited.
const AWAITED: f64 = 0.1;

/// Who has had an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::component) enum Who {
    Run,
    Companion,
}

/// An event function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::component) struct EventTimes {
    /// Time of an event of the run that the companion has not had (s); infinite without one.
    pub run: f64,
    /// Time of an event of the companion that the run has not had (s).
    pub companion: f64,
    /// Time of the last event before it, or of the start (s).
    pub last: f64,
}

/// Events of both runs, matched.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::component) struct EventMatching {
    /// One for each event function.
    pub events: Vec<EventTimes>,
    /// Number of events without answer.
    pub pending: u32,
    /// Largest difference of the times of an event (s).
    pub largest_difference: f64,
}

impl EventMatching {
    /// For so many event functions.
    pub fn new(events: usize) -> Self {
        let mut matching = Self {
            events: vec![EventTimes::default(); events],
            pending: 0,
            largest_difference: 0.0,
        };
        matching.restart(0.0);
        matching
    }

    /// No event since `start`.
    pub fn restart(&mut self, start: f64) {
        self.events.fill(EventTimes {
            run: f64::INFINITY,
            companion: f64::INFINITY,
            last: start,
        });
        self.pending = 0;
        self.largest_difference = 0.0;
    }

    /// Copies `other` without allocating if the sizes agree.
    pub fn copy_from(&mut self, other: &Self) {
        self.events.clone_from(&other.events);
        self.pending = other.pending;
        self.largest_difference = other.largest_difference;
    }

    /// An event of function `i` at `t`.
    pub fn happened(&mut self, who: Who, i: usize, t: f64) {
        let event = &mut self.events[i];
        let (own, answered) = match who {
            Who::Run => (&mut event.run, &mut event.companion),
            Who::Companion => (&mut event.companion, &mut event.run),
        };
        if *answered < f64::INFINITY {
            self.largest_difference = self.largest_difference.max((t - *answered).abs());
            *answered = f64::INFINITY;
            event.last = t;
            self.pending -= 1;
        } else {
            if *own == f64::INFINITY {
                self.pending += 1;
            }
            *own = t;
        }
    }

    /// Whether one of the runs has had an event at `t` or before that the other has not. Forgets those that wait too long.
    pub fn one_sided(&mut self, t: f64) -> bool {
        if self.pending == 0 {
            return false;
        }
        for event in &mut self.events {
            let since = event.run.min(event.companion);
            if since < f64::INFINITY && t - since > AWAITED * (since - event.last) {
                (event.run, event.companion, event.last) = (f64::INFINITY, f64::INFINITY, since);
                self.pending -= 1;
            }
        }
        self.pending > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_waits_for_its_answer_in_either_order() {
        for order in [[Who::Run, Who::Companion], [Who::Companion, Who::Run]] {
            let mut matching = EventMatching::new(2);
            matching.happened(order[0], 1, 1.0);
            assert!(matching.one_sided(1.05));
            matching.happened(order[1], 1, 1.07);
            assert!(!matching.one_sided(1.08));
            assert!((matching.largest_difference - 0.07).abs() < 1e-15);
            // The next one is awaited for a tenth of the time since then.
            matching.happened(order[0], 1, 1.17);
            assert!(matching.one_sided(1.179));
            assert!(!matching.one_sided(1.19));
        }
    }

    #[test]
    fn different_functions_do_not_answer_each_other() {
        let mut matching = EventMatching::new(2);
        matching.happened(Who::Run, 0, 1.0);
        matching.happened(Who::Companion, 1, 1.0);
        assert_eq!(matching.pending, 2);
        assert!(!matching.one_sided(1.2));
        assert_eq!(matching.pending, 0);
        assert_eq!(matching.largest_difference, 0.0);
    }
}
