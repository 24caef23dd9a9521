//! The ball: two points stay in one place. Its coordinate is a quaternion.

use super::Builder;
use crate::formulation::absolute::space::Space;

pub(super) fn space(b: &mut Builder<Space, 12>) {
    b.meet();
}
