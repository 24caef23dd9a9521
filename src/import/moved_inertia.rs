//! The inertia that each joint moves in the drawn pose; joints that move none.

use super::draft::Draft;
use super::frame::MassProperties;
use super::tree::{TreeFreedom, TreeLink};

/// Moment of inertia over mass (m²) below which a link has none about an axis: a hundredth of a micrometre.
pub const NO_INERTIA: f64 = 1e-16;

/// Removes joints that move no inertia: nothing determines their acceleration.
pub fn fix_joints_without(draft: &mut Draft, links: &mut [TreeLink]) {
    // Mass properties of each link with all behind it, in the drawn pose.
    let mut behind: Vec<MassProperties> = links.iter().map(|link| link.mass).collect();
    for k in (0..links.len()).rev() {
        let parent = links[k].parent;
        let link = &mut links[k];
        let total = behind[k];
        let (mut kept, mut dropped) = (vec![], vec![]);
        for mut joint in std::mem::take(&mut link.joints) {
            let arm = (total.center - joint.point).cross(&joint.axis);
            let moment =
                (joint.axis.dot(&(total.inertia * joint.axis))) + total.mass * arm.norm_squared();
            let inertia = match joint.freedom {
                TreeFreedom::Slide => total.mass,
                TreeFreedom::Hinge => moment,
                TreeFreedom::Ball | TreeFreedom::Plane => total.mass + total.inertia.trace(),
            };
            joint.inertia = inertia + joint.armature;
            if joint.inertia > NO_INERTIA * total.mass {
                kept.push(joint);
            } else {
                dropped.push(joint);
            }
        }
        for joint in dropped {
            draft.note(
                format!(
                    "joint \"{}\" moves no inertia and is fixed at its start value",
                    joint.name
                ),
                Some(joint.position),
            );
            link.placement = link.placement.then(&joint.motion());
        }
        link.joints = kept;
        if let Some(p) = parent {
            let placed = total.placed(&links[k].placement);
            behind[p] = behind[p].with(&placed);
        }
    }
}

/// A free link that nothing gives the inertia to turn, if there is one: neither it nor what is fixed to it has some, and no hinge or slide
/// carries what has.
pub fn free_without(links: &[TreeLink]) -> Option<&TreeLink> {
    let mut own: Vec<MassProperties> = links.iter().map(|link| link.mass).collect();
    let mut is_carried = vec![false; links.len()];
    for k in (0..links.len()).rev() {
        let (link, total) = (&links[k], own[k]);
        let Some(p) = link.parent else { continue };
        if link.is_merged() {
            own[p] = own[p].with(&total.placed(&link.placement));
            is_carried[p] |= is_carried[k];
        } else {
            is_carried[p] |= (link.joints.iter()).any(|joint| joint.freedom != TreeFreedom::Ball);
        }
    }
    let turns = |of: &MassProperties| {
        of.mass > 0.0 && of.inertia.symmetric_eigenvalues().min() > NO_INERTIA * of.mass
    };
    let lacks = |k: &usize| links[*k].is_free && !is_carried[*k] && !turns(&own[*k]);
    (0..links.len()).find(lacks).map(|k| &links[k])
}
