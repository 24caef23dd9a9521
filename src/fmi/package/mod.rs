//! The archive that an importer loads: model, model description, documentation and this library.
//!
//! ```text
//!   biela pack   archive ── description, documentation, token, library ──> X.fmu
//!   importer     resource ── manifest, token ──> Model
//! ```

mod archive;
pub mod description;
mod documentation;
pub mod library;
pub mod platform;
pub mod resource;
mod terminals;
pub mod token;
mod xml;

pub use archive::{PackageContents, PlatformLibrary, archive, contents, contents_of};
pub use platform::Platform;
