"""Calls one tool with the Python SDK, as a program of somebody else would.

    call_tool.py CALL COMMAND ARGUMENT...

CALL is JSON: the `tool`, its `arguments`, and the `answer` that is given to every form. Prints one JSON line: the names
of the tools, and the tool's structured result. Works with both lines of the SDK.
"""

import asyncio
import json
import sys

import mcp
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

CALL = json.loads(sys.argv[1])


async def with_session(server):
    """The first line of the SDK: a session on a pair of streams, opened by `initialize`."""
    async with (
        stdio_client(server) as (incoming, outgoing),
        ClientSession(incoming, outgoing, elicitation_callback=on_form()) as session,
    ):
        await session.initialize()
        tools = await session.list_tools()
        result = await session.call_tool(CALL["tool"], CALL["arguments"], progress_callback=on_progress)
        return tools, result.structuredContent, result.isError


async def with_client(server):
    """The second line: a client that finds out by itself what the server speaks."""
    async with mcp.Client(server, elicitation_callback=on_form()) as client:
        tools = await client.list_tools()
        result = await client.call_tool(CALL["tool"], CALL["arguments"], progress_callback=on_progress)
        return tools, result.structured_content, result.is_error


def on_form():
    """Only a client with an answer says that it can be asked."""
    if "answer" not in CALL:
        return None

    async def answer(_context, _params):
        return types.ElicitResult(action="accept", content=CALL["answer"])

    return answer


async def on_progress(_progress, _total, _message):
    """That the SDK accepts what it is told is the point."""


def main():
    server = StdioServerParameters(command=sys.argv[2], args=sys.argv[3:])
    talk = with_client if hasattr(mcp, "Client") else with_session
    tools, structured, is_error = asyncio.run(talk(server))
    print(json.dumps({"tools": [tool.name for tool in tools.tools], "result": structured, "isError": bool(is_error)}))


main()
