"""What formation decides, without a database or a model."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from graphmem.flows.formation_plan import Marked, MessageScores, Reading, planned_formation
from graphmem.model import (
    Domain,
    EdgeType,
    Effect,
    Entity,
    EntityKind,
    Heard,
    LedgerCategory,
    LedgerEntry,
    Link,
    MemoryKind,
    Modality,
    Note,
    NotePlace,
    Source,
    SourceKind,
    Vector,
)
from graphmem.search.index import SearchIndex
from graphmem.store.changes import Changes, FormedSource, Mention, New, NewEdge, Origin, Promotion, Reinforced, Span
from tests.support.memories import memory

NOW = datetime(2026, 1, 15, 9, tzinfo=UTC)
EAST, NORTH = np.eye(8, dtype=np.float32)[:2]


def towards(cosine: float) -> Vector:
    """A vector of this cosine with EAST."""
    return np.array([cosine, np.sqrt(1 - cosine**2), *[0.0] * 6], dtype=np.float32)


def extract(content: str, **more: object) -> Note:
    fixed = {"modality": Modality.SEMANTIC, "kind": MemoryKind.TRAIT} | more
    return Note(0, len(content), content, **fixed)  # type: ignore[arg-type]


def reading(*found: tuple[Note, Vector, str], passes: int = 2, slot: str | None = None, **more: object) -> Reading:
    text = " ".join(each.statement or "" for each, _, _ in found)
    fixed: dict[str, object] = {
        "key": "7",
        "source": Source("source-7", SourceKind.CHAT, "t7", NOW),
        "heard": Heard(text, NOW, passes=passes),
        "snr": 450,
        "scores": MessageScores(0.5),
        "notes": tuple(each for each, _, _ in found),
        "marked": tuple(
            Marked(each.statement or "", each.statement or "", vector, Domain.OTHER, 0.0, hashed, slot)
            for each, vector, hashed in found
        ),
        "entries": (),
        "inferred_by": "offline",
    }
    return Reading(**(fixed | more))  # type: ignore[arg-type]


def index(*memories: tuple[object, Vector]) -> SearchIndex:
    held = SearchIndex(8)
    for each, vector in memories:
        held.put(each, vector)  # type: ignore[arg-type]
    return held


def edges(formation: Changes) -> dict[tuple[str, str, EdgeType], float]:
    return {(edge.from_id, edge.to_id, edge.type): edge.weight for edge in formation.of(NewEdge)}


def test_something_new_is_a_memory_of_its_span() -> None:
    formation = planned_formation(reading((extract("I like teal."), EAST, "h")), index(), 3).changes
    (new,) = formation.of(New)
    assert new.memory.id == "memory-7-1"
    assert new.span == Span(0, 12)
    assert (formation.known, formation.origin, formation.formed) == (
        3,
        Origin(SourceKind.CHAT, "t7", "source-7", NOW),
        FormedSource(450),
    )
    assert (formation.of(Reinforced), formation.of(NewEdge), formation.of(Promotion)) == ((), (), ())


def test_nothing_found_forms_nothing() -> None:
    formation = planned_formation(reading(), index(), 0).changes
    assert formation.rows == ()


@pytest.mark.parametrize("cosine", [0.96, 1.0])
def test_nearly_the_same_reinforces(cosine: float) -> None:
    known = memory("memory-1-1", "I like teal", timestamp=NOW - timedelta(days=1), strength=0.5, confidence=0.5)
    formation = planned_formation(
        reading((extract("I like teal."), towards(cosine), "h")), index((known, EAST)), 0
    ).changes
    assert formation.of(New) == ()
    (again,) = formation.of(Reinforced)
    assert again.memory.id == known.id
    assert again.memory.strength == pytest.approx(0.6)
    assert again.memory.confidence == pytest.approx(0.6)
    assert again.memory.reinforcement_count == 1
    assert again.memory.source_refs == (*known.source_refs, "t7")


@pytest.mark.parametrize(
    ("content", "changes"),
    [
        ("I like 3 dogs.", {"content": "I like 4 dogs."}),
        ("I don't like it.", {"content": "I like it."}),
        ("I like it.", {"content": "I like it.", "speaker": "Julia"}),
        ("I like it.", {"content": "I like it.", "invalid_at": NOW}),
    ],
)
def test_what_only_sounds_the_same_is_a_memory_of_its_own(content: str, changes: dict[str, object]) -> None:
    known = index((memory("memory-1-1", **changes), EAST))  # type: ignore[arg-type]
    assert len(planned_formation(reading((extract(content), EAST, "h")), known, 0).changes.of(New)) == 1


def test_the_same_twice_in_one_message_is_one_memory() -> None:
    twice = (extract("I like teal."), EAST, "h")
    formation = planned_formation(reading(twice, twice), index(), 0).changes
    assert len(formation.of(New)) == 1
    assert all(from_id != to_id for from_id, to_id, _ in edges(formation))


def test_twins_of_one_known_memory_reinforce_it_once() -> None:
    known = memory("memory-1-1", "I like teal", content_hash="h")
    twice = (extract("I like teal."), EAST, "h")
    assert len(planned_formation(reading(twice, twice), index((known, EAST)), 0).changes.of(Reinforced)) == 1


@pytest.mark.parametrize(("minutes", "weight"), [(0.5, 0.996), (30, 0.75), (59, 0.508), (60, None), (600, None)])
def test_what_was_before_precedes_within_a_sitting(minutes: float, weight: float | None) -> None:
    before = memory("memory-1-1", "Hm.", timestamp=NOW - timedelta(minutes=minutes))
    found = edges(planned_formation(reading((extract("I like teal."), NORTH, "h")), index((before, EAST)), 0).changes)
    expected = None if weight is None else pytest.approx(weight, abs=0.001)
    assert found.get(("memory-1-1", "memory-7-1", EdgeType.PRECEDES)) == expected


def test_relations_point_where_the_text_says() -> None:
    before = memory("memory-1-1", "Hm.", timestamp=NOW - timedelta(minutes=1))
    parts = [(extract("It rained."), EAST, "a"), (extract("I got wet."), NORTH, "b")]
    links = (
        Link(EdgeType.CAUSES, note=NotePlace(0, 1), weight=0.9),
        Link(EdgeType.ENABLES, weight=0.6),
        Link(EdgeType.CAUSES, note=NotePlace(0, 9), weight=0.9),
    )
    notes = (replace(parts[0][0], links=links), parts[1][0])
    vector = np.eye(8, dtype=np.float32)[5]
    found = edges(planned_formation(reading(*parts, notes=notes), index((before, vector)), 0).changes)
    assert found["memory-7-1", "memory-7-2", EdgeType.CAUSES] == 0.9
    assert found["memory-7-1", "memory-1-1", EdgeType.ENABLES] == 0.6
    assert len([key for key in found if key[2] is EdgeType.CAUSES]) == 1


def test_likeness_relates_reminds_and_refines() -> None:
    def one(content: str, kind: MemoryKind, days: float, cosine: float) -> set[EdgeType]:
        known = memory("memory-1-1", "I like dogs.", kind=kind, timestamp=NOW - timedelta(days=days))
        new = extract(content, kind=kind)
        found = edges(planned_formation(reading((new, towards(cosine), "h")), index((known, EAST)), 0).changes)
        return {type_ for _, to_id, type_ in found if to_id == "memory-1-1"}

    assert one("We have two cats.", MemoryKind.EPISODE, 1, 0.6) == {EdgeType.RELATES_TO}
    assert one("We have two cats.", MemoryKind.EPISODE, 8, 0.6) == {EdgeType.REMINDS_OF}
    assert one("I like big brown dogs.", MemoryKind.TRAIT, 1, 0.8) == {EdgeType.REFINES}
    assert one("We have two cats.", MemoryKind.TRAIT, 1, 0.4) == set()


def test_what_fills_the_same_slot_supports_or_contradicts() -> None:
    before = NOW - timedelta(days=1)
    known = memory("memory-1-1", "I live in Lisbon.", slot_key="home", timestamp=before)
    both = {"I do live in Oslo.": (EdgeType.CONTRADICTS, 1.0), "I live in Lisbon now.": (EdgeType.SUPPORTS, 0.8)}
    for content, (type_, weight) in both.items():
        found = edges(
            planned_formation(reading((extract(content), NORTH, "h"), slot="home"), index((known, EAST)), 0).changes
        )
        assert {edge: found[edge] for edge in found if edge[1] == "memory-1-1"} == {
            ("memory-7-1", "memory-1-1", type_): weight
        }


def test_names_and_topics_are_linked() -> None:
    named = (Entity("Ada", EntityKind.PERSON), Entity("Lisbon", EntityKind.PLACE))
    told = extract("Ada moved to Lisbon.", entities=named, about=("move", "house"))
    found = planned_formation(reading((told, EAST, "h")), index(), 0).changes.of(Mention)
    assert [(m.entity.name, m.type, m.weight) for m in found] == [
        ("Ada", EdgeType.INVOLVES, 1.0),
        ("Lisbon", EdgeType.LOCATED_AT, 1.0),
        ("move", EdgeType.ABOUT, 1.0),
        ("house", EdgeType.ABOUT, 0.5),
    ]


def test_an_entry_rests_on_the_memory_of_its_note() -> None:
    parts = [(extract("It rained."), EAST, "a"), (extract("I owe Mia five euros"), NORTH, "b")]
    entry = LedgerEntry("ledger-1", LedgerCategory.DEBT, "x", "x", 0.8, (), (), 0.7, True, None, NOW)
    formation = planned_formation(reading(*parts, entries=((1, entry, EAST),)), index(), 0).changes
    assert [promotion.memory_id for promotion in formation.of(Promotion)] == ["memory-7-2"]


def linked(*links: Link, **more: object) -> Changes:
    """What follows one linked note beside two known memories, a ledger entry and an earlier note."""
    note = extract("Lena left.", links=links)
    earlier = {NotePlace(0, 0): "memory-6-1"}
    given: dict[str, object] = {"linked": True, "place": 1, "earlier": earlier} | more
    known = index((memory("memory-1-1", "Lena lives here."), EAST), (memory("memory-6-1", "Lena goes soon."), NORTH))
    return planned_formation(reading((note, towards(0.99), "h"), **given), known, 0).changes  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("links", "ended"),
    [
        ((), set()),
        ((Link(Effect.ENDS, "memory-1-1"),), {"memory-1-1"}),
        (
            (Link(Effect.ENDS, "memory-1-1"), Link(Effect.SETTLES, note=NotePlace(0, 0))),
            {"memory-1-1", "memory-6-1"},
        ),
        ((Link(Effect.SETTLES, "ledger-9"), Link(Effect.ENDS, "fact-t1")), {"ledger-9", "fact-t1"}),
        ((Link(Effect.REFINES, "memory-1-1"),), set()),
        ((Link(Effect.ENDS, note=NotePlace(3, 0)),), set()),
    ],
)
def test_a_linked_note_ends_what_it_names_and_nothing_else(links: tuple[Link, ...], ended: set[str]) -> None:
    assert set(linked(*links).ended) == ended


def test_a_linked_note_refines_repeats_contradicts_and_causes() -> None:
    known = "memory-1-1"
    assert edges(linked(Link(Effect.REFINES, known)))["memory-7-1", known, EdgeType.REFINES] == 1.0
    assert edges(linked(Link(EdgeType.CAUSES, known)))["memory-7-1", known, EdgeType.CAUSES] == 1.0
    same = linked(Link(Effect.SAME, known))
    assert (same.of(New), [each.memory.id for each in same.of(Reinforced)]) == ((), [known])
    (doubted,) = linked(Link(Effect.CONTRADICTS, known)).doubts
    assert (doubted.uncertainty.a_id, doubted.uncertainty.b_id) == (known, "memory-7-1")


def test_beside_a_linked_note_no_likeness_refines() -> None:
    changes = linked(Link(Effect.ENDS, "memory-1-1"))
    assert EdgeType.REFINES not in {edge.type for edge in changes.of(NewEdge)}
