//! Runs of the command line, and the pages they write.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A path of this repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A file of this test program.
pub fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// `biela run MODEL --report PAGE` with more arguments.
pub fn run(model: &Path, page: &Path, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_biela"))
        .arg("run")
        .arg(model)
        .arg("--report")
        .arg(page)
        .args(more)
        .output()
        .unwrap()
}

/// The page of a model of the repository; `name` keeps the files of tests apart.
pub fn page_of(model: &str, name: &str, more: &[&str]) -> PathBuf {
    let page = scratch(&format!("{name}.html"));
    let output = run(&repository(model), &page, more);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    page
}

/// A model written for one test.
pub fn written(name: &str, text: &str) -> PathBuf {
    let path = scratch(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// Text of the element of a page that has this id.
pub fn element<'a>(page: &'a str, id: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("id=\"{id}\">")).unwrap();
    rest.split_once("</script>").unwrap().0
}

/// The object that a page tells its script.
pub fn summary(page: &str) -> Value {
    serde_json::from_str(element(page, "summary")).unwrap()
}

/// A table: names of the columns, and rows.
pub fn table(path: &Path) -> (Vec<String>, Vec<Vec<f64>>) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let names = lines
        .next()
        .unwrap()
        .split(',')
        .map(str::to_owned)
        .collect();
    let rows = lines
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    (names, rows)
}

/// Ten chains of ten links in space.
pub fn hundred_bodies() -> String {
    let mut text =
        "format = 1\nname = \"hundred\"\ngravity = [0.0, 0.0, -9.81]\n[solver]\ntolerance = 1e-4\n"
            .to_owned();
    for chain in 0..10 {
        for link in 0..10 {
            let (x, y) = (0.2 * f64::from(link), 0.3 * f64::from(chain));
            let before = match link {
                0 => "ground".to_owned(),
                _ => format!("b{chain}_{}", link - 1),
            };
            text += &format!(
                "[[body]]\nname = \"b{chain}_{link}\"\nmass = 1.0\ninertia = [0.001, 0.004, 0.004]\nposition = [{}, {y}, 0.0]\n\
                 shape = {{ box = [0.2, 0.04, 0.04] }}\n[[joint]]\nname = \"j{chain}_{link}\"\ntype = \"revolute\"\n\
                 bodies = [\"{before}\", \"b{chain}_{link}\"]\npoint = [{x}, {y}, 0.0]\naxis = [0, 1, 0]\n",
                x + 0.1
            );
        }
    }
    text
}
