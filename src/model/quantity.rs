//! Quantities: everything of a motion that has a dotted name, `<element>.<field>`.

/// A quantity by element index and field. Which of them a formulation evaluates and which the component: see the
/// variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Of a body; evaluated by the formulation.
    Body(usize, BodyField),
    /// Of a sensor; evaluated by the formulation.
    Sensor(usize, BodyField),
    /// Of a joint; evaluated by the formulation.
    Joint(usize, JointField),
    /// Of a force; evaluated by the formulation.
    Force(usize, ForceField),
    /// Of the whole mechanism; evaluated by the component.
    Energy(EnergyField),
    /// Of the solver; evaluated by the component.
    Solver(SolverField),
    /// `time`
    Time,
}

/// Motion of a point and its body, ground axes; axis 0, 1, 2 = x, y, z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BodyField {
    /// `.x .y .z` (m)
    Position(usize),
    /// `.angle` (rad), two dimensions, continuous over turns
    Angle,
    /// `.vx .vy .vz` (m/s)
    Velocity(usize),
    /// `.wx .wy .wz` (rad/s)
    AngularVelocity(usize),
    /// `.ax .ay .az` (m/s²)
    Acceleration(usize),
    /// `.alphax .alphay .alphaz` (rad/s²)
    AngularAcceleration(usize),
}

/// Motion and load of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JointField {
    /// `.position` of bodies[1] relative to bodies[0] (rad or m)
    Position,
    /// `.speed`
    Speed,
    /// `.acceleration`
    Acceleration,
    /// `.fx .fy .fz`: force on bodies[1] at its joint point, ground axes (N)
    Force(usize),
    /// `.mx .my .mz`: moment on bodies[1] at its joint point, ground axes (N m)
    Moment(usize),
}

/// State of a force element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForceField {
    /// `.length` between the points (m)
    Length,
    /// `.rate` of the length (m/s)
    Rate,
    /// `.force` (N or N m): positive pulls together; an actuator's positive increases the coordinate
    Force,
}

/// `energy.*` (J)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum EnergyField {
    Kinetic,
    Potential,
    Total,
    Dissipated,
    Supplied,
    Balance,
    Numerical,
}

/// `solver.*`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum SolverField {
    Steps,
    Rejected,
    NewtonIterations,
    Residuals,
    Factorizations,
    Solves,
    StepSize,
    Error,
}
