"""One student's memory in four lines."""

import asyncio

import pytest

from graphmem import open_memory
from graphmem.app import Graphmem
from graphmem.errors import InvalidInput, Locked
from graphmem.flows.students import find_student
from graphmem.model import Who

PASSWORD = "a good password"


async def test_a_student_is_enrolled_and_what_was_added_comes_back_in_a_later_session(
    gm: Graphmem, institution: str
) -> None:
    async with open_memory("ada", PASSWORD, institution=institution, gm=gm) as memory:
        outcome = await memory.add("I have a dog named Bello.", reply="A dog, lovely!")
        assert outcome.reply == "A dog, lovely!"
        assert (await memory.add("He is brown.")).reply
        now = (await memory.context("What is my dog called?")).messages()
    said = [each["role"] for each in now if each["role"] != "system"]
    assert said == ["user", "assistant", "user", "assistant", "user"]
    assert now[0] == {"role": "user", "content": "I have a dog named Bello."}
    assert now[-1] == {"role": "user", "content": "What is my dog called?"}

    async with open_memory("ada", PASSWORD, institution=institution, gm=gm) as memory:
        context = await memory.context("What is my dog called?")
        system, question = context.messages()
        assert system == {"role": "system", "content": context.prompt}
        assert "Bello" in context.prompt
        assert question["role"] == "user"
        found = await memory.search("the dog", limit=1)
        assert "Bello" in (found[0].memory.content or "")


async def test_the_history_of_the_messages_can_be_left_out(gm: Graphmem, institution: str) -> None:
    async with open_memory("ada", PASSWORD, institution=institution, gm=gm) as memory:
        await memory.add("I have a dog named Bello.")
        messages = (await memory.context("What is my dog called?", history=0)).messages()
    assert {each["role"] for each in messages[:-1]} == {"system"}


async def test_the_same_turn_id_adds_a_message_once(gm: Graphmem, institution: str) -> None:
    async with open_memory("ada", PASSWORD, institution=institution, gm=gm) as memory:
        first = await memory.add("I have a dog named Bello.", turn_id="one")
        again = await memory.add("I have a dog named Bello.", turn_id="one")
    assert (again.repeated, again.seq, again.reply) == (True, first.seq, first.reply)


async def test_a_wrong_password_opens_nothing_and_one_too_short_enrols_nobody(gm: Graphmem, institution: str) -> None:
    async with open_memory("ada", PASSWORD, institution=institution, gm=gm):
        pass
    with pytest.raises(Locked, match="The password is wrong"):
        async with open_memory("ada", "another password", institution=institution, gm=gm):
            pass
    with pytest.raises(InvalidInput, match="password"):
        async with open_memory("bob", "short", institution=institution, gm=gm):
            pass
    assert await find_student(gm, Who(institution, "bob")) is None


async def test_two_that_open_a_new_student_at_once_open_the_same(gm: Graphmem, institution: str) -> None:
    async def added(text: str) -> int:
        async with open_memory("ada", PASSWORD, institution=institution, gm=gm) as memory:
            return (await memory.add(text)).seq

    assert {*await asyncio.gather(added("I like maths."), added("I like chess."))} == {1, 2}
