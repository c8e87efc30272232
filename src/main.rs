//! The `memdir` binary.

fn main() {}
