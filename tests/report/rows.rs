//! Rows between steps, and what the solver tells about its steps.

use super::support::{page_of, repository, scratch, summary, table};

#[test]
fn rows_inside_a_step_follow_the_law_of_that_step() {
    // The road's next piece is a polynomial of degree 22: evaluated before its beginning it gives 1e14 N.
    let csv = scratch("iltis_rows.csv");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_biela"))
        .arg("run")
        .arg(repository("models/iltis.toml"))
        .arg("--out")
        .arg(&csv)
        .output()
        .unwrap();
    assert!(output.status.success());
    let (names, rows) = table(&csv);
    let tyre = names.iter().position(|n| n == "tyre_force").unwrap();
    for row in rows {
        assert!(row[tyre] >= 0.0 && row[tyre] < 30_000.0, "{row:?}");
    }
}

#[test]
fn rejected_steps_and_events_are_named() {
    let page = std::fs::read_to_string(page_of("models/geneva.toml", "named", &[])).unwrap();
    let summary = summary(&page);
    let culprits = summary["culprits"].as_array().unwrap();
    assert!(
        culprits
            .iter()
            .any(|name| name.as_str().unwrap().contains("cross")
                || name.as_str().unwrap().contains('.')),
        "{culprits:?}"
    );
    assert!(!summary["events"].as_array().unwrap().is_empty());
    let counted = |name: &str| {
        let counters = summary["statistics"].as_array().unwrap();
        counters.iter().find(|c| c[0] == name).unwrap()[1]
            .as_u64()
            .unwrap()
    };
    assert!(counted("rejected") > 10 && counted("events") > 10);
}
