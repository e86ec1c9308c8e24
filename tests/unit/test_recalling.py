"""How found memories rank, and which of them fit a budget, without a database."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import (
    AskedFor,
    Aspect,
    EdgeType,
    Fact,
    HeldEdge,
    LedgerCategory,
    LedgerEntry,
    Memory,
    Recalled,
    Reliability,
    Remembered,
    SourceKind,
    Standing,
)
from graphmem.search.edges import EdgeTable, Reached
from graphmem.search.index import SearchIndex
from graphmem.search.ranking import (
    MOST_LINES,
    as_asked_for,
    fitted,
    fitting_lines,
    judged,
    nearest_memories,
    ranked,
    shown,
    tells_of_student,
    told_of_work,
    wanted_memories,
    with_threads,
)
from graphmem.search.scoring import Hit, weight
from graphmem.text.doc import Doc
from graphmem.text.embedder import ShippedNetwork
from graphmem.text.memory_block import count_tokens, memory_block
from graphmem.text.profile import ASKED_AS_WHOLE
from tests.support.memories import NOW, memory


def index_of(*memories: Memory) -> SearchIndex:
    index = SearchIndex(8)
    index.put_many(list(memories), np.eye(8, dtype=np.float32)[: len(memories)])
    return index


def test_the_heavier_comes_first_and_says_why() -> None:
    light, heavy = memory("light"), memory("heavy")
    hits = [Hit(light, 0.4, {"dense": 0.4}), Hit(heavy, 0.8, {"lexical": 0.5, "dense": 0.3})]
    found = ranked(hits, (), index_of(light, heavy), NOW, 5)
    assert [each.memory.id for each in found] == ["heavy", "light"]
    assert found[0].why == ("lexical 0.50", "dense 0.30")
    assert found[0].weight == pytest.approx(0.8)
    assert ranked(hits, (), index_of(light, heavy), NOW, 1) == found[:1]
    assert ranked([], (), index_of(), NOW, 5) == []


def test_a_memory_weighs_as_it_stands() -> None:
    index = index_of(replace(memory("a"), reliability=Reliability.CONTRADICTED))
    index.renew([Standing("a", 0.25, NOW, 7), Standing("not-held", 0.5, NOW, 1)])
    (found,) = ranked([Hit(index.get("a") or memory("a"), 0.8, {"dense": 1.0})], (), index, NOW, 5)
    assert (found.memory.access_count, found.memory.reliability) == (7, Reliability.CONTRADICTED)
    assert found.gravity == 0.25
    assert found.weight == pytest.approx(weight(0.8, 0.25, Reliability.CONTRADICTED))


def test_what_a_student_can_do_and_what_is_hard_are_not_mixed_up() -> None:
    aspects = {"able": Aspect.UNDERSTANDING, "hard": Aspect.MISCONCEPTION, "cat": None}
    held = [memory(name, timestamp=NOW - timedelta(days=1), aspect=aspect) for name, aspect in aspects.items()]
    index, found = SearchIndex(384), [Recalled(each, 0.5, 1.0, ()) for each in held]
    index.put_many(held, np.eye(384, dtype=np.float32)[:3])
    for asked, kept in (
        (AskedFor.STRENGTHS, {"able", "cat"}),
        (AskedFor.STRUGGLES, {"hard", "cat"}),
        (AskedFor.OWN, {"able", "hard", "cat"}),
        (AskedFor.OTHER, {"able", "hard", "cat"}),
    ):
        assert {each.memory.id for each in as_asked_for(found, index, NOW, asked, lambda _: True)} == kept


def test_what_is_told_of_school_is_hard_or_can_be_done_before_any_work_shows_it() -> None:
    told = {
        "hard": "Mo doesn't get percentages at all.",
        "able": "Mo is really good at maths.",
        "cat": "Mo has a cat.",
    }
    index = SearchIndex(384)
    held = [memory(name, text, timestamp=NOW - timedelta(days=1)) for name, text in told.items()]
    index.put_many(held, ShippedNetwork(1).encode(list(told.values())))

    def asked(part: AskedFor) -> list[str]:
        return [each.memory.id for each in wanted_memories(index, NOW, part)]

    assert asked(AskedFor.STRUGGLES) == ["hard"]
    assert asked(AskedFor.STRENGTHS) == ["able"]
    assert told_of_work(index, held) == {"hard": AskedFor.STRUGGLES, "able": AskedFor.STRENGTHS}


def test_what_was_hard_is_what_was_overcome_where_nothing_else_is() -> None:
    wrong = replace(memory("a"), aspect=Aspect.MISCONCEPTION)
    ended = replace(memory("c"), invalid_at=NOW - timedelta(days=1), reliability=Reliability.SUPERSEDED)
    overcome = replace(ended, id="b", aspect=Aspect.MISCONCEPTION)

    def hard(*held: Memory) -> list[str]:
        return [each.memory.id for each in wanted_memories(index_of(*held), NOW, AskedFor.STRUGGLES)]

    assert hard(wrong, overcome) == ["a"]
    assert hard(overcome, ended) == ["b"]


@pytest.mark.parametrize(
    ("content", "quote", "kind", "tells"),
    [
        ("Mo is allergic to nuts.", "I'm allergic to nuts", SourceKind.CHAT, True),
        ("Mo's sister is deaf.", "my sister is deaf", SourceKind.CHAT, True),
        ("Mo says: dyslexic.", "dyslexic", SourceKind.CHAT, True),
        ("Mo says that headaches are awful.", "Headaches are awful", SourceKind.CHAT, False),
        ("Mo needs large print.", "Needs large print", SourceKind.TEACHER, True),
        ("", "", SourceKind.CHAT, False),
        (" ... ", "I ...", SourceKind.CHAT, False),
        (None, "", SourceKind.CHAT, False),
    ],
)
def test_the_profile_tells_of_the_student(content: str | None, quote: str, kind: SourceKind, *, tells: bool) -> None:
    held = replace(memory("a"), content=content, quote=quote, source_kind=kind, slot_key=None)
    assert tells_of_student(held) is tells


def test_lines_that_say_nothing_are_not_shown() -> None:
    blank, full = (
        Recalled(replace(memory(name), content=content), 1.0, 1.0, (ASKED_AS_WHOLE,))
        for name, content in (("blank", " "), ("full", "Mo keeps bees."))
    )
    entry = LedgerEntry("e", LedgerCategory.FACT, "...", "", 0.5, (), (), 0.7, True, None, NOW)
    found = shown(Remembered(memories=(blank, full), profile=(blank,), ledger=(entry,)), {}, 500)
    assert ([r.memory.id for r in found.memories], found.profile, found.ledger) == (["full"], (), ())


def test_lines_are_shown_that_are_likely_beside_the_likeliest() -> None:
    chances = {"best": 0.6, "near": 0.3, "far": 0.2}
    lines = [Recalled(memory(name), 0.5, 1.0, (), chance=chance) for name, chance in chances.items()]
    assert [each.memory.id for each in fitting_lines(lines[::-1])] == ["best", "near"]
    assert fitting_lines([replace(each, chance=0.01) for each in lines]) == []
    assert len(fitting_lines([lines[0]] * 20)) == MOST_LINES


def test_words_likeness_and_rank_make_a_line_likelier() -> None:
    found = [
        Recalled(memory(name, text), rank, 1.0, (), similarity=near)
        for name, text, rank, near in (
            ("far", "Swims on Mondays.", 0.2, 0.1),
            ("word", "Has otters.", 0.2, 0.1),
            ("near", "Keeps animals.", 0.2, 0.5),
            ("rank", "Reads a lot.", 0.4, 0.1),
        )
    ]
    far, *others = (each.chance for each in judged(found, Doc("How are the otters?")))
    assert min(others) > far > 0
    named = judged(
        [replace(found[0], memory=memory("own", "Ottilie swims."))], Doc("Where is Ottilie?"), "Ottilie Reed"
    )
    assert named[0].chance < judged([named[0]], Doc("Where is Ottilie?"))[0].chance


def test_what_edges_lead_to_weighs_less_and_names_its_seed() -> None:
    seed, near = memory("seed"), memory("near")
    reached = [Reached("near", "seed", 0.8, ("CAUSES", "ENABLES")), Reached("unknown", "seed", 1.0, ("CAUSES",))]
    found = ranked([Hit(seed, 0.6, {"dense": 1.0})], reached, index_of(seed, near), NOW, 5)
    assert [each.memory.id for each in found] == ["seed", "near"]
    assert found[1].why == ("hop from seed by CAUSES ENABLES",)
    assert found[1].weight == pytest.approx(0.5 * 0.8 * 0.6)


@pytest.mark.parametrize("change", [{"invalid_at": NOW}, {"timestamp": NOW + timedelta(days=1)}])
def test_edges_lead_to_nothing_that_is_not_valid_then(change: dict[str, datetime]) -> None:
    seed, over = memory("seed"), memory("over", **change)  # type: ignore[arg-type]
    reached = [Reached("over", "seed", 1.0, ("CAUSES",))]
    found = ranked([Hit(seed, 0.6, {"dense": 1.0})], reached, index_of(seed, over), NOW, 5)
    assert [each.memory.id for each in found] == ["seed"]


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=80)


@given(
    memories=st.lists(TEXT, max_size=8),
    ledger=st.lists(TEXT, max_size=4),
    facts=st.lists(TEXT | st.just("<" * 60), max_size=10),
    budget=st.integers(1, 600),
)
def test_the_block_never_exceeds_its_budget(
    memories: list[str], ledger: list[str], facts: list[str], budget: int
) -> None:
    remembered = Remembered(
        memories=tuple(Recalled(memory(f"m{i}", text), 0.5, 1.0, ()) for i, text in enumerate(memories)),
        ledger=tuple(entry(f"l{i}", text) for i, text in enumerate(ledger)),
        facts=tuple(Fact(f"f{i}", i, text, ("tag",), NOW) for i, text in enumerate(facts)),
    )
    kept = fitted(remembered, budget)
    (tokens,) = count_tokens([memory_block(kept)])
    assert tokens <= budget
    assert set(kept.memories) <= set(remembered.memories)
    assert fitted(remembered, 1_000_000) == remembered


def entry(entry_id: str, content: str) -> LedgerEntry:
    return LedgerEntry(entry_id, LedgerCategory.FACT, content, "", 0.5, (), (), 0.7, True, None, NOW)


def test_what_ended_comes_with_what_took_its_place_and_what_was_taken_back_does_not() -> None:
    day, gone = NOW - timedelta(days=1), Reliability.SUPERSEDED
    untrue = memory("untrue", "Bo is the best friend.", timestamp=day, invalid_at=day, reliability=gone)
    ended, so = replace(untrue, id="ended"), memory("so", "Al is the best friend.", timestamp=day)
    index, edges = index_of(ended, untrue, so), EdgeTable()
    edges.replace({"ended": [HeldEdge("so", EdgeType.TEMPORAL_EVOLUTION, True, 1.0, Reliability.RELIABLE)]})
    vector = index.vector("ended")
    assert vector is not None
    near = [each for each in nearest_memories(index, edges, vector, NOW) if each.memory.id != "so"]
    assert [each.memory.id for each in near] == ["ended"]
    lines = with_threads(near, near, index, edges, NOW, lambda _: True)
    assert [(each.memory.id, each.why) for each in lines[1:]] == [("so", ("now, not ended",))]


def test_who_the_student_is_leaves_room_for_what_fits() -> None:
    many = Remembered(
        profile=tuple(
            Recalled(memory(f"p{i}", f"The student has lived in {i} towns."), 0.9, 1.0, ()) for i in range(30)
        ),
        memories=(Recalled(memory("m", "The student is afraid of seminars."), 0.5, 1.0, ()),),
    )
    kept = fitted(many, 300)
    assert kept.memories == many.memories
    assert 0 < len(kept.profile) < 30


def test_the_ledger_goes_before_memories_and_those_before_facts() -> None:
    many = Remembered(
        memories=tuple(Recalled(memory(f"m{i}", "Swims every day."), 0.5, 1.0, ()) for i in range(20)),
        ledger=tuple(entry(f"l{i}", "Explain with pictures.") for i in range(3)),
        facts=(Fact("f", 1, "Likes horses.", ("horses",), NOW),),
    )
    kept = fitted(many, 200)
    assert kept.ledger == many.ledger
    assert 0 < len(kept.memories) < 20
    assert kept.memories == many.memories[: len(kept.memories)]
