//! Rigid contacts and stops.

#[path = "common/sim.rs"]
mod sim;

use sim::Sim;

/// A point of 2 kg that falls from 1 m.
fn ball(restitution: f64, formulation: &str) -> String {
    format!(
        r#"format = 1
name = "ball"
dimension = 2
gravity = [0, -10]
[solver]
formulation = "{formulation}"
length = 1.0
[[body]]
name = "ball"
mass = 2.0
inertia = 1.0
position = [0.0, 1.0]
velocity = [0.3, 0.0]
[[force]]
name = "floor"
type = "contact"
bodies = ["ground", "ball"]
plane = {{ normal = [0, 1] }}
restitution = {restitution}
"#
    )
}

#[test]
fn trial() {
    for formulation in ["absolute", "relative", "hybrid"] {
        let mut sim = Sim::new(&ball(0.8, formulation), 1e-6);
        for k in 1..50 {
            sim.to(0.1 * k as f64);
            println!("{formulation} {k} {} {} {} {} {}", sim.get("ball.y"), sim.get("ball.vy"), sim.get("floor.force"), sim.get("energy.balance"), sim.get("floor.length"));
        }
    }
}
