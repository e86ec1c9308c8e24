"""A chat in the terminal that remembers: an empty line ends it, the next start goes on from there.

    python examples/terminal_chat.py ada

graphmem replies by itself. For a model of your own, replace the line that adds by three:

    messages = (await memory.context(text)).messages()
    reply = (await openai.chat.completions.create(model="...", messages=messages)).choices[0].message.content
    await memory.add(text, reply=reply)
"""

import asyncio
import os
import sys
from getpass import getpass

from graphmem import open_memory


async def main(student_id: str, password: str) -> None:
    """Talk until an empty line."""
    async with open_memory(student_id, password) as memory:
        while text := (await asyncio.to_thread(input, "> ")).strip():
            outcome = await memory.add(text)
            print(outcome.reply)
            if outcome.concern:
                print(f"(a person should look: {outcome.concern.kind.value})", file=sys.stderr)


asyncio.run(main(sys.argv[1], os.environ.get("PASSWORD") or getpass()))
