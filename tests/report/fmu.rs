//! The documentation page of an FMU is the report page with the reference run.

use biela::fmi::package::contents;
use biela::fmi::types::FmiStandard;

use super::driver::{Browser, Graphics};
use super::support::{element, repository, scratch, summary};

#[test]
fn the_documentation_of_an_fmu_is_the_page_of_its_reference_run() {
    let pages = [(), ()].map(|()| {
        let packed = contents(&repository("models/slider_crank.toml"), FmiStandard::Two).unwrap();
        let files = packed.files.into_iter();
        let (_, bytes) = files
            .into_iter()
            .find(|(name, _)| name == "documentation/index.html")
            .unwrap();
        String::from_utf8(bytes).unwrap()
    });
    assert!(pages[0] == pages[1]);
    assert_eq!(element(&pages[0], "measured"), "[]");
    let summary = summary(&pages[0]);
    assert_eq!(summary["reached"], 2.0);
    assert!(summary["notes"][0].as_str().unwrap().starts_with("FMI 2.0"));
    assert!(summary["text"].as_str().unwrap().contains("[[body]]"));
    let Some(browser) = Browser::start(Graphics::None, 1200, 800) else {
        return;
    };
    let page = scratch("documentation.html");
    std::fs::write(&page, &pages[0]).unwrap();
    browser.open(&page, "");
    browser.run("biela.seek(1);");
    assert!(browser.number("return biela.pose('slider').position[0]") > 0.2);
    assert!(browser.messages().is_empty());
}
