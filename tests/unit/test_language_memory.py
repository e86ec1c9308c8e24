"""What a language model notes of a talk: stored as written where it stands there, and never the end of a job."""

import json
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import MindError
from graphmem.llm.memory import NOTED_CONFIDENCE, memory_prompt
from graphmem.llm.mind import LanguageMind
from graphmem.metrics import model_notes
from graphmem.model import (
    Answer,
    Aspect,
    EdgeType,
    Effect,
    Entity,
    EntityKind,
    Heard,
    KnownItem,
    LedgerCategory,
    Link,
    MemoryKind,
    Mismatch,
    Modality,
    Note,
    NotePlace,
    Notes,
    Remember,
    Scope,
    SourceKind,
)
from graphmem.settings import Settings
from tests.support.llm_server import Act, LlmServer, llm_server

FEBRUARY = datetime(2026, 2, 2, tzinfo=UTC)
AT = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
TEXT = "Our dog’s name is Bello,\nhe is 3. I'm scared of fractions, so promise you won't tell Mum!"
HEARD = Heard(TEXT, AT, passes=2, student="Nia")
TAG = re.compile(r"</?[a-z_]+>")
ROME = KnownItem("memory-1", "The student lives in Rome.", AT)
PROMISE = KnownItem("ledger-1", "The student promised to bring the key.", AT, "promise")
DOG = {
    "quote": "Our dog’s name is Bello",
    "statement": "The student's dog is called Bello.",
    "about": "student",
    "kind": "trait",
    "ledger": "none",
    "importance": 0.5,
    "links": [],
}
FEAR = {
    **DOG,
    "quote": "I'm scared of fractions",
    "statement": "The student is scared of fractions.",
    "kind": "feeling",
}


def answer(*notes: Any, **more: object) -> str:
    return json.dumps({"notes": notes, "learned": "", "question": "", "teach": ""} | more)


@asynccontextmanager
async def mind_at(server: LlmServer) -> AsyncIterator[LanguageMind]:
    mind = LanguageMind(Settings(model="openai:gpt-4o-mini", model_base_url=server.base_url))
    try:
        yield mind
    finally:
        await mind.aclose()


async def asked(question: Remember, *contents: str) -> Answer[Notes]:
    """What becomes of what a model writes; every answer has to be asked for."""
    with llm_server(*(Act(content=content) for content in contents)) as server:
        async with mind_at(server) as mind:
            found = await mind.ask(question)
    assert len(server.seen) == len(contents)
    return found


async def read(*notes: Any, heard: Heard = HEARD, known: tuple[KnownItem, ...] = ()) -> tuple[Note, ...]:
    (found,) = (await asked(Remember((heard,), known), answer(*notes))).value.of
    return found


async def test_a_good_answer_becomes_notes_as_they_are_written() -> None:
    dog, fear = await read(DOG, {**FEAR, "importance": "90 %"})
    assert (dog.statement, dog.kind, dog.modality) == (DOG["statement"], MemoryKind.TRAIT, Modality.SEMANTIC)
    assert (TEXT[dog.start : dog.end], dog.confidence) == ("Our dog’s name is Bello", NOTED_CONFIDENCE)
    assert "Bello" in {entity.name for entity in dog.entities}
    assert (fear.modality, fear.aspect, fear.importance) == (Modality.EMOTIONAL, Aspect.FEELING, 0.9)
    assert (dog.ledger, dog.links) == (None, ())


KINDS: list[tuple[object, MemoryKind, Aspect | None]] = [
    ("plan", MemoryKind.TRAIT, Aspect.PLAN),
    ("Event ", MemoryKind.EPISODE, None),
    ("misconception", MemoryKind.CONCEPT, Aspect.MISCONCEPTION),
    ("understanding", MemoryKind.CONCEPT, Aspect.UNDERSTANDING),
    ("habit", MemoryKind.TRAIT, None),
    (None, MemoryKind.TRAIT, None),
    (["plan"], MemoryKind.TRAIT, None),
]


@pytest.mark.parametrize(("kind", "expected", "aspect"), KINDS)
async def test_kinds_are_mapped_and_unknown_ones_cost_no_note(
    kind: object, expected: MemoryKind, aspect: Aspect | None
) -> None:
    (note,) = await read({**DOG, "kind": kind})
    assert (note.kind, note.aspect) == (expected, aspect)


SIDE_FIELDS: list[dict[str, object]] = [
    {"links": "merge seven"},
    {"links": ["ends 9", "ends n4", "eats 1", None, 3]},
    {"links": {"same": True}},
    {"ledger": "important"},
    {"ledger": None, "sure": "very", "about": ["dogs"]},
    {"statement": ""},
    {"statement": 7},
    {"importance": "very"},
]


@pytest.mark.parametrize("fields", SIDE_FIELDS)
async def test_a_wrong_side_field_costs_no_note(fields: dict[str, object]) -> None:
    (note,) = await read({**DOG, **fields}, known=(ROME,))
    assert TEXT[note.start : note.end] == "Our dog’s name is Bello"
    assert (note.links, note.ledger) == ((), None)


async def test_a_note_with_a_quote_alone_is_one() -> None:
    (note,) = await read({"quote": "scared of fractions"})
    assert (note.statement, TEXT[note.start : note.end]) == (None, "scared of fractions")


LINKS: list[tuple[object, tuple[Link, ...]]] = [
    (["same 1"], (Link(Effect.SAME, "memory-1"),)),
    (["Refines: 1"], (Link(Effect.REFINES, "memory-1"),)),
    (["ends 1", "settles 2", "ends 1"], (Link(Effect.ENDS, "memory-1"), Link(Effect.SETTLES, "ledger-1"))),
    ("contradicts 1, causes 2", (Link(Effect.CONTRADICTS, "memory-1"), Link(EdgeType.CAUSES, "ledger-1"))),
    ([{"kind": "ends", "n": "n1"}], (Link(Effect.ENDS, note=NotePlace(0, 0)),)),
    (["causes n1"], (Link(EdgeType.CAUSES, note=NotePlace(0, 0)),)),
]


@pytest.mark.parametrize(("links", "expected"), LINKS)
async def test_links_reach_what_is_known_and_notes_of_the_same_answer(
    links: object, expected: tuple[Link, ...]
) -> None:
    heard = Heard("I wanted to leave. We moved to Paris last week.", AT)
    left = {**DOG, "quote": "I wanted to leave", "statement": "The student wanted to leave."}
    moved = {**DOG, "quote": "moved to Paris", "statement": "The student lives in Paris.", "links": links}
    _, note = await read(left, moved, heard=heard, known=(ROME, PROMISE))
    assert note.links == expected


async def test_links_reach_notes_of_earlier_messages_and_numbers_count_refused_ones() -> None:
    heard = (Heard("I skate.", AT), Heard("I no longer skate.", AT))
    notes = [
        {**DOG, "quote": "my cat Tom"},
        {**DOG, "quote": "I skate", "statement": "The student skates."},
        {**DOG, "quote": "I no longer skate", "statement": "The student skates no longer.", "links": ["ends n2"]},
    ]
    _, (last,) = (await asked(Remember(heard), answer(*notes))).value.of
    assert last.links == (Link(Effect.ENDS, note=NotePlace(0, 0)),)


STANDS = {
    "the student's own name": "Nia's dog is called Bello.",
    "a reckoned day": "The student has had Bello since Friday, 9 January 2026.",
    "a season with a year": "The student got Bello in spring 2025.",
    "a month with a year": "The student got Bello in March 2025.",
    "an ISO date": "The student got Bello on 2026-01-03.",
    "a number in words": "The student's dog Bello is three.",
    "a number of the talk": "The student's dog Bello is 3.",
    "no word of the talk": "There is an animal at home.",
}
INVENTED = {
    "another number": "The student's dog is 13.",
    "a name": "The student's dog Rex was bought by Wilhelmina.",
    "a name with a word for its initials": "The student's dog was bought by Ingrid Schmidt.",
    "a far year": "The student's dog has been ill since 10 May 1999.",
}


@pytest.mark.parametrize("name", STANDS)
async def test_what_agrees_with_the_talk_is_stored_as_written(name: str) -> None:
    (note,) = await read({**DOG, "statement": STANDS[name]})
    assert note.statement == STANDS[name]


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ("i got 14/20 in french", "The student got 14 of 20 points in French."),
        ("my grandad died in spring, biscuit was his dog", "The student's grandfather died in spring 2026."),
        ("we won 3:1", "The student's team won 3 to 1."),
        ("essay on ww1 due", "The student writes an essay on World War 1."),
        ("my aunt is from the USA", "The student's aunt is from the United States."),
    ],
)
async def test_numbers_may_be_put_in_other_words(said: str, statement: str) -> None:
    (note,) = await read({**DOG, "quote": said, "statement": statement}, heard=Heard(said, AT))
    assert note.statement == statement


@pytest.mark.parametrize("name", INVENTED)
async def test_an_invented_statement_gives_way_to_its_quote(name: str) -> None:
    (note,) = await read({**DOG, "statement": INVENTED[name]})
    assert (note.statement, TEXT[note.start : note.end]) == (None, "Our dog’s name is Bello")
    only_word = answer({**DOG, "quote": "dog’s", "statement": INVENTED[name]}, DOG)
    assert len((await asked(Remember((HEARD,)), only_word)).value.of[0]) == 1


LEDGER = [
    ("secret", LedgerCategory.SECRET, Scope.OTHER),
    ("Promise", LedgerCategory.PROMISE, Scope.OTHER),
    ("style", LedgerCategory.INSTRUCTION, Scope.STYLE),
    ("pace", LedgerCategory.INSTRUCTION, Scope.PACE),
    ("content", LedgerCategory.INSTRUCTION, Scope.CONTENT),
    ("name", LedgerCategory.INSTRUCTION, Scope.NAME),
    ("rule", LedgerCategory.INSTRUCTION, Scope.OTHER),
    ("instruction", LedgerCategory.INSTRUCTION, Scope.OTHER),
    ("threat", None, Scope.OTHER),
    ("none", None, Scope.OTHER),
]


@pytest.mark.parametrize(("word", "category", "scope"), LEDGER)
async def test_the_ledger_and_the_matter_of_an_instruction(
    word: str, category: LedgerCategory | None, scope: Scope
) -> None:
    (note,) = await read({**FEAR, "ledger": word})
    assert (note.ledger, note.scope) == (category, scope)
    assert note.triggers


@pytest.mark.parametrize(
    ("links", "since", "until", "due"),
    [
        (["from 2026-02-01"], datetime(2026, 2, 1, tzinfo=UTC), None, None),
        (["until 2026-03"], None, datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)),
        (
            ["due 2026-01-09", "until 2026-02-01"],
            None,
            datetime(2026, 2, 2, tzinfo=UTC),
            datetime(2026, 1, 10, tzinfo=UTC),
        ),
        (["due 2025-01-09", "from 2026-13-40", "until soon"], None, None, None),
    ],
)
async def test_dates_say_since_and_until_when_it_holds(
    links: list[str], since: datetime | None, until: datetime | None, due: datetime | None
) -> None:
    (note,) = await read({**DOG, "ledger": "fact", "links": links})
    assert (note.valid_at, note.invalid_at, note.due) == (since, until, due)


@pytest.mark.parametrize(
    ("kind", "ledger", "ends", "expires"),
    [
        ("plan", "fact", True, True),
        ("plan", "none", True, False),
        ("event", "fact", False, True),
        ("plan", "promise", False, False),
        ("plan", "debt", False, False),
    ],
)
async def test_a_plan_is_over_when_it_was_due_and_a_promise_is_not(
    kind: str, ledger: str, ends: bool, expires: bool
) -> None:
    (note,) = await read({**DOG, "kind": kind, "ledger": ledger, "links": ["due 2026-01-09"]})
    over = datetime(2026, 1, 10, tzinfo=UTC)
    assert (note.invalid_at, note.due) == (over if ends else None, over if expires else None)


async def test_whom_it_is_about_is_a_person_and_never_the_student() -> None:
    (lena,) = await read({**DOG, "statement": "Mum must not know.", "about": "Mum"})
    (own,) = await read({**DOG, "about": "Nia"})
    assert Entity("Mum", EntityKind.PERSON) in lena.entities
    assert "Nia" not in {entity.name for entity in own.entities}


async def test_several_messages_are_one_question_and_every_one_is_read() -> None:
    heard = (
        Heard("I skate.", AT, before="What do you like?", reply="Great!"),
        Heard("nah i love it im just mad", AT, before="Great!", passes=0, reply="What is 2 + 2?"),
        Heard("I hate sums.", AT, before="What is 2 + 2?", reply="Why?", violated=Mismatch("4", "I hate sums.")),
    )
    notes = [
        {**DOG, "quote": "I hate sums", "statement": "The student hates sums."},
        {**DOG, "quote": "I skate", "statement": "The student skates."},
        {**DOG, "quote": "What do you like", "statement": "The student asks."},
        {**DOG, "quote": "i love it im just mad", "statement": "The student loves it."},
    ]
    question = Remember(heard, (ROME, PROMISE), ("How is Bello?",))
    written = answer(*notes, learned="The student hates sums.", question="Why sums?", teach="Draw it.")
    found = (await asked(question, written)).value
    statements = [[note.statement for note in each] for each in found.of]
    assert statements == [["The student skates."], ["The student loves it."], ["The student hates sums."]]
    assert found.linked
    assert [(place, lesson.text) for place, lesson in found.learned] == [(2, "The student hates sums.")]
    assert (found.question, found.teach) == ("Why sums?", "Draw it.")
    shown = memory_prompt(question).question
    assert re.findall(r"^\d.*$", shown, re.MULTILINE) == [
        "1 (2026-01-05) The student lives in Rome.",
        "2 (2026-01-05, promise) The student promised to bring the key.",
        "1 tutor: What do you like?",
        "2* student: I skate.",
        "3 tutor: Great!",
        "4* student: nah i love it im just mad",
        "5 tutor: What is 2 + 2?",
        "6* student: I hate sums. (unexpected; foreseen: 4)",
        "7 tutor: Why?",
    ]


async def test_nothing_is_learned_where_nothing_was_unexpected() -> None:
    assert (await asked(Remember((HEARD,)), answer(DOG, learned="The student has a dog."))).value.learned == ()


async def test_a_teachers_line_bears_the_name() -> None:
    said = "Please do not bring up football with Tom until I have talked to his parents."
    heard = Heard(said, AT, SourceKind.TEACHER, "Ms Reed")
    note = {"quote": said, "statement": "Do not bring up football with Tom for now.", "ledger": "content"}
    (found,) = await read(note, heard=heard)
    assert found.ledger is LedgerCategory.INSTRUCTION
    assert "1* Ms Reed: Please" in memory_prompt(Remember((heard,))).question


async def test_an_empty_answer_is_one() -> None:
    assert await read() == ()


TROUBLE = {
    "nothing is quoted": answer({**DOG, "quote": "My cat is Tom"}),
    "prose": "The student has a dog.",
    "no notes": json.dumps({"learned": ""}),
}


@pytest.mark.parametrize("name", TROUBLE)
async def test_a_bad_answer_is_repaired_once(name: str) -> None:
    found = await asked(Remember((HEARD,)), TROUBLE[name], answer(DOG))
    assert (found.usage.calls, len(found.value.of[0])) == (2, 1)
    with pytest.raises(MindError, match="no valid answer") as caught:
        await asked(Remember((HEARD,)), *[TROUBLE[name]] * 2)
    assert not caught.value.away


async def test_what_was_refused_or_replaced_is_counted_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    def counts() -> list[float]:
        return [model_notes.labels(result)._value.get() for result in ("stored", "replaced", "refused")]

    caplog.set_level(logging.INFO)
    before = counts()
    await read(DOG, {**DOG, "quote": "my cat Tom"}, {**FEAR, "statement": "Wilhelmina is scared."})
    assert [now - then for now, then in zip(counts(), before, strict=True)] == [1, 1, 1]
    assert "of 3 notes 1 were refused, of 1 the quote was kept" in caplog.text
    assert "cat" not in caplog.text
    assert "Wilhelmina" not in caplog.text


ANY = st.text(st.one_of(st.characters(), st.sampled_from("<>&/＜﹥\x00\ud800\n*:")), max_size=60)


@given(ANY, ANY, ANY, ANY, ANY)
def test_nobody_can_open_a_tag_or_speak_in_anothers_name(
    text: str, before: str, task: str, known: str, speaker: str
) -> None:
    heard = Heard(text, AT, before=before, task=task, reply=before, speaker=speaker, violated=Mismatch(known, text))
    question = Remember((heard, heard), (KnownItem("m", known, AT),), (known,))
    shown = memory_prompt(question).question
    tags = [tag for tag in TAG.findall(shown) if tag not in ("<task>", "</task>")]
    assert tags == ["<known>", "</known>", "<asked>", "</asked>", "<talk>", "<day>", "</day>", "</talk>"]
    lines = [line for line in shown.partition("<talk>\n")[2].split("\n")[:-1] if not line.startswith("<day>")]
    assert [line.split(" ")[0].rstrip("*") for line in lines] == [str(n) for n in range(1, len(lines) + 1)]
    assert sum(line.split(" ")[0].endswith("*") for line in lines) == 2
    shown.encode()


def test_the_instructions_never_vary() -> None:
    teacher = Heard("x", AT, SourceKind.TEACHER, "Ms Reed", passes=3)
    prompts = [memory_prompt(Remember((heard,))).instructions for heard in (HEARD, teacher)]
    assert prompts[0] == prompts[1]
