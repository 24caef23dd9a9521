//! Contacts of geoms against planes of the world, where `--contact` asks for them: rigid, without rebound, with dry friction. A sphere
//! touches as it is, a capsule by the spheres at its ends, a box by its corners.

use nalgebra::Vector3;

use super::MjcfTree;
use super::compiler::CompilerSettings;
use super::defaults::DefaultClasses;
use super::geom::{self, SolidGeom};
use crate::error::Result;
use crate::import::draft::Draft;
use crate::import::frame::FramePlacement;
use crate::import::tree::STICTION_VELOCITY;
use crate::import::xml::{Concern, Fate, XmlNode};
use crate::model::{
    ContactDefinition, ContactLaw, Force, ForceApplication, ForceKind, FrictionDefinition,
    RestitutionLaw, RigidImpact, Surface,
};

/// Coefficient of sliding friction of geoms without one.
const FRICTION: f64 = 1.0;

/// A geom that may touch others.
pub struct ContactGeom {
    node: XmlNode,
    class: Option<String>,
    /// Of the world: `None`.
    pub link: Option<usize>,
    /// The frame around the geom in the frame of its link.
    frame: FramePlacement,
}

impl ContactGeom {
    /// A geom of a link, or of the world.
    pub fn new(
        node: XmlNode,
        class: Option<&str>,
        link: Option<usize>,
        frame: FramePlacement,
    ) -> Self {
        Self {
            node,
            class: class.map(str::to_owned),
            link,
            frame,
        }
    }
}

/// How a geom touches others.
struct Touch {
    /// `contype` and `conaffinity`.
    bits: [u32; 2],
    friction: f64,
}

impl Touch {
    fn new(defaults: &DefaultClasses, of: &ContactGeom) -> Result<Self> {
        let class = of.class.as_deref();
        let bit = |name: &str| {
            let given = defaults.number(of.node, class, name);
            given.map(|x| x.unwrap_or(1.0) as u32)
        };
        let friction = defaults.list(of.node, class, "friction")?;
        Ok(Self {
            bits: [bit("contype")?, bit("conaffinity")?],
            friction: friction
                .and_then(|f| f.first().copied())
                .unwrap_or(FRICTION),
        })
    }

    fn meets(&self, other: &Self) -> bool {
        self.bits[0] & other.bits[1] != 0 || other.bits[0] & self.bits[1] != 0
    }
}

/// A plane of the world.
struct GroundPlane {
    name: String,
    point: Vector3<f64>,
    normal: Vector3<f64>,
    touch: Touch,
}

/// Adds the contacts of all geoms of moving links with the planes of the world.
pub fn add(
    settings: &CompilerSettings,
    defaults: &DefaultClasses,
    geoms: &[ContactGeom],
    tree: &MjcfTree,
    draft: &mut Draft,
) -> Result<()> {
    let mut planes = vec![];
    for of in geoms.iter().filter(|of| of.link.is_none()) {
        planes.extend(plane(settings, defaults, of, planes.len())?);
    }
    // Contacts of each body so far.
    let mut counts = vec![0; draft.model.bodies.len()];
    for of in geoms {
        let Some((Some(body), at)) = of.link.map(|link| tree.map.links[link]) else {
            continue;
        };
        let touch = Touch::new(defaults, of)?;
        let mut met = planes.iter().filter(|plane| plane.touch.meets(&touch));
        let Some(first) = met.next() else { continue };
        let class = of.class.as_deref();
        let Some((solid, own)) = geom::solid(settings, defaults, of.node, class)? else {
            continue;
        };
        let Some(balls) = balls(&solid) else {
            let why = "contacts of this shape are not imported".to_owned();
            let fate = Fate::Dropped(why, Concern::Contact);
            defaults.xml.elements[of.node].fate.replace(fate);
            continue;
        };
        let at = at.then(&of.frame).then(&own);
        for plane in std::iter::once(first).chain(met) {
            for (point, radius) in &balls {
                let ball = (at.point(*point), *radius);
                counts[body] += usize::from(add_contact(
                    draft,
                    counts[body] + 1,
                    (body, ball),
                    plane,
                    &touch,
                ));
            }
        }
    }
    Ok(())
}

fn plane(
    settings: &CompilerSettings,
    defaults: &DefaultClasses,
    of: &ContactGeom,
    count: usize,
) -> Result<Option<GroundPlane>> {
    let (xml, class) = (defaults.xml, of.class.as_deref());
    if defaults.text(of.node, class, "type") != Some("plane") {
        return Ok(None);
    }
    xml.keep(of.node);
    let own = settings.placement(defaults, of.node, class)?;
    let at = of.frame.then(&own);
    let touch = Touch::new(defaults, of)?;
    let name = xml.value(of.node, "name").map(str::to_owned);
    let why = "a plane has no end, and pictures are not imported";
    super::drop_unread(xml, of.node, why, Concern::Picture);
    Ok(Some(GroundPlane {
        name: name.unwrap_or_else(|| format!("plane{}", count + 1)),
        point: at.position,
        normal: at.rotation * Vector3::z(),
        touch,
    }))
}

/// The balls by which a solid touches a plane: centre and radius.
fn balls(solid: &SolidGeom) -> Option<Vec<(Vector3<f64>, f64)>> {
    let [a, b, c] = solid.size;
    match solid.kind {
        "sphere" => Some(vec![(Vector3::zeros(), a)]),
        "capsule" => Some(vec![(Vector3::z() * b, a), (Vector3::z() * -b, a)]),
        "box" => {
            let signs =
                (0..8).map(|k| [k & 1, k >> 1 & 1, k >> 2].map(|s| 2.0 * f64::from(s) - 1.0));
            let corner = |[x, y, z]: [f64; 3]| (Vector3::new(x * a, y * b, z * c), 0.0);
            Some(signs.map(corner).collect())
        }
        _ => None,
    }
}

/// Adds a contact; returns whether it can be.
fn add_contact(
    draft: &mut Draft,
    number: usize,
    (body, (point, radius)): (usize, (Vector3<f64>, f64)),
    plane: &GroundPlane,
    touch: &Touch,
) -> bool {
    // A rigid contact cannot begin inside its plane.
    let start = &draft.model.bodies[body];
    let pose = FramePlacement {
        position: start.position.into(),
        rotation: nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::from_parts(
            start.orientation[0],
            Vector3::from_column_slice(&start.orientation[1..]),
        )),
    };
    let gap = plane.normal.dot(&(pose.point(point) - plane.point)) - radius;
    if gap < 0.0 {
        let (of, depth, plane) = (start.name.clone(), -gap, &plane.name);
        draft.note(
            format!(
                "a contact of \"{of}\" begins {depth:.3} m inside \"{plane}\" and was left out"
            ),
            None,
        );
        return false;
    }
    let name = format!("{}_contact{number}", start.name);
    let name = draft.element_name("contact", &name, None);
    let level = plane.touch.friction.max(touch.friction);
    draft.model.forces.push(Force {
        name,
        kind: ForceKind::Contact(ContactDefinition {
            surface: Surface::Plane(plane.normal.into()),
            radius,
            law: ContactLaw::Rigid(RigidImpact {
                restitution: 0.0,
                law: RestitutionLaw::Newton,
                rest_speed: None,
            }),
            friction: (level > 0.0).then_some(FrictionDefinition {
                kinetic: level,
                r#static: level,
                stiction_velocity: Some(STICTION_VELOCITY),
                stribeck_velocity: None,
                viscous: 0.0,
            }),
        }),
        on: ForceApplication::Points {
            bodies: [None, Some(body)],
            points: [plane.point.into(), point.into()],
        },
        text_position: Default::default(),
    });
    true
}
