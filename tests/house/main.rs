//! Rules of the source tree: who may import whom, one meaning for each type name, sizes, names in the documents.

mod documents;
mod elementary;
mod layers;
mod names;
mod size;
mod source;
