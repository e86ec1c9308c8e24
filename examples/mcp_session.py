"""A session with `graphmem mcp`, by the client of the official SDK.

graphmem serve
export GRAPHMEM_MCP_TOKEN=$(graphmem token --role app) GRAPHMEM_MCP_PASSWORD="a good password"
python examples/mcp_session.py ada      (enrolled before: graphmem enrol ada)
"""

import asyncio
import os
import sys

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters


async def main(student_id: str) -> None:
    """List the tools, remember a message, and read what is remembered."""
    # The SDK passes no environment on by itself.
    env = {name: value for name, value in os.environ.items() if name.startswith("GRAPHMEM_MCP_")}
    server = StdioServerParameters(command=sys.executable, args=["-m", "graphmem", "mcp", student_id], env=env)
    async with Client(server) as client:
        print("tools:", [tool.name for tool in (await client.list_tools()).tools])
        said = {"text": "My dog Bello ate my homework.", "reply": "Oh no! Let us do it again."}
        print("remember:", (await client.call_tool("remember", said)).structured_content)
        asked = {"question": "What is my dog called?"}
        print("context:", (await client.call_tool("context", asked)).structured_content)


asyncio.run(main(sys.argv[1]))
