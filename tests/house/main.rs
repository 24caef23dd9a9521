//! The house rules: who imports whom, one meaning for each type name, sizes of files and functions, documents that name
//! only what exists. Each test reads the source as text.

mod documents;
mod layers;
mod names;
mod size;
mod source;
