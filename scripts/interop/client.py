"""A client on the Python SDK that does with memdir what an assistant's program does, and counts what came out right."""

import asyncio
import json
import os
import sys
import uuid

import mcp_types
from mcp.client import session as sessions
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
import httpx2

version, transport, program, url, token = sys.argv[1:]
passed = failed = 0


def check(name, holds):
    global passed, failed
    if holds:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {name}")


async def throws(name, call):
    try:
        await call
        check(name, False)
    except MCPError:
        check(name, True)


def ask_for(version):
    """Lets the handshake ask for an older version than the SDK's newest."""
    for module in (sessions, mcp_types, getattr(sessions, "types", None)):
        for name in ("LATEST_HANDSHAKE_VERSION", "LATEST_PROTOCOL_VERSION"):
            if module is not None and hasattr(module, name):
                setattr(module, name, version)


async def main():
    modern = version >= "2026-07-28"
    if not modern:
        ask_for(version)
    if transport == "stdio":
        environment = {**os.environ}
        server = stdio_client(StdioServerParameters(command=program, args=["mcp", "--tools", "full"], env=environment))
    else:
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30)
        server = streamable_http_client(url, http_client=http)
    note = f"interop/{uuid.uuid4()}.md"
    async with Client(server, mode=version if modern else "legacy") as client:
        check("version", client.protocol_version == version)
        tools = (await client.list_tools()).tools
        names = [tool.name for tool in tools]
        check("tools", {"read_file", "update_file", "search_files", "run_actions"} <= set(names))
        check("schemas", all(tool.input_schema["type"] == "object" for tool in tools))
        made = await client.call_tool("create_file", {"path": note, "content": "# Interop\n\n- city: London\n"})
        check("create_file", not made.is_error and made.structured_content["value"] is True)
        read = await client.call_tool("read_file", {"path": note})
        check("read_file", read.content[0].text == "# Interop\n\n- city: London\n" and read.structured_content is None)
        edit = {"path": note, "old_content": "London", "new_content": "Paris"}
        check("update_file", not (await client.call_tool("update_file", edit)).is_error)
        again = await client.call_tool("update_file", edit)
        check("an error that teaches", again.is_error and again.structured_content["error"]["code"] == "content_not_found")
        missing = await client.call_tool("read_file", {"path": "interop/missing.md"})
        check("not_found", missing.is_error and json.loads(missing.content[0].text)["error"]["code"] == "not_found")
        calls = [client.call_tool("append_file", {"path": note, "content": f"- item: {n}"}) for n in range(50)]
        done = await asyncio.gather(*calls)
        text = (await client.call_tool("read_file", {"path": note})).content[0].text
        check("50 in flight", not any(one.is_error for one in done) and all(f"- item: {n}\n" in text for n in range(50)))
        batch = {"actions": [{"action": "read_file", "path": note}, {"action": "delete_file", "path": note}]}
        ran = await client.call_tool("run_actions", batch)
        check("run_actions", [one["ok"] for one in ran.structured_content["actions"]] == [True, True])
        await throws("an unknown tool", client.call_tool("no_such_tool", {}))
        resources = (await client.list_resources()).resources
        check("resources", any(str(resource.uri) == "memdir:///user.md" for resource in resources))
        contents = (await client.read_resource("memdir:///user.md")).contents
        check("a resource", contents[0].text.startswith("# Mira"))
        await throws("a missing resource", client.read_resource("memdir:///missing.md"))
        templates = (await client.list_resource_templates()).resource_templates
        check("templates", len(templates) == 1)
        prompts = (await client.list_prompts()).prompts
        check("prompts", len(prompts) == 3)
        prompt = await client.get_prompt("what_do_you_know", {"topic": "coffee"})
        check("a prompt", "coffee" in prompt.messages[0].content.text)
    print(f"{passed} passed, {failed} failed")


try:
    asyncio.run(asyncio.wait_for(main(), 60))
except BaseException as error:  # the counts are printed whatever happens
    print(f"FAIL {type(error).__name__}: {error}")
    print(f"{passed} passed, {failed + 1} failed")
    raise
