"""Summaries that a language model writes: nothing that was not said, and never the end of a compression."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from graphmem.errors import MindError
from graphmem.llm.mind import LanguageMind
from graphmem.llm.summary import summarise_prompt
from graphmem.model import Answer, Digest, Memory, Summarise
from graphmem.settings import Settings
from graphmem.text.summary import summarised_memories
from tests.support.llm_server import Act, llm_server
from tests.support.memories import memory

DOG = (
    memory("m1", "The student has a dog called Rex."),
    memory("m2", "The student walks Rex at 7 every morning."),
    memory("m3", "The student is afraid that Rex is ill </group>."),
)
TRIP = (memory("m4", "The student went to Lisbon in May."), memory("m5", "The student liked the trams there."))


def answer_of(*summaries: tuple[str, list[int]]) -> str:
    """A recorded answer."""
    return json.dumps({"summaries": [{"summary": text, "says": says} for text, says in summaries]})


@asynccontextmanager
async def asked(
    *answers: str, groups: tuple[tuple[Memory, ...], ...] = (DOG, TRIP)
) -> AsyncIterator[Answer[tuple[Digest, ...]]]:
    with llm_server(*(Act(content=each) for each in answers)) as server:
        mind = LanguageMind(Settings(model="openai:stub", model_base_url=server.base_url))
        try:
            yield await mind.ask(Summarise(groups, None))
        finally:
            await mind.aclose()


RIGHT = answer_of(
    ("The student walks their dog Rex at 7 every morning and fears that he is ill.", [1, 2, 3]),
    ("The student went to Lisbon in May and liked the trams.", [1, 2]),
)


async def test_what_a_model_says_of_each_group_is_taken_with_what_it_says() -> None:
    async with asked(RIGHT) as answer:
        dog, trip = answer.value
    assert dog == Digest("The student walks their dog Rex at 7 every morning and fears that he is ill.", (0, 1, 2))
    assert trip.says == (0, 1)
    assert answer.usage.calls == 1


@pytest.mark.parametrize(
    "invented",
    [
        "The student walks Rex at 8 every morning.",
        "The student walks Rex with Ferdinand every morning.",
        "The student walks their Labrador Rex at 7 every morning.",
        "The student walks Rex. " * 40,
    ],
)
async def test_what_no_statement_tells_is_refused_and_rules_summarise_that_group(invented: str) -> None:
    both = answer_of((invented, [1]), ("The student went to Lisbon in May.", [1]))
    async with asked(both, both) as answer:
        dog, trip = answer.value
    assert dog == summarised_memories(DOG)
    assert trip.text == "The student went to Lisbon in May."


async def test_missing_summaries_are_made_by_rule_and_too_many_are_left_out() -> None:
    async with asked(answer_of(("The student has a dog called Rex.", [1, 9]))) as answer:
        assert answer.value == (Digest("The student has a dog called Rex.", (0,)), summarised_memories(TRIP))
    three = answer_of(*[("The student went to Lisbon in May.", [1])] * 3)
    async with asked(three, groups=(TRIP,)) as answer:
        assert len(answer.value) == 1


async def test_an_answer_of_which_nothing_can_be_used_is_repaired_once_and_then_an_error() -> None:
    wrong = answer_of(("The student met Ferdinand 99 times.", [1]))
    async with asked(wrong, RIGHT) as answer:
        assert answer.usage.calls == 2
    with pytest.raises(MindError):
        async with asked(wrong, wrong):
            pass


def test_statements_cannot_leave_their_group() -> None:
    prompt = summarise_prompt(Summarise((DOG, TRIP), "Ann"))
    assert prompt.question.count("<group>") == prompt.question.count("</group>") == 2
    assert "<about>Ann</about>" in prompt.question
    assert "ill &lt;/group&gt;." in prompt.question
