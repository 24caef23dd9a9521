//! Links without mass between joints, as URDF writes a hip: what hangs on one is joined to its parent by all joints at once, where one
//! joint of the model stands for them. The link itself vanishes: nothing of it moves.

use super::combined_joint::{MOST_COMBINED, combined};
use super::draft::Draft;
use super::tree::{TreeJoint, TreeLink};

/// Merges the joints of links without mass with those of the only link that hangs on each.
pub fn merge_joints(draft: &mut Draft, links: &mut [TreeLink]) {
    let mut children: Vec<Vec<usize>> = vec![vec![]; links.len()];
    for (k, link) in links.iter().enumerate() {
        if let Some(parent) = link.parent {
            children[parent].push(k);
        }
    }
    let mut k = 0;
    while k < links.len() {
        let chain = chain(links, &children, k);
        let fits = |n: &usize| combined(&joints(links, &chain[..*n])).is_some();
        match (2..=chain.len()).rev().find(fits) {
            Some(n) => merge(draft, links, &chain[..n]),
            None => k += 1,
        }
    }
}

/// Links that follow one another from `first`, all but the last without mass and with nothing else on them.
fn chain(links: &[TreeLink], children: &[Vec<usize>], first: usize) -> Vec<usize> {
    let has_joints = |k: usize| !links[k].joints.is_empty() && !links[k].is_free;
    let mut chain = vec![];
    let mut next = Some(first).filter(|k| has_joints(*k));
    // Each has a joint at least.
    while let Some(k) = next.filter(|_| chain.len() < MOST_COMBINED) {
        chain.push(k);
        let link = &links[k];
        let is_empty = link.mass.mass == 0.0 && link.mass.inertia.amax() == 0.0;
        let vanishes = is_empty && link.mesh.is_none() && !link.is_between;
        next = match children[k][..] {
            [child] if vanishes && has_joints(child) => Some(child),
            _ => None,
        };
    }
    chain
}

/// The joints of a chain in the frame of its last link, in the drawn pose.
fn joints(links: &[TreeLink], chain: &[usize]) -> Vec<TreeJoint> {
    let mut all: Vec<TreeJoint> = vec![];
    for k in chain {
        let back = links[*k].placement.inverse();
        for joint in &mut all {
            joint.point = back.point(joint.point);
            joint.axis = back.rotation * joint.axis;
        }
        all.extend_from_slice(&links[*k].joints);
    }
    all
}

fn merge(draft: &mut Draft, links: &mut [TreeLink], chain: &[usize]) {
    let (last, before) = chain.split_last().expect("a chain has links");
    let all = joints(links, chain);
    for k in before {
        let next = chain[chain.iter().position(|c| c == k).expect("it is one") + 1];
        let words = format!(
            "link \"{}\" has no mass: the joints before and behind it are one joint of link \"{}\"",
            links[*k].name, links[*last].name
        );
        draft.note(words, Some(links[*k].position));
        let (parent, placement) = (links[*k].parent, links[*k].placement);
        links[*k].joints.clear();
        links[*k].is_absent = true;
        links[next].placement = placement.then(&links[next].placement);
        links[next].parent = parent;
    }
    links[*last].joints = all;
}
