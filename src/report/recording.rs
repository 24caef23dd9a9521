//! Follows a run and keeps what the page shows: rows (outputs, poses, energy, forces), accepted and rejected steps,
//! events. Rows lie between the steps and are interpolated, so recording never changes a step.

use crate::component::{Instance, RejectedStep, StepProbe, Variable};
use crate::error::Result;
use crate::model::Model;
use crate::model::quantity::Quantity;

/// Forces and reactions are kept at every row until there are this many values, then at every second row, every fourth
/// and so on: arrows need fewer points than curves, and reactions are the most expensive values to compute.
const MOST_LOAD_VALUES: usize = 150_000;

/// Elements of beams up to which the page has their bending moments.
const MOST_BEAM_ELEMENTS: usize = 500;

const ENERGY: [&str; 5] = ["kinetic", "potential", "total", "dissipated", "supplied"];

/// The quantities that the page needs besides the declared outputs, by their dotted names.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// Pose of each body: x, y, angle; in three dimensions x, y, z and the quaternion.
    pub poses: Vec<String>,
    /// Parts of the energy.
    pub energy: Vec<String>,
    /// Of each joint and force: components of force and moment, or the scalar along its line.
    pub loads: Vec<String>,
}

impl Watched {
    /// Those of a model.
    pub fn of(model: &Model) -> Self {
        let pose: &[&str] = match model.dimension {
            2 => &["x", "y", "angle"],
            _ => &["x", "y", "z", "qw", "qx", "qy", "qz"],
        };
        let names: std::collections::HashSet<String> = model
            .quantities()
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        let of = |element: &str, fields: &[&str]| -> Vec<String> {
            let dotted = fields.iter().map(|field| format!("{element}.{field}"));
            dotted.filter(|name| names.contains(name)).collect()
        };
        let mut watched = Self::default();
        for body in &model.bodies {
            watched.poses.extend(of(&body.name, pose));
        }
        watched.energy.extend(of("energy", &ENERGY));
        watched.energy.extend(of("energy", &["balance"]));
        let components = ["fx", "fy", "fz", "mx", "my", "mz"];
        for joint in &model.joints {
            watched.loads.extend(of(&joint.name, &components));
        }
        for force in &model.forces {
            let vector = of(&force.name, &components);
            watched.loads.extend(match vector.is_empty() {
                false => vector,
                // A torque has that name first, and `force` is then the same number.
                true => of(&force.name, &["torque", "force"])
                    .into_iter()
                    .take(1)
                    .collect(),
            });
        }
        let elements: usize = model.beams.iter().map(|beam| beam.elements).sum();
        if elements <= MOST_BEAM_ELEMENTS {
            for beam in &model.beams {
                for k in 0..beam.elements {
                    watched
                        .loads
                        .extend(of(&format!("{}.{k}", beam.name), &["m2", "m3"]));
                }
            }
        }
        watched
    }

    fn all(&self) -> impl Iterator<Item = &String> {
        self.poses.iter().chain(&self.energy).chain(&self.loads)
    }
}

/// How an accepted step was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepMethod {
    /// HHT alone.
    Plain,
    /// HHT with the corrector.
    Corrected,
    /// The smooth path.
    Smooth,
}

/// Accepted steps, column by column.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// End of each step (s).
    pub ends: Vec<f64>,
    /// Estimated error over the tolerance.
    pub errors: Vec<f64>,
    /// How it was taken.
    pub methods: Vec<StepMethod>,
    /// Newton iterations it took, those of rejected trial steps included.
    pub iterations: Vec<f64>,
}

/// When rows are taken: these times, or the end of every accepted step.
pub type RowSchedule = Option<Box<dyn Iterator<Item = f64>>>;

/// A run as the page shows it.
pub struct Recording {
    /// What is read besides the outputs.
    pub watched: Watched,
    /// The declared outputs, then their error bars.
    pub outputs: Vec<Variable>,
    /// Times of the rows (s).
    pub times: Vec<f64>,
    /// Outputs, poses and energy of each row, row after row.
    pub rows: Vec<f64>,
    /// Forces and moments of every `load_stride`-th row, row after row.
    pub loads: Vec<f64>,
    /// Distance of the rows at which `loads` were kept.
    pub load_stride: usize,
    /// Accepted steps.
    pub steps: Steps,
    /// Rejected trial steps.
    pub rejected: Vec<RejectedStep>,
    /// Time and name of each event.
    pub events: Vec<(f64, String)>,
    /// Outputs, poses, energy, loads.
    quantities: Vec<Quantity>,
    due: Option<std::iter::Peekable<Box<dyn Iterator<Item = f64>>>>,
    values: Vec<f64>,
    /// Outputs with an error bar, and the bars at the end of the step.
    barred: Vec<u32>,
    bars: Vec<f64>,
    counters: Counters,
}

/// Counters at the end of the last step.
#[derive(Clone, Copy, Default)]
struct Counters {
    corrected: u64,
    smooth: u64,
    iterations: u64,
    events: u64,
}

impl Recording {
    /// Takes the first row at the start of an initialised `instance`. Shows the first `count` outputs at most.
    pub fn new(instance: &mut Instance, count: usize, times: RowSchedule) -> Result<Self> {
        instance.record_rejected_steps(true);
        let watched = Watched::of(instance.model());
        let declared: Vec<u32> = instance.outputs().take(count).collect();
        let barred: Vec<u32> = (declared.iter().copied())
            .filter(|output| instance.error_bar(*output).is_some())
            .collect();
        let bars = barred
            .iter()
            .filter_map(|output| instance.error_bar(*output));
        let outputs: Vec<Variable> = (declared.iter().copied().chain(bars))
            .map(|reference| instance.variables()[reference as usize].clone())
            .collect();
        let mut quantities = instance.model().output_quantities()?;
        quantities.truncate(count);
        for source in watched.all() {
            quantities.push(instance.model().quantity(source)?);
        }
        // As many rows with loads as fit, where the number of rows is known.
        let rows = times.as_ref().map_or(0, |times| times.size_hint().0);
        let mut load_stride = 1;
        while rows / load_stride * watched.loads.len() > MOST_LOAD_VALUES {
            load_stride *= 2;
        }
        let mut recording = Self {
            load_stride,
            values: vec![0.0; quantities.len()],
            quantities,
            outputs,
            watched,
            due: times.map(Iterator::peekable),
            bars: vec![0.0; barred.len()],
            barred,
            ..Self::empty()
        };
        let t = instance.time();
        recording.keep_bars(instance);
        recording.take_rows(t, t, &mut |_, quantities, values| {
            instance.get_quantities(quantities, values)
        })?;
        Ok(recording)
    }

    /// Nothing was simulated: one row with the pose as written.
    pub fn of_initial_pose(model: &Model) -> Self {
        let mut rows = Vec::new();
        for body in &model.bodies {
            if model.dimension == 2 {
                rows.extend(&body.position[..2]);
                rows.push(body.angle);
            } else {
                rows.extend(body.position);
                rows.extend(body.orientation);
            }
        }
        Self {
            watched: Watched {
                poses: Watched::of(model).poses,
                ..Watched::default()
            },
            times: vec![model.experiment.start],
            rows,
            ..Self::empty()
        }
    }

    pub(super) fn empty() -> Self {
        Self {
            watched: Watched::default(),
            outputs: Vec::new(),
            times: Vec::new(),
            rows: Vec::new(),
            loads: Vec::new(),
            load_stride: 1,
            steps: Steps::default(),
            rejected: Vec::new(),
            events: Vec::new(),
            quantities: Vec::new(),
            due: None,
            values: Vec::new(),
            barred: Vec::new(),
            bars: Vec::new(),
            counters: Counters::default(),
        }
    }

    fn keep_bars(&mut self, instance: &Instance) {
        for (bar, output) in self.bars.iter_mut().zip(&self.barred) {
            *bar = instance.error_band(*output);
        }
    }

    /// Numbers in a row without forces.
    pub fn width(&self) -> usize {
        self.outputs.len() + self.watched.poses.len() + self.watched.energy.len()
    }

    /// Keeps an accepted step and the rows in it.
    pub fn accepted(&mut self, probe: &mut StepProbe) -> Result<()> {
        self.keep_step(probe);
        self.keep_rows(probe, probe.end())
    }

    /// Keeps an accepted step, without its rows.
    pub fn keep_step(&mut self, probe: &mut StepProbe) {
        let end = probe.end();
        let statistics = probe.instance().statistics();
        let now = Counters {
            corrected: statistics.steps_corrected,
            smooth: statistics.steps_smooth,
            iterations: statistics.newton_iterations,
            events: statistics.events,
        };
        self.steps.ends.push(end);
        self.steps.errors.push(statistics.error);
        self.steps.methods.push(match &self.counters {
            before if now.smooth > before.smooth => StepMethod::Smooth,
            before if now.corrected > before.corrected => StepMethod::Corrected,
            _ => StepMethod::Plain,
        });
        let iterations = now.iterations - self.counters.iterations;
        self.steps.iterations.push(iterations as f64);
        if now.events > self.counters.events {
            self.events
                .extend(probe.events().into_iter().map(|name| (end, name)));
        }
        self.rejected.append(&mut probe.take_rejected_steps());
        self.counters = now;
    }

    /// Keeps the rows of the step that are due up to `t`. Without a schedule the end of the step is the row.
    pub fn keep_rows(&mut self, probe: &mut StepProbe, t: f64) -> Result<()> {
        let (start, end) = (probe.start(), probe.end());
        if self.due.is_none() && t < end {
            return Ok(());
        }
        self.keep_bars(probe.instance());
        self.take_rows(start, t.min(end), &mut |t, quantities, values| {
            probe.quantities(t, quantities, values)
        })
    }

    /// After a run that failed: the trial steps of the last step, and the state that was reached as one more row.
    pub fn failed(&mut self, instance: &mut Instance) -> Result<()> {
        self.rejected.append(&mut instance.take_rejected_steps());
        let t = instance.time();
        if self.times.last().is_some_and(|last| *last < t) {
            self.due = None;
            self.keep_bars(instance);
            self.take_rows(t, t, &mut |_, quantities, values| {
                instance.get_quantities(quantities, values)
            })?;
        }
        Ok(())
    }

    fn take_rows(&mut self, start: f64, end: f64, read: &mut Read) -> Result<()> {
        if self.due.is_none() {
            return self.take_row(end, end, read);
        }
        let rounding = 1e-9 * (end - start);
        while let Some(t) =
            (self.due.as_mut()).and_then(|due| due.next_if(|t| *t <= end + rounding))
        {
            self.take_row(t, t.clamp(start, end), read)?;
        }
        Ok(())
    }

    fn take_row(&mut self, t: f64, at: f64, read: &mut Read) -> Result<()> {
        let width = self.width() - self.bars.len();
        let declared = self.outputs.len() - self.bars.len();
        let loads = self.values.len() - width;
        let with_loads = loads > 0 && self.times.len().is_multiple_of(self.load_stride);
        let count = if with_loads { width + loads } else { width };
        read(at, &self.quantities[..count], &mut self.values[..count])?;
        self.times.push(t);
        self.rows.extend(&self.values[..declared]);
        self.rows.extend(&self.bars);
        self.rows.extend(&self.values[declared..width]);
        if with_loads {
            self.loads.extend(&self.values[width..]);
            if self.loads.len() > MOST_LOAD_VALUES && self.loads.len() > 2 * loads {
                self.thin_loads(loads);
            }
        }
        Ok(())
    }

    /// Keeps every second row of the loads.
    fn thin_loads(&mut self, width: usize) {
        let rows = self.loads.len() / width;
        for kept in 1..rows.div_ceil(2) {
            self.loads
                .copy_within(2 * kept * width..(2 * kept + 1) * width, kept * width);
        }
        self.loads.truncate(rows.div_ceil(2) * width);
        self.load_stride *= 2;
    }
}

/// Reads quantities at a time.
type Read<'a> = dyn FnMut(f64, &[Quantity], &mut [f64]) -> Result<()> + 'a;
