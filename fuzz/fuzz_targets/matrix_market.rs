#![no_main]
#[path = "../bodies/matrix_market.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::run(data));
