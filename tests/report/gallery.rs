//! The gallery shows every model as it is now.

use super::gallery_text::{gallery, models, name, sentence};
use super::support::repository;

#[test]
fn every_model_has_a_picture_and_its_sentence() {
    let root = repository("");
    let written = std::fs::read_to_string(root.join("docs/gallery.md")).unwrap();
    assert!(
        written == gallery(&root),
        "docs/gallery.md is old: cargo run --release --example gallery"
    );
    for path in models(&root) {
        let picture = root.join(format!("docs/pictures/gallery/{}.png", name(&path)));
        let bytes = std::fs::read(&picture)
            .unwrap_or_else(|error| panic!("{}: {error}", picture.display()));
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 1000);
        let sentence = sentence(&std::fs::read_to_string(&path).unwrap());
        assert!(
            sentence.len() > 20 && sentence.ends_with('.'),
            "{}: {sentence}",
            path.display()
        );
    }
}

#[test]
fn the_readme_opens_with_the_page() {
    let readme = std::fs::read_to_string(repository("README.md")).unwrap();
    let first = readme.find("](docs/pictures/").unwrap();
    assert!(readme[first..].starts_with("](docs/pictures/page.png)"));
    assert!(
        readme[..first].lines().count() < 12,
        "the picture stands too low"
    );
    let page = std::fs::read(repository("docs/pictures/page.png")).unwrap();
    assert!(page.starts_with(b"\x89PNG") && page.len() < 400_000);
}
