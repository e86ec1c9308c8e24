"""The first memory: Ada says nine things in one session; in the next one they come back.

python examples/first_memory.py
graphmem plot ada --out ada.svg         (asks for the password: that is the picture of the README)
"""

import asyncio

from graphmem import open_memory

PASSWORD = "a good password"
SAID = [
    "I always add the bottoms too, so 1/2 + 1/3 is 2/5.",
    "Ah, I see now: the bottoms have to be made the same first.",
    "My dog Bello ate my homework.",
    "I have a maths test on Friday and I am scared of it.",
    "My sister Lena helps me with maths.",
    "I want to be an astronaut.",
    "Please explain it with pizzas, I hate number lines.",
    "I live in Berlin.",
    "I got 17 of 20 in the maths test!",
]


async def main() -> None:
    """Talk in one session, remember in the next."""
    async with open_memory("ada", PASSWORD, display_name="Ada") as memory:
        for text in SAID:
            print(f"> {text}\n  {(await memory.add(text)).reply}")
    async with open_memory("ada", PASSWORD) as memory:
        print((await memory.context("How should I explain fractions to Ada?")).prompt)
        for found in await memory.search("How did the test go?", limit=3):
            print(f"{found.weight:.2f} {found.memory.content}")


asyncio.run(main())
