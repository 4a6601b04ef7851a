//! Gives libFuzzer's inputs to every parser. The checks are those of the tests.
#![no_main]

#[path = "../../tests/corpus/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::every_parser(bytes));
