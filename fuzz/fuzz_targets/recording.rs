#![no_main]

defcol_fuzz::fuzz_target!(|bytes: &[u8]| defcol_fuzz::recording(bytes));
