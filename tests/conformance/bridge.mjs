// A loopback HTTP server in front of a server that speaks over standard input and output, for a conformance suite that
// can reach only a URL.
//
//     node bridge.mjs COMMAND ARGUMENT...
//
// Prints its URL as the first line and ends with its standard input. One process of the server for each session that
// `initialize` opens; one for each request of the stateless revision, which shows that no request relies on another.
// Status codes are those of Streamable HTTP. What only an HTTP server has (header checks, streams that outlive a
// request) is not here: the product has no HTTP server, and what this file could do would say nothing about it.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const [command, ...args] = process.argv.slice(2);
const sessions = new Map();

/** A process of the server, with the request that is being answered. */
class Peer {
  constructor() {
    this.child = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
    this.child.stdin.on("error", () => {});
    this.waiting = new Map();
    createInterface({ input: this.child.stdout }).on("line", (line) => this.hear(line));
    this.child.on("exit", () => {
      for (const answer of this.waiting.values()) answer.end();
      this.waiting.clear();
    });
  }

  say(message) {
    this.child.stdin.write(JSON.stringify(message) + "\n");
  }

  hear(line) {
    const message = JSON.parse(line);
    if (message.method === undefined && this.waiting.has(JSON.stringify(message.id))) {
      const answer = this.waiting.get(JSON.stringify(message.id));
      this.waiting.delete(JSON.stringify(message.id));
      answer.last(message);
      return;
    }
    // Notifications and the server's own requests belong to the request that is open.
    const open = [...this.waiting.values()].at(-1);
    open?.also(message);
  }

  end() {
    this.child.stdin.end();
  }
}

/** The HTTP answer to one request: plain JSON, or a stream as soon as something comes before the last word. */
class Answer {
  constructor(response, headers, done) {
    Object.assign(this, { response, headers, done, streaming: false });
  }

  event(message) {
    this.response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  also(message) {
    if (!this.streaming) {
      this.streaming = true;
      this.response.writeHead(200, { ...this.headers, "content-type": "text/event-stream", "cache-control": "no-store" });
    }
    this.event(message);
  }

  last(message) {
    if (this.streaming) {
      this.event(message);
      this.response.end();
    } else {
      this.response.writeHead(status(message), { ...this.headers, "content-type": "application/json" });
      this.response.end(JSON.stringify(message));
    }
    this.done?.();
  }

  end() {
    if (!this.streaming) this.response.writeHead(502);
    this.response.end();
    this.done?.();
  }
}

function status(message) {
  switch (message.error?.code) {
    case undefined:
      return 200;
    case -32601:
      return 404;
    case -32602:
    case -32600:
    case -32700:
    case -32020:
    case -32021:
    case -32022:
      return 400;
    default:
      return 200;
  }
}

async function post(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  let message;
  try {
    message = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "no JSON" } }));
    return;
  }
  const id = request.headers["mcp-session-id"];
  const session = id === undefined ? undefined : sessions.get(id);
  if (id !== undefined && session === undefined) {
    response.writeHead(404).end();
    return;
  }
  const asks = message.method !== undefined && message.id !== undefined;
  if (session !== undefined) {
    if (asks) session.waiting.set(JSON.stringify(message.id), new Answer(response, {}));
    else response.writeHead(202).end();
    session.say(message);
    return;
  }
  if (!asks) {
    response.writeHead(202).end();
    return;
  }
  const peer = new Peer();
  const headers = {};
  let done = () => peer.end();
  if (message.method === "initialize") {
    headers["mcp-session-id"] = randomUUID();
    sessions.set(headers["mcp-session-id"], peer);
    done = undefined;
  }
  peer.waiting.set(JSON.stringify(message.id), new Answer(response, headers, done));
  // A client that hangs up wants its request cancelled.
  response.on("close", () => done?.());
  peer.say(message);
}

const server = createServer((request, response) => {
  if (request.method === "POST") {
    post(request, response).catch((error) => {
      console.error(error);
      response.destroy();
    });
  } else if (request.method === "DELETE" && sessions.has(request.headers["mcp-session-id"])) {
    sessions.get(request.headers["mcp-session-id"]).end();
    sessions.delete(request.headers["mcp-session-id"]);
    response.writeHead(200).end();
  } else {
    response.writeHead(405, { allow: "POST, DELETE" }).end();
  }
});

server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
process.stdin.resume();
process.stdin.on("end", () => {
  for (const peer of sessions.values()) peer.end();
  server.close();
  server.closeAllConnections();
  setTimeout(() => process.exit(0), 200).unref();
});
