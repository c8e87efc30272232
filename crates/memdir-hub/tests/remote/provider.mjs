// An authorisation server, made of the package oidc-provider with its own forms, and an MCP server that it protects, each on a port
// that the system chooses. Prints one line: {"resource": the address of the server, "desk": where a test counts and intervenes}.
// usage: node provider.mjs NODE_MODULES
import http from "node:http";
import { pathToFileURL } from "node:url";

const packageAt = (path) => import(pathToFileURL(`${process.argv[2]}/${path}`));
const { Provider } = await packageAt("oidc-provider/lib/index.js");
const jose = await packageAt("jose/dist/webapi/index.js");
const listen = () => new Promise((done) => { const server = http.createServer().listen(0, "127.0.0.1", () => done(server)); });
const authority = await listen(), server = await listen(), desk = await listen();
const address = (of) => `http://127.0.0.1:${of.address().port}`;
const issuer = address(authority), resource = `${address(server)}/mcp`;

// What happened at the authorisation server, by its own events.
const counts = { registrations: 0, logins: 0, refreshes: 0, refused: 0 };
const seen = new Set(), over = new Set();
let revoked = false;

const provider = new Provider(issuer, {
  clients: [{
    client_id: "fixed", token_endpoint_auth_method: "none", application_type: "native",
    grant_types: ["authorization_code", "refresh_token"], redirect_uris: ["http://127.0.0.1/callback"],
  }],
  scopes: ["openid", "offline_access", "mcp:tools", "mcp:write"],
  ttl: { AccessToken: 600, RefreshToken: 600 },
  issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
  rotateRefreshToken: true,
  features: {
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, one) => {
        if (one !== resource) throw Object.assign(new Error("invalid_target"), { statusCode: 400, expose: true, error: "invalid_target" });
        return { scope: "mcp:tools mcp:write", audience: resource, accessTokenFormat: "jwt", jwt: { sign: { alg: "RS256" } } };
      },
    },
  },
});
const grants = new Set();
provider.on("registration_create.success", () => counts.registrations++);
provider.on("grant.success", (ctx) => {
  grants.add(ctx.oidc.entities.Grant);
  ctx.oidc.params.grant_type === "refresh_token" ? counts.refreshes++ : counts.logins++;
});
provider.on("grant.error", () => counts.refused++);
authority.on("request", provider.callback());

const keys = jose.createRemoteJWKSet(new URL(`${issuer}/jwks`));
const challenge = (more) => `Bearer resource_metadata="${new URL("/.well-known/oauth-protected-resource/mcp", resource)}", ${more}`;
const tool = (name) => ({ name, description: name, inputSchema: { type: "object" } });

async function body(request) {
  let text = "";
  for await (const part of request) text += part;
  return text;
}

server.on("request", async (request, response) => {
  const say = (status, value, headers = {}) => response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
  if (request.url.startsWith("/.well-known/oauth-protected-resource")) {
    return say(200, { resource, authorization_servers: [issuer], scopes_supported: ["mcp:tools"] });
  }
  const text = await body(request);
  const token = (request.headers.authorization ?? "").replace(/^Bearer /, "");
  let scopes;
  try {
    if (over.has(token) || revoked) throw new Error("it is over");
    scopes = (await jose.jwtVerify(token, keys, { issuer, audience: resource })).payload.scope.split(" ");
    seen.add(token);
  } catch {
    return say(401, {}, { "www-authenticate": challenge('error="invalid_token", scope="mcp:tools"') });
  }
  if (request.method !== "POST") return say(405, {});
  const { id, method, params } = JSON.parse(text);
  const answer = (result) => say(200, { jsonrpc: "2.0", id, result });
  if (id === undefined) return response.writeHead(202).end();
  if (method === "initialize") {
    return answer({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "protected", version: "1" } });
  }
  if (method === "tools/list") return answer({ tools: [tool("read"), tool("write")] });
  if (method !== "tools/call") return say(200, { jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } });
  if (params.name === "write" && !scopes.includes("mcp:write")) {
    return say(403, {}, { "www-authenticate": challenge('error="insufficient_scope", scope="mcp:write"') });
  }
  answer({ content: [{ type: "text", text: scopes.sort().join(" ") }] });
});

// The desk: `/expire` lets no token be good that was seen, `/revoke` takes all grants away; each answers the counts.
desk.on("request", async (request, response) => {
  if (request.url === "/expire") seen.forEach((token) => over.add(token));
  if (request.url === "/revoke") {
    revoked = true;
    for (const grant of grants) {
      await grant.destroy();
      await provider.RefreshToken.adapter.revokeByGrantId(grant.jti);
    }
  }
  if (request.url === "/allow") revoked = false;
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(counts));
});

console.log(JSON.stringify({ resource, desk: address(desk) }));
