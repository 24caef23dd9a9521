//! Runs that failed: the page says what, when, which, what was tried and what to change, and opens there.

use super::driver::{Browser, Graphics};
use super::support::{repository, run, scratch, summary};

#[test]
fn a_run_that_failed_opens_at_the_failure() {
    let page = scratch("out_of_reach.html");
    let output = run(
        &repository("tests/report/models/out_of_reach.toml"),
        &page,
        &[],
    );
    assert_eq!(output.status.code(), Some(1));
    let text = std::fs::read_to_string(&page).unwrap();
    let failure = &summary(&text)["failure"];
    let time = failure["time"].as_f64().unwrap();
    assert!(time > 0.5 && time < 3.0);
    assert!(failure["tried"].as_array().unwrap().len() > 3);
    assert!(!failure["advice"].as_array().unwrap().is_empty());
    let elements = failure["elements"].to_string();
    assert!(
        (elements.contains("drive_pin") || elements.contains("rocker"))
            && elements.contains("\"line\":"),
        "{elements}"
    );

    let Some(browser) = Browser::start(Graphics::None, 1400, 900) else {
        return;
    };
    browser.open(&page, "");
    assert_eq!(browser.number("return biela.time()"), time);
    let shown = browser.run("return document.getElementById('failure').innerText");
    let shown = shown.as_str().unwrap();
    for word in ["When", "Which", "Tried", "What to change", "rocker"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    assert!(browser.number("return document.querySelectorAll('.text li.wrong').length") >= 1.0);
    assert!(browser.messages().is_empty());
}

#[test]
fn a_mechanism_that_cannot_be_assembled_is_shown_as_written() {
    let page = scratch("cannot_assemble.html");
    let output = run(
        &repository("tests/report/models/cannot_assemble.toml"),
        &page,
        &[],
    );
    assert_eq!(output.status.code(), Some(2));
    let text = std::fs::read_to_string(&page).unwrap();
    let failure = &summary(&text)["failure"];
    assert_eq!(failure["culprits"].to_string(), "[\"left\",\"right\"]");
    let Some(browser) = Browser::start(Graphics::None, 1000, 700) else {
        return;
    };
    browser.open(&page, "");
    let pose = browser.run("return biela.pose('rod').position");
    assert_eq!(pose.to_string(), "[0.5,0.2,0]");
    assert!(browser.messages().is_empty());
}
