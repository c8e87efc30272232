// Runs the official conformance suite in each version of the protocol, and counts its checks.

import { spawnSync } from "node:child_process";

const [node, place, url] = process.argv.slice(2);
const suite = `${place}/node_modules/.bin/conformance`;
const VERSIONS = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

// Scenarios that ask for a tool, a resource or a prompt which only the suite's own example server has, such as
// `test_simple_text` or `test://static-text`, or for what memdir does not declare: logging, sampling, roots.
const NOT_OURS = [
  /^tools-call-/,
  /^json-schema-2020-12$/,
  /^elicitation-sep/,
  /^resources-(read-text|read-binary|templates-read|subscribe|unsubscribe)$/,
  /^prompts-get-/,
  /^completion-complete$/,
  /^logging-set-level$/,
  /^http-custom-header-server-validation$/,
  /^input-required-result-/,
];
// Checks of the other scenarios for which that is so too.
const NOT_OUR_CHECKS = [
  "sep-2575-server-rejects-undeclared-capability",
  "sep-2575-missing-capability-http-400",
  "sep-2575-http-server-no-independent-requests-on-stream",
  "sep-2575-server-no-log-without-loglevel",
];

function run(...args) {
  const { stdout, stderr } = spawnSync(node, [suite, ...args], { encoding: "utf8", timeout: 60_000 });
  return `${stdout}\n${stderr}`.replaceAll(/\u001b\[\d*m/g, "");
}

const listed = run("list").split("Client scenarios")[0].matchAll(/^ {2}- (\S+) \[([^\]]*)\]/gm);
let [passed, failed, scenarios] = [0, 0, 0];
const left = [];
for (const [, scenario, versions] of listed) {
  const applies = VERSIONS.filter((version) => versions.split(",").includes(version));
  if (applies.length === 0 || NOT_OURS.some((pattern) => pattern.test(scenario))) {
    left.push(scenario);
    continue;
  }
  scenarios += 1;
  for (const version of applies) {
    const text = run("server", "--url", url, "--scenario", scenario, "--spec-version", version);
    const checks = [...text.matchAll(/\[([\w-]+) *\] (SUCCESS|FAILURE)/g)].filter(([, id]) => !NOT_OUR_CHECKS.includes(id));
    const bad = checks.filter(([, , status]) => status === "FAILURE");
    passed += checks.length - bad.length;
    failed += checks.length === 0 ? 1 : bad.length;
    for (const [, id] of checks.length === 0 ? [[null, "no check was made"]] : bad) {
      console.log(`FAIL conformance: ${scenario} (${version}): ${id}`);
    }
  }
}
console.log(`conformance suite: ${scenarios} scenarios apply, ${left.length} do not: ${left.join(" ")}`);
console.log(`${passed} passed, ${failed} failed`);
