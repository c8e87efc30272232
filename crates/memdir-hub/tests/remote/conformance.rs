use std::path::Path;

use super::{client, node, packages};

/// The extensions that memdir does not speak: other ways to a token than a person who logs in.
const UNSPOKEN: &[&str] = &[
    "auth/client-credentials-basic",
    "auth/client-credentials-jwt",
    "auth/dpop",
    "auth/dpop-nonce",
    "auth/enterprise-managed-authorization",
    "auth/wif-jwt-bearer",
];

/// Runs scenarios of the suite's client half: how many passed, and which failed.
fn run(packages: &Path, what: &[&str]) -> (usize, Vec<String>) {
    let results = tempfile::tempdir().unwrap();
    let suite = packages.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let mut command = node(packages);
    command.arg(suite).args(["client", "--command"]).arg(client().get_program()).args(what);
    // Each scenario starts a client, all at once.
    command.args(["--timeout", "120000"]);
    let output = command.arg("-o").arg(results.path()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let (_, summary) = said.split_once("=== SUITE SUMMARY ===").unwrap();
    let (summary, _) = summary.split_once("Total:").unwrap();
    let named = |mark: &str| -> Vec<String> {
        let name = |line: &str| line.trim().strip_prefix(mark)?.split(':').next().map(|name| name.trim().to_owned());
        summary.lines().filter_map(name).collect()
    };
    (named("✓").len(), named("✗"))
}

#[test]
fn the_conformance_suite_passes() {
    let Some(packages) = packages() else { return };
    let (passed, mut failed) = run(&packages, &["--requirements", "2026-07-28"]);
    failed.sort();
    assert_eq!((passed, failed), (33, UNSPOKEN.iter().map(|name| (*name).to_owned()).collect()));
    for (suite, version, least) in
        [("core", "2025-11-25", 18), ("auth", "2025-11-25", 14), ("backcompat", "2025-03-26", 2)]
    {
        let (passed, failed) = run(&packages, &["--suite", suite, "--spec-version", version]);
        assert!(passed >= least && failed.is_empty(), "{suite} {version}: {passed} passed, failed: {failed:?}");
    }
}
