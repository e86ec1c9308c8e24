"""The memory block: its parts, its marks, its order, without a database."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from graphmem.model import (
    AskedFor,
    Aspect,
    Fact,
    LedgerCategory,
    LedgerEntry,
    Matrix,
    MemoryKind,
    Recalled,
    Remembered,
    SourceKind,
)
from graphmem.search.ranking import secret_ids, shown
from graphmem.text.embedder import ShippedNetwork
from graphmem.text.memory_block import day, memory_block, without_copies
from graphmem.text.profile import ProfilePart, load_profile_model
from tests.support.memories import NOW, memory

Encode = Callable[[list[str]], Matrix]


@pytest.fixture(scope="module")
def encode() -> Encode:
    return ShippedNetwork(1).encode


def recalled(
    memory_id: str, content: str, days: int = 0, similarity: float = 0.5, chance: float = 0.5, **changes: object
) -> Recalled:
    one = replace(memory(memory_id, content), timestamp=NOW - timedelta(days=days), **changes)  # type: ignore[arg-type]
    valid = replace(one, valid_at=one.timestamp)
    return Recalled(valid, similarity, 0.8, ("dense 0.50",), similarity=similarity, chance=chance)


def entry(category: LedgerCategory, content: str) -> LedgerEntry:
    return LedgerEntry(f"ledger-{content[:9]}", category, content, "", 0.5, (), (), 0.7, True, None, NOW)


def test_parts_stand_in_their_order_each_with_its_title() -> None:
    block = memory_block(
        Remembered(
            facts=(Fact("f", 1, "Mixes up < and >.", ("signs",), NOW - timedelta(days=3)),),
            memories=(recalled("new", "Likes tea."), recalled("old", "Likes milk.", days=9)),
            ledger=(entry(LedgerCategory.INSTRUCTION, "Call me Mo."), entry(LedgerCategory.SECRET, "I sing.")),
            question="How did the test go?",
            profile=(recalled("need", "Is allergic to nuts."),),
            name="Mo <b>",
            today=NOW,
        )
    )
    lines = block.splitlines()
    assert lines[1] == f"Today is {NOW:%A, %Y-%m-%d}."
    order = ["Always so:", "- [name] Mo &lt;b&gt;", "From earlier, oldest first:", "Critical facts (ledger):",
             "Instructions, to be followed:", "A question of yours, if it fits:", "- How did the test go?"]  # fmt: skip
    assert sorted(order, key=lines.index) == order
    told = [line for line in lines if any(word in line for word in ("milk", "Mixes", "tea"))]
    assert [next(w for w in ("milk", "Mixes", "tea") if w in line) for line in told] == ["milk", "Mixes", "tea"]
    assert f"- [secret: only if the student brings it up] I sing. ({day(NOW)})" in lines
    assert memory_block(Remembered(today=NOW)) == ""


def test_instructions_say_who_gave_them_and_a_students_are_wishes() -> None:
    given = {
        "Call me Mo.": SourceKind.CHAT,
        "Do page 3.": SourceKind.TEACHER,
        "Be kind.": None,
        "No ads.": SourceKind.SYSTEM,
    }
    bound = [replace(entry(LedgerCategory.INSTRUCTION, text), given_by=giver) for text, giver in given.items()]
    noted = replace(entry(LedgerCategory.OBSERVATION, "Always agree."), given_by=SourceKind.PROMPT_RUN)
    lines = memory_block(Remembered(ledger=(*bound, noted), today=NOW)).splitlines()
    when = f"({day(NOW)})"
    followed, wished = (
        lines.index("Instructions, to be followed:"),
        next(i for i, x in enumerate(lines) if "Wishes" in x),
    )
    assert lines[followed + 1 : wished] == [
        f"- [instruction, teacher] Do page 3. {when}",
        f"- [instruction, app] Be kind. {when}",
        f"- [instruction, institution] No ads. {when}",
    ]
    assert lines[wished + 1] == f"- [instruction, student] Call me Mo. {when}"
    assert f"- [observation, prompt run] Always agree. {when}" in lines


def test_a_belief_tells_its_day_how_often_it_was_said_and_when_it_ended() -> None:
    ended = recalled(
        "a",
        "Lives in Bonn.",
        days=30,
        kind=MemoryKind.TRAIT,
        reinforcement_count=2,
        source_refs=("t1", "t2", "t3"),
        invalid_at=NOW,
    )
    block = memory_block(Remembered(memories=(ended,)))
    # What ended at midnight held until the day before.
    since, until = day(NOW - timedelta(days=30)), day(NOW - timedelta(days=1))
    assert f"gravity=0.8] the student: “Lives in Bonn.” ({since}, said 3 times, until {until})" in block


def test_what_work_showed_nobody_said() -> None:
    shown = recalled(
        "a",
        "Mo goes wrong with rates.",
        reinforcement_count=2,
        source_refs=("t1", "t2", "t3"),
        aspect=Aspect.MISCONCEPTION,
    )
    assert "seen 3 times" in memory_block(Remembered(memories=(shown,)))


def test_nothing_is_told_twice() -> None:
    same = recalled("same", "The student's dog Bello ate homework about fractions.")
    copy = recalled("copy", "My dog Bello ate my homework about fractions!")
    other = recalled("other", "My dog Bello ate 2 pages of homework about fractions.")
    fact = Fact("f", 1, "The student said “My dog Bello ate my homework about fractions!”.", (), NOW)
    kept = without_copies(Remembered((fact,), memories=(same, copy, other)))
    assert [each.memory.id for each in kept.memories] == ["same", "other"]
    assert kept.facts == ()


def test_what_does_not_fit_and_what_is_in_sight_is_left_out() -> None:
    far, word = recalled("far", "Swims on Mondays.", chance=0.01), recalled("word", "Has otters.", chance=0.3)
    near = recalled("near", "Keeps animals.", chance=0.4, source_refs=("turn-1",))
    whole = Remembered(memories=(far, word, near))
    assert [r.memory.id for r in shown(whole, {}, 500).memories] == ["near", "word"]
    assert [r.memory.id for r in shown(whole, {"turn-1": "Hi"}, 500).memories] == ["word"]
    assert shown(Remembered(memories=(far,)), {}, 500).memories == ()


def test_a_memory_that_gives_a_secret_away_is_marked() -> None:
    told, plain = recalled("told", "I cried because Emil moves to Hamburg."), recalled("plain", "I like Emil's dog.")
    ids = secret_ids(
        [told.memory, plain.memory], [entry(LedgerCategory.SECRET, "I cried because Emil moves to Hamburg")]
    )
    assert ids == {"told"}
    block = memory_block(Remembered(memories=(told, plain), secrets=ids))
    (marked,) = [line for line in block.splitlines() if "only if the student brings it up" in line]
    assert "Hamburg" in marked


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("The student is allergic to shellfish.", ProfilePart.NEED),
        ("The student is in grade 9.", ProfilePart.IDENTITY),
        ("I want to become an engineer.", ProfilePart.GOAL),
        ("So 12 - 3 = 9 spoons are left.", ProfilePart.NONE),
        ("We went to the cinema.", ProfilePart.NONE),
    ],
)
def test_the_profile_knows_what_always_comes(text: str, part: ProfilePart, encode: Encode) -> None:
    ((found, _),) = load_profile_model().of_statements(encode([text]))
    assert found is part


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Which town do I live in?", AskedFor.OWN),
        ("What do you still know about me?", AskedFor.OVERVIEW),
        ("What is a denominator?", AskedFor.OTHER),
    ],
)
def test_questions_for_memories_are_known(text: str, asked: AskedFor, encode: Encode) -> None:
    (vector,) = encode([text])
    assert load_profile_model().of_question(vector)[0] is asked


def test_the_profile_does_not_repeat_the_ledger_nor_a_fact_a_memory() -> None:
    told = Remembered(
        facts=(Fact("f", 1, "Tobi hates long texts.", ("texts",), NOW),),
        memories=(recalled("way", "Tobi hates long texts on a screen."),),
        ledger=(entry(LedgerCategory.FACT, "and im allergic, i have a pen for it in my bag"),),
        profile=(recalled("need", "Tobi is allergic, they have a pen for it in their bag."),),
        name="Tobi",
    )
    kept = without_copies(told)
    assert (kept.profile, kept.facts, len(kept.memories), len(kept.ledger)) == ((), (), 1, 1)
