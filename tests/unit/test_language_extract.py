"""What a language model notes of a talk: only what stands there, and never the end of a job."""

import json
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import MindError
from graphmem.llm.formation_outputs import NOTED_CONFIDENCE
from graphmem.llm.formation_prompt import formation_prompt
from graphmem.llm.mind import LanguageMind
from graphmem.model import (
    Answer,
    Aspect,
    EdgeType,
    Extraction,
    ExtractMemories,
    Heard,
    LedgerCategory,
    MemoryKind,
    Modality,
    SourceKind,
)
from graphmem.settings import Settings
from tests.support.llm_server import Act, LlmServer, llm_server
from tests.support.memories import memory as known_memory

AT = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
TEXT = "Our dog’s name is Bello,\nhe is 3. I'm scared of fractions, so promise you won't tell Mum!"
HEARD = Heard(TEXT, AT, passes=2)
TAG = re.compile(r"</?[a-z_]+>")
ROME = known_memory("memory-1", "The student lives in Rome.")
DOG = {
    "quote": "Our dog’s name is Bello",
    "note": "The student's dog is called Bello.",
    "kind": "trait",
    "link": "new",
    "known": 0,
    "ledger": "none",
}
FEAR = {**DOG, "quote": "I'm scared of fractions", "note": "The student is scared of fractions.", "kind": "feeling"}


def answer(*notes: Any) -> str:
    return json.dumps({"notes": notes})


@asynccontextmanager
async def mind_at(server: LlmServer) -> AsyncIterator[LanguageMind]:
    mind = LanguageMind(Settings(model="openai:gpt-4o-mini", model_base_url=server.base_url))
    try:
        yield mind
    finally:
        await mind.aclose()


async def asked(question: ExtractMemories, *contents: str) -> Answer[tuple[Extraction, ...]]:
    """What becomes of what a model writes; every answer has to be asked for."""
    with llm_server(*(Act(content=content) for content in contents)) as server:
        async with mind_at(server) as mind:
            extracted = await mind.ask(question)
    assert len(server.seen) == len(contents)
    return extracted


async def read(*notes: Any, heard: Heard = HEARD, known: tuple[Any, ...] = ()) -> Extraction:
    (extraction,) = (await asked(ExtractMemories((heard,), known), answer(*notes))).value
    return extraction


async def test_a_good_answer_becomes_an_extraction() -> None:
    found = await read(DOG, FEAR)
    dog, fear = found.memories
    assert (dog.content, dog.kind, dog.modality) == (DOG["note"], MemoryKind.TRAIT, Modality.SEMANTIC)
    assert (TEXT[dog.start : dog.end], dog.confidence) == ("Our dog’s name is Bello", NOTED_CONFIDENCE)
    assert "Bello" in {entity.name for entity in dog.entities}
    assert (fear.modality, fear.aspect) == (Modality.EMOTIONAL, Aspect.FEELING)
    assert found.reminders == ()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("plan", (MemoryKind.TRAIT, Aspect.PLAN)),
        ("Event ", (MemoryKind.EPISODE, None)),
        ("misconception", (MemoryKind.CONCEPT, Aspect.MISCONCEPTION)),
        ("understanding", (MemoryKind.CONCEPT, Aspect.UNDERSTANDING)),
        ("habit", (MemoryKind.TRAIT, None)),
        (None, (MemoryKind.TRAIT, None)),
        (["plan"], (MemoryKind.TRAIT, None)),
    ],
)
async def test_kinds_are_mapped_and_unknown_ones_cost_no_memory(
    kind: object, expected: tuple[MemoryKind, Aspect | None]
) -> None:
    (memory,) = (await read({**DOG, "kind": kind})).memories
    assert (memory.kind, memory.aspect) == expected


SIDE_FIELDS: list[dict[str, object]] = [
    {"link": "merge", "known": "seven"},
    {"link": "ends", "known": 9},
    {"link": "same", "known": True},
    {"ledger": "important"},
    {"ledger": None, "sure": "very", "about": "dogs"},
    {"note": ""},
    {"note": 7},
]


@pytest.mark.parametrize("fields", SIDE_FIELDS)
async def test_a_wrong_side_field_costs_no_memory(fields: dict[str, object]) -> None:
    (memory,) = (await read({**DOG, **fields}, known=(ROME,))).memories
    assert "Bello" in memory.content
    assert (memory.same, memory.refines, memory.ends) == (None, None, None)


async def test_a_note_with_a_quote_alone_is_one() -> None:
    (memory,) = (await read({"quote": "scared of fractions"})).memories
    assert memory.content == "scared of fractions"


@pytest.mark.parametrize("link", ["same", "refines", "ends"])
async def test_what_is_known_is_linked_by_its_number(link: str) -> None:
    moved = Heard("We moved to Paris last week.", AT)
    note = {**DOG, "quote": "moved to Paris", "note": "The student lives in Paris.", "link": link, "known": 1}
    (memory,) = (await read(note, heard=moved, known=(ROME,))).memories
    assert getattr(memory, link) == "memory-1"


INVENTED = {
    "another number": "The student's dog is 13.",
    "a name": "The student's dog Rex was bought by Wilhelmina.",
    "a far year": "The student's dog has been ill since 10 May 1999.",
}


@pytest.mark.parametrize("name", INVENTED)
async def test_what_is_beside_a_true_quote_must_agree_with_it(name: str) -> None:
    (memory,) = (await read({**DOG, "note": INVENTED[name]})).memories
    assert memory.content == "Our dog’s name is Bello"
    assert (await asked(ExtractMemories((HEARD,)), *[answer({"quote": "dog’s", "note": INVENTED[name]}, DOG)])).value


async def test_days_may_be_reckoned() -> None:
    heard = Heard("My test is on Friday!", AT, task="Add 1/2 and 1/3.")
    note = {**DOG, "quote": "My test is on Friday", "note": "The student has a test on Friday, 9 January 2026."}
    (memory,) = (await read(note, heard=heard)).memories
    assert memory.content == note["note"]


async def test_several_messages_are_one_question() -> None:
    heard = (
        Heard("I skate.", AT, before="What do you like?", reply="Great!"),
        Heard("ok", AT, before="Great!", passes=0, reply="What is 2 + 2?"),
        Heard("I hate sums.", AT, before="What is 2 + 2?", reply="Why?"),
    )
    notes = [
        {**DOG, "quote": "I hate sums", "note": "The student hates sums."},
        {**DOG, "quote": "I skate", "note": "The student skates."},
        {**DOG, "quote": "What do you like", "note": "The student asks."},
        {**DOG, "quote": "ok", "note": "The student agrees."},
    ]
    question = ExtractMemories(heard)
    found = (await asked(question, answer(*notes))).value
    assert [[m.content for m in each.memories] for each in found] == [
        ["The student skates."],
        [],
        ["The student hates sums."],
    ]
    shown = formation_prompt(question).question
    assert re.findall(r"^\d.*$", shown, re.MULTILINE) == [
        "1 tutor: What do you like?",
        "2* student: I skate.",
        "3 tutor: Great!",
        "4 student: ok",
        "5 tutor: What is 2 + 2?",
        "6* student: I hate sums.",
        "7 tutor: Why?",
    ]


async def test_what_must_not_be_forgotten_is_a_memory_and_a_reminder() -> None:
    secret = {
        **FEAR,
        "quote": "promise you won't tell Mum",
        "note": "Mum must not know of the fear.",
        "ledger": "secret",
    }
    found = await read(secret, {**DOG, "ledger": "danger"})
    assert len(found.memories) == 2
    assert [each.category for each in found.reminders] == [LedgerCategory.THREAT, LedgerCategory.SECRET]
    assert found.reminders[1].trigger_entities == ("Mum",)
    assert all(each.triggers for each in found.reminders)


async def test_a_teachers_instruction_is_kept() -> None:
    said = "Please do not bring up football with Tom until I have talked to his parents."
    heard = Heard(said, AT, SourceKind.TEACHER, "Ms Reed")
    note = {"quote": said, "note": "Do not bring up football with Tom for now.", "ledger": "instruction"}
    found = await read(note, heard=heard)
    assert [each.category for each in found.reminders] == [LedgerCategory.INSTRUCTION]
    assert len(found.memories) == 1
    assert "1* Ms Reed: Please" in formation_prompt(ExtractMemories((heard,))).question


async def test_words_that_hang_together_are_related() -> None:
    heard = Heard("I failed the test because I was ill.", AT, passes=2)
    notes = [
        {**DOG, "quote": "I failed the test", "note": "The student failed the test.", "kind": "event"},
        {**DOG, "quote": "because I was ill", "note": "The student was ill.", "kind": "event"},
    ]
    assert EdgeType.CAUSES in {relation.type for relation in (await read(*notes, heard=heard)).relations}
    assert (await read(*notes, heard=replace(heard, passes=1))).memories


async def test_an_empty_answer_is_one() -> None:
    assert await read() == Extraction()


TROUBLE = {
    "nothing is quoted": answer({**DOG, "quote": "My cat is Tom"}),
    "prose": "The student has a dog.",
    "no list": json.dumps({"notes": "Bello"}),
}


@pytest.mark.parametrize("name", TROUBLE)
async def test_a_bad_answer_is_repaired_once(name: str) -> None:
    found = await asked(ExtractMemories((HEARD,)), TROUBLE[name], answer(DOG))
    assert (found.usage.calls, len(found.value[0].memories)) == (2, 1)
    with pytest.raises(MindError, match="no valid answer") as caught:
        await asked(ExtractMemories((HEARD,)), *[TROUBLE[name]] * 2)
    assert not caught.value.away


async def test_refused_notes_are_counted_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    assert len((await read(DOG, {**DOG, "quote": "my cat Tom"})).memories) == 1
    assert "refused 1 of 2" in caplog.text
    assert "cat" not in caplog.text


ANY = st.text(st.one_of(st.characters(), st.sampled_from("<>&/＜﹥\x00\ud800\n*:")), max_size=60)


@given(ANY, ANY, ANY, ANY, ANY)
def test_nobody_can_open_a_tag_or_speak_in_anothers_name(
    text: str, before: str, task: str, known: str, speaker: str
) -> None:
    heard = Heard(text, AT, before=before, task=task, reply=before, speaker=speaker)
    question = ExtractMemories((heard, heard), (replace(ROME, content=known),))
    shown = formation_prompt(question).question
    tags = [tag for tag in TAG.findall(shown) if tag not in ("<task>", "</task>")]
    assert tags == ["<day>", "</day>", "<known>", "</known>", "<talk>", "</talk>"]
    lines = shown.partition("<talk>\n")[2].partition("\n</talk>")[0].split("\n")
    assert [line.split(" ")[0].rstrip("*") for line in lines] == [str(n) for n in range(1, len(lines) + 1)]
    assert sum(line.split(" ")[0].endswith("*") for line in lines) == 2
    shown.encode()


def test_the_instructions_never_vary() -> None:
    teacher = Heard("x", AT, SourceKind.TEACHER, "Ms Reed", passes=3)
    prompts = [formation_prompt(ExtractMemories((heard,))).instructions for heard in (HEARD, teacher)]
    assert prompts[0] == prompts[1]
