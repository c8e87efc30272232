//! How the program is linked. The library is not touched by it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[expect(clippy::disallowed_methods, reason = "a build script is told of its target by the environment")]
    let target = |name: &str| std::env::var(name).unwrap_or_default();
    if target("CARGO_CFG_TARGET_OS") == "linux" && target("CARGO_CFG_TARGET_ENV") == "gnu" {
        // At a fixed address nothing has to be moved to its place when it starts: some 60,000 addresses on 300 pages, each of which
        // would be copied first. That is more than half of what a start costs. Libraries, heap, stacks and mappings stay at random
        // places; what is given up is that of the program's own code and constants.
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
