//! The fuzz target of the same name; what it checks is in the library.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::cel_source(input));
