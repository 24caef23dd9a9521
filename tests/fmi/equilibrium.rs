//! A parameter of a unit chooses where it starts: in the static equilibrium, or from the initial conditions.

use crate::fmi_host::world::World;
use crate::fmi_host::{BOTH, Unpacked};
use crate::host::Scratch;
use biela::Instance;
use biela::fmi::types::FmiStatus;

/// A pendulum of 1 m, drawn horizontally.
const PENDULUM: &str = r#"
format = 1
name = "pendulum"
dimension = 2
gravity = [0.0, -9.81]
[[body]]
name = "rod"
mass = 1.0
inertia = 0.1
position = [1.0, 0.0]
[[joint]]
name = "pin"
type = "revolute"
bodies = ["ground", "rod"]
point = [0.0, 0.0]
[[parameter]]
name = "rest"
target = "experiment.equilibrium"
[[output]]
name = "y"
source = "rod.y"
"#;

#[test]
fn a_parameter_of_a_unit_starts_it_in_its_equilibrium() {
    let h = 1.0 / 16.0;
    for standard in BOTH {
        let scratch = Scratch::new(&format!("fmi-equilibrium-{}", standard.version()));
        let path = scratch.path().join("pendulum.toml");
        std::fs::write(&path, PENDULUM).unwrap();
        let instance = Instance::from_file(&path).unwrap();
        let (rest, y) = (instance.find("rest").unwrap(), instance.find("y").unwrap());
        let unit = Unpacked::new(&path, standard, &scratch);
        for (value, start) in [(0.0, 0.0), (1.0, -1.0)] {
            let mut world = World::bare(&unit, standard, false);
            assert_eq!(
                world.set(&[rest], &[value]),
                FmiStatus::Ok,
                "{:?}",
                world.log
            );
            world.start_up();
            assert!((world.value(y) - start).abs() < 1e-12, "{}", world.value(y));
            let (status, _) = world.step(0.0, h);
            assert_eq!(status, FmiStatus::Ok, "{:?}", world.log);
            // In free fall it would be 1.9e-2 lower.
            let moved = (world.value(y) - start).abs();
            assert_eq!(moved < 1e-12, value == 1.0, "{standard:?} {value}: {moved}");
        }
    }
}
