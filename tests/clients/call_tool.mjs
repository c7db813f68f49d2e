// Calls one tool with a TypeScript SDK, as a program of somebody else would.
//
//     node call_tool.mjs FOLDER_WITH_NODE_MODULES sdk|client CALL COMMAND ARGUMENT...
//
// `sdk` is the first line of the SDK, `client` the second one, which finds out by itself what the server speaks. CALL is
// JSON: the `tool`, its `arguments`, the `answer` that is given to every form, and whether to `abort` as soon as the tool
// tells of progress. Prints one JSON line: the names of the tools, and the tool's structured result.

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, line, call, command, ...args] = process.argv.slice(2);
const { tool, arguments: parameters, answer, abort } = JSON.parse(call);
const installed = createRequire(pathToFileURL(join(folder, "package.json")));
const load = (name) => import(pathToFileURL(installed.resolve(name)).href);
const first = line === "sdk";

const { Client } = await load(first ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client");
const { StdioClientTransport } = await load(first ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio");

// Only a client with an answer says that it can be asked.
const capabilities = answer === undefined ? {} : { elicitation: {} };
const options = first ? { capabilities } : { capabilities, versionNegotiation: { mode: "auto" } };
const client = new Client({ name: "typescript-" + line, version: "1.0.0" }, options);
if (answer !== undefined) {
  const asked = first ? (await load("@modelcontextprotocol/sdk/types.js")).ElicitRequestSchema : "elicitation/create";
  client.setRequestHandler(asked, async () => ({ action: "accept", content: answer }));
}
await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
const { tools } = await client.listTools();
const request = { name: tool, arguments: parameters };
const control = new AbortController();
const how = { signal: control.signal, onprogress: () => abort && control.abort("enough") };
let result;
try {
  result = first ? await client.callTool(request, undefined, how) : await client.callTool(request, how);
} catch (error) {
  if (!abort) throw error;
  result = { structuredContent: { aborted: true } };
}
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), result: result.structuredContent, isError: Boolean(result.isError) }));
