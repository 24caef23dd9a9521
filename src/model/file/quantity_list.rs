//! Every quantity of a model with its unit and its meaning: for `biela explain` and for the manual.

use crate::model::counters::{Counter, CounterIndex};

/// Quantities of one kind of element.
#[derive(Clone, Copy)]
pub(super) struct Explained {
    /// The element, as the manual writes it: `<body>`.
    pub of: &'static str,
    pub fields: &'static [&'static str],
    pub unit: &'static str,
    pub meaning: &'static str,
}

const fn quantity(
    of: &'static str,
    fields: &'static [&'static str],
    unit: &'static str,
    meaning: &'static str,
) -> Explained {
    Explained {
        of,
        fields,
        unit,
        meaning,
    }
}

/// Every quantity, in the order of the manual.
pub(super) fn quantities() -> impl Iterator<Item = Explained> {
    let counters = CounterIndex::quantities().map(|index| {
        let Counter {
            name,
            unit,
            meaning,
            ..
        } = index.counter();
        quantity("solver", std::slice::from_ref(name), unit, meaning)
    });
    (ELEMENT_QUANTITIES.iter().copied())
        .chain(counters)
        .chain(PLAIN_QUANTITIES.iter().copied())
}

/// Quantities of elements and of the whole mechanism.
const ELEMENT_QUANTITIES: &[Explained] = &[
    quantity(
        "<body>",
        &["x", "y", "z"],
        "m",
        "position of the centre of mass, or of the frame's origin if center_of_mass is given; ground frame",
    ),
    quantity(
        "<body>",
        &["angle"],
        "rad",
        "two dimensions: angle, counter-clockwise; it counts revolutions",
    ),
    quantity(
        "<body>",
        &["qw", "qx", "qy", "qz"],
        "",
        "three dimensions: orientation, quaternion from body axes to ground axes",
    ),
    quantity(
        "<body>",
        &["vx", "vy", "vz"],
        "m/s",
        "velocity of the same point, ground axes",
    ),
    quantity(
        "<body>",
        &["wx", "wy", "wz"],
        "rad/s",
        "angular velocity, ground axes",
    ),
    quantity(
        "<body>",
        &["ax", "ay", "az"],
        "m/s2",
        "acceleration of the same point, ground axes",
    ),
    quantity(
        "<body>",
        &["alphax", "alphay", "alphaz"],
        "rad/s2",
        "angular acceleration, ground axes",
    ),
    quantity(
        "<joint>",
        &["position", "position1", "position2", "position3"],
        "rad or m",
        "joint coordinate, numbered if there are several; angles count revolutions",
    ),
    quantity(
        "<joint>",
        &["speed", "speed1", "speed2", "speed3"],
        "rad/s or m/s",
        "its rate",
    ),
    quantity(
        "<joint>",
        &[
            "acceleration",
            "acceleration1",
            "acceleration2",
            "acceleration3",
        ],
        "rad/s2 or m/s2",
        "its second derivative",
    ),
    quantity(
        "<joint>",
        &["qw", "qx", "qy", "qz"],
        "",
        "of a spherical joint: orientation of the second body relative to the first",
    ),
    quantity(
        "<joint>",
        &["fx", "fy", "fz"],
        "N",
        "reaction force on the second body at its joint point, ground axes",
    ),
    quantity(
        "<joint>",
        &["mx", "my", "mz"],
        "N.m",
        "reaction moment on the second body at its joint point, ground axes",
    ),
    quantity(
        "<motion>",
        &["position"],
        "rad or m",
        "prescribed value; of a body in space an angle counts from the initial pose",
    ),
    quantity("<motion>", &["speed"], "rad/s or m/s", "its rate"),
    quantity(
        "<motion>",
        &["acceleration"],
        "rad/s2 or m/s2",
        "its second derivative",
    ),
    quantity(
        "<motion>",
        &["effort"],
        "N.m or N",
        "force or torque of the drive along the coordinate; positive increases the coordinate, effort x speed is its power",
    ),
    quantity(
        "<joint>",
        &["friction", "friction1", "friction2", "friction3"],
        "N or N.m",
        "friction force on the coordinate",
    ),
    quantity(
        "<joint>",
        &["stop", "stop1", "stop2", "stop3"],
        "N or N.m",
        "limit force on the coordinate",
    ),
    quantity(
        "<force>",
        &["length"],
        "m",
        "distance of the points; of a tyre or contact the penetration",
    ),
    quantity("<force>", &["angle"], "rad", "of a torsion spring"),
    quantity(
        "<force>",
        &["rate"],
        "m/s or rad/s",
        "of the length or angle",
    ),
    quantity(
        "<force>",
        &["fx", "fy", "fz"],
        "N",
        "force on the second body, ground axes",
    ),
    quantity(
        "<force>",
        &["mx", "my", "mz"],
        "N.m",
        "torque on the second body besides the moment of its force, ground axes",
    ),
    quantity(
        "<force>",
        &["force"],
        "N",
        "spring: positive in tension; actuator: positive increases the distance or coordinate; tyre, contact: normal force",
    ),
    quantity(
        "<pid>",
        &["error"],
        "rad or m",
        "set point minus coordinate",
    ),
    quantity(
        "<pid>",
        &["integral_part"],
        "N or N.m",
        "integral part of its force or torque",
    ),
    quantity(
        "<force>",
        &["closed"],
        "",
        "of a tyre or contact: 1 while the surfaces touch, else 0",
    ),
    quantity(
        "<force>",
        &["mode"],
        "",
        "of a tyre or contact: 0 separated, 1 pressed, 2 touching without a force because its damper would pull",
    ),
    quantity(
        "<force>",
        &["torque"],
        "N.m",
        "of an actuator in a rotational joint coordinate: positive increases the angle; of a torsion spring: positive decreases it",
    ),
    quantity(
        "<beam>",
        &["strain_energy"],
        "J",
        "elastic energy of the beam",
    ),
    quantity(
        "<beam>.<element>",
        &["n1", "n2", "n3"],
        "N",
        "axial force, positive in tension, and shear forces along section axes 2 and 3; element k joins nodes k and k + 1",
    ),
    quantity(
        "<beam>.<element>",
        &["m1", "m2", "m3"],
        "N.m",
        "torque and bending moments about section axes 2 and 3",
    ),
    quantity(
        "<beam>.<element>",
        &["e1", "e2", "e3"],
        "",
        "axial strain and shear strains along section axes 2 and 3",
    ),
    quantity(
        "<beam>.<element>",
        &["k1", "k2", "k3"],
        "1/m",
        "twist and curvatures about section axes 2 and 3, less those at rest",
    ),
    quantity("energy", &["kinetic"], "J", "of all bodies and beams"),
    quantity(
        "energy",
        &["potential"],
        "J",
        "of gravity, springs and beams",
    ),
    quantity("energy", &["total"], "J", "kinetic + potential"),
    quantity(
        "energy",
        &["dissipated"],
        "J",
        "dissipated by dampers, friction and impacts since the start",
    ),
    quantity(
        "energy",
        &["supplied"],
        "J",
        "supplied by actuators and motions since the start",
    ),
    quantity(
        "energy",
        &["balance"],
        "J",
        "total + dissipated - supplied - total at start",
    ),
    quantity(
        "energy",
        &["numerical"],
        "J",
        "numerical dissipation of the method: -balance",
    ),
];

/// Quantities without an element.
const PLAIN_QUANTITIES: &[Explained] = &[
    quantity("", &["time"], "s", "time"),
    quantity(
        "",
        &["q1"],
        "as the matrices",
        "with [system]: coordinates, counted from 1",
    ),
    quantity(
        "",
        &["v1"],
        "as the matrices",
        "with [system]: rates, counted from 1",
    ),
    quantity(
        "",
        &["a1"],
        "as the matrices",
        "with [system]: accelerations, counted from 1",
    ),
    quantity(
        "",
        &["lambda1"],
        "as the matrices",
        "with [system]: multipliers, one for each constraint; the force is -B^T lambda",
    ),
];
