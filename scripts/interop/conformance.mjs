// Runs each scenario of the official conformance suite that applies to memdir, in each version of the protocol that it is for.

import { spawnSync } from "node:child_process";

const [node, place, url] = process.argv.slice(2);
const suite = `${place}/node_modules/.bin/conformance`;
const VERSIONS = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

// What cannot apply: scenarios that call a tool, read a resource or get a prompt that only the suite's own example server has.
const NOT_OURS = [
];

function run(...args) {
  const { stdout, stderr, status } = spawnSync(node, [suite, ...args], { encoding: "utf8", timeout: 60_000 });
  return { text: `${stdout}\n${stderr}`, status };
}

const listed = run("list").text.split("Client scenarios")[0].matchAll(/^ {2}- (\S+) \[([^\]]*)\]/gm);
let passed = 0;
let failed = 0;
let left = 0;
for (const [, scenario, versions] of listed) {
  const applies = VERSIONS.filter((version) => versions.split(",").includes(version));
  if (applies.length === 0 || NOT_OURS.includes(scenario)) {
    left += 1;
    continue;
  }
  for (const version of applies) {
    const { text, status } = run("server", "--url", url, "--scenario", scenario, "--spec-version", version);
    if (status === 0) {
      passed += 1;
    } else {
      failed += 1;
      console.log(`FAIL conformance: ${scenario} (${version})`);
      console.error(text);
    }
  }
}
console.log(`not ours: ${left} scenarios`);
console.log(`${passed} passed, ${failed} failed`);
