//! The report page of `biela run --report`: what stands in the file, and what a real browser makes of it.

mod animation;
mod browser;
mod driver;
mod failures;
mod file;
mod fmu;
mod gallery;
#[path = "../../examples/support/gallery_text.rs"]
#[allow(dead_code)] // `gallery` is asked for the text only
mod gallery_text;
mod meshes;
mod rows;
mod support;
mod watch;
mod words;
