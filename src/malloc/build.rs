//! Links `limits.c` into the program where its C library is glibc; libraries and tests keep the limits that they have.

#[cfg(feature = "cli")]
#[expect(clippy::disallowed_methods, reason = "a build script reads and writes what Cargo tells it to")]
fn main() -> Result<(), cc::Error> {
    println!("cargo::rerun-if-changed=src/malloc");
    let is = |key: &str, value: &str| std::env::var(key).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        for object in cc::Build::new().file("src/malloc/limits.c").try_compile_intermediates()? {
            println!("cargo::rustc-link-arg-bins={}", object.display());
        }
    }
    Ok(())
}

#[cfg(not(feature = "cli"))]
fn main() {
    println!("cargo::rerun-if-changed=src/malloc");
}
