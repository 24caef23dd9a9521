//! The companion run and its error bars in the bytes of a saved state.

use super::super::serialization::{Codec, visit_instance, visit_text};
use super::{CompanionState, ErrorBars, EventTimes, OutputBar};
use crate::error::Result;

/// Writes, counts or reads the state of the companion and the bars.
pub(in crate::component) fn visit_companion(
    c: &mut impl Codec,
    companion: &mut CompanionState,
) -> Result<()> {
    let CompanionState { state, bars } = companion;
    visit_instance(c, state)?;
    let ErrorBars {
        outputs,
        units: _,
        energies: _,
        magnitudes,
        kinetic_energy,
        events,
        compared_at,
        unseen,
        stopped_at,
        stopped_why,
        next_review,
        reviewed,
        missed_since,
        told,
    } = bars;
    c.list(outputs, |c, bar: &mut OutputBar| {
        let OutputBar {
            difference,
            smallest,
            largest,
            undetermined_since,
            jumps,
        } = bar;
        c.boolean(jumps)?;
        for x in [difference, smallest, largest, undetermined_since] {
            c.f64(x)?;
        }
        Ok(())
    })?;
    c.list(magnitudes, |c, x| c.f64(x))?;
    c.list(&mut events.events, |c, event: &mut EventTimes| {
        let EventTimes {
            run,
            companion,
            last,
        } = event;
        [run, companion, last]
            .into_iter()
            .try_for_each(|x| c.f64(x))
    })?;
    c.u32(&mut events.pending)?;
    c.u64(compared_at)?;
    for x in [
        &mut events.largest_difference,
        kinetic_energy,
        unseen,
        stopped_at,
        next_review,
        reviewed,
        missed_since,
    ] {
        c.f64(x)?;
    }
    for x in [&mut told.undetermined, &mut told.missed] {
        c.boolean(x)?;
    }
    visit_text(c, stopped_why)
}
