//! The solver's counters: one table from which [`Statistics`], the quantities `solver.*`, the `--json` object, the manual
//! and the saved bytes follow; a test compares the C struct with it.

/// Where a counter is shown besides [`Statistics`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Quantity `solver.<name>`.
    Quantity,
    /// `biela run --json`.
    Json,
    /// `biela_counters` of the C interface.
    C,
    /// The same, behind the fields of the first version.
    CAppended,
}

/// A counter, an integer or a real number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CounterValue {
    /// Number of events of some kind.
    Count(u64),
    /// Real number.
    Real(f64),
}

/// A counter of [`Statistics`] to be read or written.
#[derive(Debug, PartialEq)]
pub enum CounterMut<'a> {
    /// Number of events of some kind.
    Count(&'a mut u64),
    /// Real number.
    Real(&'a mut f64),
}

/// A row of [`COUNTERS`].
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// Name everywhere outside.
    pub name: &'static str,
    /// Empty if there is none.
    pub unit: &'static str,
    /// Sentence of the manual.
    pub meaning: &'static str,
    /// Where it is shown.
    pub shown: &'static [Shown],
    /// Its value.
    pub value: fn(&Statistics) -> CounterValue,
}

/// A counter by its index in [`COUNTERS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CounterIndex(usize);

impl CounterIndex {
    /// The counters that are quantities, in the order of the table.
    pub fn quantities() -> impl Iterator<Item = Self> {
        (0..COUNTERS.len())
            .map(Self)
            .filter(|index| index.counter().shown.contains(&Shown::Quantity))
    }

    /// Whether it counts, in whole numbers.
    pub fn is_count(self) -> bool {
        matches!(
            (self.counter().value)(&Statistics::default()),
            CounterValue::Count(_)
        )
    }

    /// The row of the table.
    pub fn counter(self) -> &'static Counter {
        &COUNTERS[self.0]
    }

    /// The counter's value as a real number.
    pub fn value(self, statistics: &Statistics) -> f64 {
        match (self.counter().value)(statistics) {
            CounterValue::Count(count) => count as f64,
            CounterValue::Real(value) => value,
        }
    }
}

type Count = u64;
type Real = f64;

macro_rules! counters {
    ($( $(#[$doc:meta])* $field:ident: $kind:ident, $unit:literal, $meaning:literal, [$($shown:ident)*]; )*) => {
        /// Counters since the start, each counted where the work happens.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct Statistics {
            $( $(#[$doc])* pub $field: $kind, )*
        }

        /// Every counter of [`Statistics`], in the order of the saved bytes: a new one is a new line at the end of its kind.
        pub static COUNTERS: [Counter; [$(stringify!($field)),*].len()] = [$(
            Counter {
                name: stringify!($field),
                unit: $unit,
                meaning: $meaning,
                shown: &[$(Shown::$shown),*],
                value: |statistics| CounterValue::$kind(statistics.$field),
            },
        )*];

        impl Statistics {
            /// All counters in the order of [`COUNTERS`].
            pub fn fields_mut(&mut self) -> [CounterMut<'_>; COUNTERS.len()] {
                [$(CounterMut::$kind(&mut self.$field)),*]
            }
        }
    };
}

counters! {
    /// Accepted steps.
    steps: Count, "", "accepted steps since the start", [Quantity Json C];
    /// Steps rejected by the error test.
    rejected: Count, "", "steps rejected by the error test since the start", [Quantity Json C];
    /// Trial steps in which Newton's iteration did not converge.
    newton_failures: Count, "", "trial steps without convergence of Newton's iteration", [Json C];
    /// Steps repeated to end at an event, or away from a singular position.
    event_repeats: Count, "", "steps repeated to end at an event or away from a singular position", [];
    /// Newton iterations.
    newton_iterations: Count, "", "Newton iterations since the start", [Quantity Json C];
    /// Equilibrium residuals evaluated by Newton's iteration.
    residuals: Count, "", "residuals of the equations evaluated since the start", [Quantity Json C];
    /// Force evaluations of any kind.
    evaluations: Count, "", "force evaluations since the start", [C];
    /// Matrix factorisations.
    factorizations: Count, "", "matrix factorisations since the start", [Quantity Json C];
    /// Back-substitutions.
    solves: Count, "", "back-substitutions since the start", [Quantity Json C];
    /// Accepted steps on the smooth path, without Newton iteration.
    steps_smooth: Count, "", "accepted steps on the smooth path, without Newton iteration", [Json CAppended];
    /// Accepted steps of HHT with its corrector.
    steps_corrected: Count, "", "accepted steps of HHT with its corrector", [Json CAppended];
    /// Accepted steps without a correction.
    steps_plain: Count, "", "accepted steps without a correction", [Json CAppended];
    /// Events handled.
    events: Count, "", "events handled since the start", [C];
    /// Steps of time stepping, where contacts are too dense in time for events.
    time_stepping: Count, "", "steps of time stepping, where contacts are too dense in time for events", [Json CAppended];
    /// Smallest accepted step (s); infinite before the first.
    smallest_step: Real, "s", "smallest accepted step", [Json C];
    /// Largest accepted step (s).
    largest_step: Real, "s", "largest accepted step", [Json C];
    /// Last accepted step (s).
    step_size: Real, "s", "last accepted step", [Quantity C];
    /// Estimated local error of the last accepted step over the tolerance.
    error: Real, "", "estimated local error of the last accepted step over the tolerance", [Quantity C];
    /// Largest of them.
    worst_error: Real, "", "largest estimated local error over the tolerance", [Json C];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_struct_has_the_counters_of_the_table_in_its_order() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("include/biela.h");
        let header = std::fs::read_to_string(path).unwrap();
        let end = header.find("} biela_counters;").unwrap();
        let start = header[..end].rfind('{').unwrap();
        let fields: Vec<&str> = (header[start..end].lines())
            .filter_map(|line| line.trim().strip_suffix(';')?.split_whitespace().last())
            .collect();
        let named = |shown: Shown| {
            (COUNTERS.iter().filter(move |c| c.shown.contains(&shown))).map(|c| c.name)
        };
        let mut expected = vec!["struct_size"];
        expected.extend(named(Shown::C));
        expected.push("energy_drift");
        expected.extend(named(Shown::CAppended));
        assert_eq!(fields, expected);
    }

    #[test]
    fn fields_and_table_have_the_same_order() {
        let mut statistics = Statistics::default();
        for (k, field) in statistics.fields_mut().into_iter().enumerate() {
            match field {
                CounterMut::Count(count) => *count = k as u64,
                CounterMut::Real(value) => *value = k as f64,
            }
        }
        for k in 0..COUNTERS.len() {
            assert_eq!(CounterIndex(k).value(&statistics), k as f64);
        }
    }
}
