// Calls one tool with a TypeScript SDK, as a program of somebody else would.
//
//     node call_tool.mjs FOLDER_WITH_NODE_MODULES sdk|client COMMAND ARGUMENT...
//
// `sdk` is the first line of the SDK, `client` the second one, which finds out by itself what the server speaks.
// Prints one JSON line: the names of the tools, and the tool's structured result.

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, line, command, ...args] = process.argv.slice(2);
const installed = createRequire(pathToFileURL(join(folder, "package.json")));
const load = (name) => import(pathToFileURL(installed.resolve(name)).href);

const { Client } = line === "sdk" ? await load("@modelcontextprotocol/sdk/client/index.js") : await load("@modelcontextprotocol/client");
const { StdioClientTransport } =
  line === "sdk" ? await load("@modelcontextprotocol/sdk/client/stdio.js") : await load("@modelcontextprotocol/client/stdio");

const options = line === "sdk" ? { capabilities: {} } : { capabilities: {}, versionNegotiation: { mode: "auto" } };
const client = new Client({ name: "typescript-" + line, version: "1.0.0" }, options);
await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
const { tools } = await client.listTools();
const request = { name: "greet", arguments: { name: "Ada" } };
const progress = { onprogress: () => {} };
const result = line === "sdk" ? await client.callTool(request, undefined, progress) : await client.callTool(request, progress);
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), result: result.structuredContent, isError: Boolean(result.isError) }));
