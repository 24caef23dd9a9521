//! Memory that a call needs, asked for beforehand.
//!
//! A failed allocation inside Rust ends the process. Calls whose need is known reserve it once, give it back, and then begin: a host
//! with a limit gets an error instead.

use std::hint::black_box;

use crate::error::{Error, Result};

/// Added to every need: messages and the granularity of the allocator (bytes).
const BASE: usize = 1 << 16;
/// Needed by a model of any size: tables, and heaps that the allocator makes for a thread (bytes).
const BASE_OF_MODEL: usize = 1 << 20;
/// Memory of a model and its instance over the length of the text. Measured on all models of `models/`: at most 66, by
/// `spatial_slider_crank`; twice that.
const PER_TEXT_BYTE: usize = 132;

/// Fails if `bytes` more are not to be had.
pub(crate) fn require(bytes: usize) -> Result<()> {
    let bytes = bytes.saturating_add(BASE);
    let mut probe: Vec<u8> = Vec::new();
    let granted = probe.try_reserve_exact(bytes);
    // An allocation that nobody looks at might be removed.
    black_box(probe.as_ptr());
    granted.map_err(|_| Error::OutOfMemory { bytes })
}

/// Fails if an instance of a model text of this length may not fit.
pub(crate) fn require_for_text(length: usize) -> Result<()> {
    require(
        length
            .saturating_mul(PER_TEXT_BYTE)
            .saturating_add(BASE_OF_MODEL),
    )
}

/// Fails if an instance of the model in this file may not fit. A file that cannot be asked is for the reader to refuse.
pub(crate) fn require_for_file(path: &std::path::Path) -> Result<()> {
    let length = std::fs::metadata(path).map_or(0, |data| data.len());
    // Longer texts are refused unread.
    require_for_text(usize::try_from(length).unwrap_or(usize::MAX).min(1 << 26))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_had_is_an_error() {
        assert!(require(0).is_ok() && require_for_text(10_000).is_ok());
        for bytes in [usize::MAX, isize::MAX as usize, 1 << 46] {
            let sentence = require(bytes).unwrap_err().to_string();
            assert!(sentence.starts_with("not enough memory"), "{sentence}");
        }
    }
}
