//! Suites and their checks.
