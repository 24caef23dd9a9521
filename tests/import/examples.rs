//! `examples/robots`: from a robot of a package to a C host.

use std::process::Command;

use super::host::{Scratch, compilers, expect_success, library, root, without_library_path};
use super::python::{interpreter, robots};

#[test]
fn a_robot_of_a_package_runs_in_a_c_host() {
    if interpreter().is_none() {
        return;
    }
    let Some(compiler) = compilers(&["cc"]).into_iter().next() else {
        return;
    };
    let scratch = Scratch::new("import_examples");
    let all = robots("urdf", &["cmeel.prefix/share/example-robot-data"]);
    let arm = all.iter().find(|path| path.ends_with("ur5_robot.urdf"));
    let biela = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_biela"))
            .args(arguments)
            .current_dir(scratch.path())
            .output()
            .expect("biela starts");
        expect_success(&format!("biela {arguments:?}"), &output)
    };
    let said = biela(&["import", arm.unwrap().to_str().unwrap(), "-o", "ur5.toml"]);
    assert!(
        said.contains("Nothing that changes the motion was dropped"),
        "{said}"
    );
    biela(&["check", "ur5.toml"]);
    biela(&["pack", "ur5.toml", "-o", "ur5.fmu"]);
    let folder = library().shared.parent().unwrap().display().to_string();
    let row = |program: &str, arguments: &[&str], time: &str| -> f64 {
        let built = Command::new(&compiler)
            .arg(root().join(format!("examples/robots/{program}.c")))
            .arg(format!("-I{}", root().join("include").display()))
            .args([
                &format!("-L{folder}"),
                "-lbiela",
                &format!("-Wl,-rpath,{folder}"),
                "-lm",
            ])
            .args(["-o", program])
            .current_dir(scratch.path())
            .output()
            .expect("the compiler starts");
        expect_success(program, &built);
        let output = without_library_path(&scratch.path().join(program))
            .args(arguments)
            .current_dir(scratch.path())
            .output()
            .expect("the program starts");
        let printed = expect_success(program, &output);
        let line = printed.lines().find(|line| line.starts_with(time)).unwrap();
        line.split(',').nth(1).unwrap().parse().unwrap()
    };
    // It falls freely, or is held.
    let (fallen, held) = (
        row("fall", &[], "0.3,"),
        row("arm", &["ur5.toml", "elbow_joint"], "0.3,"),
    );
    assert!(
        fallen.abs() > 0.3 && held.abs() < 0.5 * fallen.abs(),
        "{fallen} {held}"
    );
}
