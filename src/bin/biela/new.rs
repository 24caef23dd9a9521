//! `biela new`: a commented model to start from. It runs as it is; further elements are in it as comments.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use biela::model::Model;

use crate::Failure;
use crate::output;

/// A pendulum with a damper; `NAME` stands for the name.
const STARTER: &str = r#"# A damped pendulum. Run it:         biela run NAME.toml --plot NAME.svg
# See what it is and how it starts:  biela check NAME.toml
# What a key or a quantity means:    biela explain inertia
format = 1
name = "NAME"
dimension = 2                       # 2: x, y and an angle for each body; 3: space (then vectors have three numbers)
gravity = [0.0, -9.81]              # m/s2; zero unless written

[solver]                            # every key has a default and may be left out
tolerance = 1e-6                    # local error of each step, relative to the mechanism's size

[experiment]                        # defaults for a run
stop = 10.0                         # s
interval = 0.02                     # s, between rows of the result

[[body]]
name = "rod"
mass = 1.0                          # kg
inertia = 0.0833333                 # kg m2, about the centre of mass
position = [0.5, 0.0]               # m, centre of mass at start: the rod is drawn lying to the right of its pivot
shape = { box = [1.0, 0.06] }       # for pictures only

[[joint]]
name = "pivot"
type = "revolute"                   # others: biela explain joint
bodies = ["ground", "rod"]          # the coordinate is that of the second relative to the first
point = [0.0, 0.0]                  # m, where the joint is at start, ground frame

[[force]]
name = "damper"
type = "spring_damper"              # along the line between two points
bodies = ["ground", "rod"]
points = [[1.0, -1.0], [0.5, 0.0]]  # m, each in its own body's frame
damping = 0.5                       # N s/m
# stiffness = 20.0                  # N/m, with the unloaded length
# length = 1.0                      # m

# [[motion]]                        # instead of letting it swing: turn the pivot at constant speed
# name = "drive"
# joint = "pivot"
# law = "constant_speed"
# speed = 1.0                       # rad/s

[[sensor]]                          # a point whose motion is of interest
name = "tip"
body = "rod"
point = [0.5, 0.0]                  # m, in the body's frame

[[parameter]]                       # what can be changed from outside:  biela run NAME.toml --set c=2
name = "c"
target = "damper.damping"

[[output]]                          # the columns of the result; any quantity
name = "angle"
source = "pivot.position"

[[output]]
name = "tip_x"
source = "tip.x"

[[output]]
name = "tip_y"
source = "tip.y"

[[output]]
name = "energy"
source = "energy.total"
"#;

/// Writes `NAME.toml`; never overwrites a file.
pub fn new(name: &str) -> Result<(), Failure> {
    let stem = name.strip_suffix(".toml").unwrap_or(name);
    let path = PathBuf::from(format!("{stem}.toml"));
    let shown = path.display();
    // A name may include a folder; the model has the last part as its name.
    let last = path.file_stem().map(|s| s.to_string_lossy().into_owned());
    let text = STARTER.replace("NAME", &last.unwrap_or_default());
    Model::from_text(&text, &shown.to_string()).map_err(|_| {
        Failure::Input(format!(
            "a model's name must be letters, digits and _, not starting with a digit; found \"{name}\""
        ))
    })?;
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|e| Failure::Input(format!("cannot write {shown}: {e}")))?;
    output::print(&format!("wrote {shown}; try: biela run {shown}\n"))
}
