//! Inputs that follow a law of the model, and parameters that set its definitions.

use crate::fmi_host::world::World;
use crate::fmi_host::{BOTH, Unpacked};
use crate::host::Scratch;
use biela::Instance;
use biela::fmi::types::FmiStatus;

/// A free mass under a force that jumps at 0.5 s: x(1) = F/(2 m) (1 − 0.5)².
#[test]
fn a_unit_follows_the_law_of_its_input_and_is_rebuilt_for_a_definition() {
    const MODEL: &str = "format = 1\nname = \"pushed\"\ndimension = 2\n[define]\nm = \"2 kg\"\n\
        [[body]]\nname = \"block\"\nmass = \"m\"\ninertia = 1\nposition = [0, 0]\n\
        [[joint]]\nname = \"rail\"\ntype = \"prismatic\"\nbodies = [\"ground\", \"block\"]\npoint = [0, 0]\naxis = [1, 0]\n\
        [[force]]\nname = \"motor\"\ntype = \"actuator\"\njoint = \"rail\"\n\
        [[input]]\nname = \"push\"\ntarget = \"motor.force\"\n\
        [[signal]]\ninput = \"push\"\nlaw = \"step\"\ntime = 0.5\nafter = 8\n\
        [[parameter]]\nname = \"mass\"\ntarget = \"define.m\"\n\
        [[output]]\nname = \"x\"\nsource = \"block.x\"\n[experiment]\nstop = 1\n";
    for standard in BOTH {
        let scratch = Scratch::new(&format!("fmi-law-{}", standard.version()));
        let path = scratch.path().join("pushed.toml");
        std::fs::write(&path, MODEL).unwrap();
        let unit = Unpacked::new(&path, standard, &scratch);
        let component = Instance::from_file(&path).unwrap();
        let find = |name: &str| component.find(name).unwrap();
        let (push, mass, x) = (find("push"), find("mass"), find("x"));
        // (parameter, input set by the importer) -> x(1); an input that is set follows its law no longer.
        for (m, set, expected) in [
            (None, None, 8.0 / 2.0 / 8.0),
            (Some(5.0), None, 8.0 / 5.0 / 8.0),
            (Some(5.0), Some(3.0), 3.0 / 5.0 / 2.0),
        ] {
            let mut world = World::bare(&unit, standard, false);
            if let Some(m) = m {
                assert_eq!(world.set(&[mass], &[m]), FmiStatus::Ok, "{:?}", world.log);
            }
            world.start_up();
            if let Some(force) = set {
                assert_eq!(
                    world.set(&[push], &[force]),
                    FmiStatus::Ok,
                    "{:?}",
                    world.log
                );
            }
            for k in 0..10 {
                let (status, _) = world.step(0.1 * f64::from(k), 0.1);
                assert_eq!(status, FmiStatus::Ok, "{:?}", world.log);
            }
            // The motion is a parabola on both sides of the jump: exact but for the tolerance, 1e-6.
            let found = world.value(x);
            assert!(
                (found - expected).abs() < 1e-6,
                "{standard:?} {m:?} {set:?}: {found} for {expected}"
            );
            // Once it runs, a definition is fixed.
            assert_eq!(world.set(&[mass], &[1.0]), FmiStatus::Error);
        }
    }
}
