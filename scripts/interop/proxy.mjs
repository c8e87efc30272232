// Passes requests on to a server with a token added, for clients that can send none. Prints its own address.

import http from "node:http";

const [address, token] = process.argv.slice(2);
const [host, port] = address.split(":");
let own = "";
const proxy = http.createServer((request, response) => {
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  // The server knows itself by its own port; what a client made up goes on as it is.
  if ([own, own.replace("127.0.0.1", "localhost")].includes(headers.host)) {
    headers.host = address;
  }
  const sent = http.request({ host, port, path: request.url, method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
  });
  sent.on("error", () => response.destroy());
  response.on("close", () => sent.destroy());
  request.pipe(sent);
});
proxy.listen(0, "127.0.0.1", () => {
  own = `127.0.0.1:${proxy.address().port}`;
  console.log(own);
});
