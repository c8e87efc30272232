//! The least that a process costs: what `exec` is measured against.

fn main() {}
