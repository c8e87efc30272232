// A client on the TypeScript SDK that does with memdir what an assistant's program does, and counts what came out right.

import { randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";

const [place, version, transport, program, url, token] = process.argv.slice(2);
const sdk = `${place}/node_modules/@modelcontextprotocol/client/dist`;
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(`${sdk}/index.mjs`));
const { StdioClientTransport } = await import(pathToFileURL(`${sdk}/stdio.mjs`));

let passed = 0;
let failed = 0;

function check(name, holds) {
  if (holds) {
    passed += 1;
  } else {
    failed += 1;
    console.log(`FAIL ${name}`);
  }
}

async function throws(name, call) {
  check(name, await call.then(() => false, () => true));
}

async function main() {
  const modern = version >= "2026-07-28";
  const options = modern ? { versionNegotiation: { mode: { pin: version } } } : { supportedProtocolVersions: [version] };
  const client = new Client({ name: "interop", version: "1.0.0" }, options);
  const server =
    transport === "stdio"
      ? new StdioClientTransport({ command: program, args: ["mcp", "--tools", "full"], env: process.env })
      : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
  await client.connect(server);
  const call = (name, args) => client.callTool({ name, arguments: args });
  const note = `interop/${randomUUID()}.md`;

  const { tools } = await client.listTools();
  check("tools", ["read_file", "update_file", "run_actions"].every((name) => tools.some((tool) => tool.name === name)));
  check("create_file", (await call("create_file", { path: note, content: "# Interop\n\n- city: London\n" })).structuredContent?.value === true);
  const read = await call("read_file", { path: note });
  check("read_file", read.content[0].text === "# Interop\n\n- city: London\n" && read.structuredContent === undefined);
  const edit = { path: note, old_content: "London", new_content: "Paris" };
  check("update_file", !(await call("update_file", edit)).isError);
  const again = await call("update_file", edit);
  check("an error that teaches", again.isError === true && again.structuredContent.error.code === "content_not_found");
  const numbers = [...Array(50).keys()];
  const done = await Promise.all(numbers.map((n) => call("append_file", { path: note, content: `- item: ${n}` })));
  const text = (await call("read_file", { path: note })).content[0].text;
  check("50 in flight", done.every((one) => !one.isError) && numbers.every((n) => text.includes(`- item: ${n}\n`)));
  const ran = await call("run_actions", { actions: [{ action: "read_file", path: note }, { action: "delete_file", path: note }] });
  check("run_actions", ran.structuredContent.actions.every((one) => one.ok));
  await throws("an unknown tool", call("no_such_tool", {}));
  const { resources } = await client.listResources();
  check("resources", resources.some((resource) => resource.uri === "memdir:///user.md"));
  const { contents } = await client.readResource({ uri: "memdir:///user.md" });
  check("a resource", contents[0].text.startsWith("# Mira"));
  await throws("a missing resource", client.readResource({ uri: "memdir:///missing.md" }));
  check("templates", (await client.listResourceTemplates()).resourceTemplates.length === 1);
  check("prompts", (await client.listPrompts()).prompts.length === 3);
  const prompt = await client.getPrompt({ name: "what_do_you_know", arguments: { topic: "coffee" } });
  check("a prompt", prompt.messages[0].content.text.includes("coffee"));
  await client.close();
}

const limit = setTimeout(() => finish(new Error("it took longer than a minute")), 60_000);

function finish(error) {
  clearTimeout(limit);
  if (error) {
    failed += 1;
    console.log(`FAIL ${error.message}`);
    console.error(error);
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

main().then(() => finish(), finish);
