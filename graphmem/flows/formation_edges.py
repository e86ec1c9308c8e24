"""Edges and mentions that come with new memories: order, likeness, revisions, contradictions (spec 7)."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise

from graphmem.flows.detection_plan import (
    diverges,
    said_the_same,
)
from graphmem.flows.formation_reading import Ended, Reading
from graphmem.maths.features import SEGMENT_GAP
from graphmem.model import (
    EdgeType,
    Entity,
    EntityKind,
    Link,
    Memory,
    MemoryKind,
)
from graphmem.search.index import SearchIndex
from graphmem.store.changes import (
    Mention,
    New,
    NewEdge,
)
from graphmem.store.uncertainties import Recorded
from graphmem.text.doc import Doc
from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.revision import Effect

RELATED = 0.5
"""Cosine from which two memories are related, and the weight of that edge."""
REFINED = 0.7
"""Cosine from which a belief that says more refines one that says less."""
MAX_RELATED = 3
"""Most memories a new one is related to by likeness."""
REMINDED = timedelta(days=7)
"""Likeness over so long a time is being reminded."""


def revision_edges(ended: Iterable[Ended]) -> Iterator[NewEdge]:
    """Edges from what was to what is now, and from what puts right to what was wrong."""
    for each in ended:
        if each.by_id is not None and each.effect is Effect.ENDS:
            yield NewEdge(each.id, each.by_id, EdgeType.TEMPORAL_EVOLUTION, 1.0)
        elif each.by_id is not None:
            yield NewEdge(each.by_id, each.id, EdgeType.REFINES, 1.0)


def contradiction_edges(doubts: Iterable[Recorded]) -> Iterator[NewEdge]:
    """Edges between the sides of new doubts."""
    for each in doubts:
        if each.uncertainty.b_id is not None:
            yield NewEdge(each.uncertainty.b_id, each.uncertainty.a_id, EdgeType.CONTRADICTS, 1.0)


def said_edges(reading: Reading, ids: Sequence[str], known: SearchIndex) -> Iterator[NewEdge]:
    """Edges that the text itself gives: order in time, and what connects its parts."""
    if not ids:
        return
    before = known.before(reading.source.at)
    gap = math.inf if before is None else (reading.source.at - before.timestamp).total_seconds()
    if before is not None and gap < SEGMENT_GAP and before.id not in ids:
        yield NewEdge(before.id, ids[0], EdgeType.PRECEDES, 1.0 - 0.5 * (gap / SEGMENT_GAP))
    else:
        before = None
    for first, second in pairwise(ids):
        yield NewEdge(first, second, EdgeType.PRECEDES, 1.0)
    for place, note in enumerate(reading.notes):
        for link in note.links:
            if not isinstance(link.kind, EdgeType):
                continue
            target = linked_id(reading, link, ids) or ("" if before is None or _is_named(link) else before.id)
            if target:
                ends = (target, ids[place]) if link.reverse else (ids[place], target)
                yield NewEdge(*ends, link.kind, link.weight)


def linked_id(reading: Reading, link: Link, ids: Sequence[str]) -> str:
    """The id of what a link leads to; empty where it leads to nothing that is there."""
    if link.note is None:
        return link.known
    message, place = link.note
    if message != reading.place:
        return reading.earlier.get(link.note, "")
    return ids[place] if place < len(ids) else ""


def _is_named(link: Link) -> bool:
    return bool(link.known) or link.note is not None


def alike_edges(
    reading: Reading, new: Sequence[New], known: SearchIndex, ended: Mapping[str, Ended]
) -> Iterator[NewEdge]:
    """Edges from new memories to those known ones that are like them, or fill the same slot."""
    for each in new:
        memory = each.memory
        # Where a mind has linked its notes no slot tells what contradicts them.
        slot = () if reading.linked or memory.slot_key is None else known.of_slot(memory.slot_key)
        for other in slot:
            if other.id in ended or other.invalid_at is not None:
                continue
            type_ = EdgeType.CONTRADICTS if diverges(memory, other) else EdgeType.SUPPORTS
            yield NewEdge(memory.id, other.id, type_, 0.8)
        in_slot = {other.id for other in slot}
        for other, cosine in known.nearest(each.vector, MAX_RELATED):
            if cosine >= RELATED and other.id not in in_slot and other.id not in ended:
                yield NewEdge(memory.id, other.id, _likeness(reading, memory, other, cosine), min(1.0, cosine))


def _likeness(reading: Reading, memory: Memory, other: Memory, cosine: float) -> EdgeType:
    """Edge type for two similar memories: a refinement of the same belief, a reminder, or a relation."""
    if not reading.linked and cosine >= REFINED and MemoryKind.EPISODE not in (memory.kind, other.kind):
        mine, theirs = _content_words(memory), _content_words(other)
        if theirs < mine and said_the_same(memory.content or "", other.content or ""):
            return EdgeType.REFINES
    apart = abs(memory.timestamp - other.timestamp) > REMINDED
    both_happened = memory.kind is MemoryKind.EPISODE and other.kind is MemoryKind.EPISODE
    return EdgeType.REMINDS_OF if apart and both_happened else EdgeType.RELATES_TO


def _content_words(memory: Memory) -> frozenset[str]:
    return frozenset(Doc(memory.content or "").plain_words) - STOP_WORDS


def mentions_of(reading: Reading, ids: Sequence[str]) -> Iterator[Mention]:
    """Whom and what a message names, and what it is about."""
    for memory_id, note in zip(ids, reading.notes, strict=True):
        for entity in note.entities:
            located = entity.kind is EntityKind.PLACE
            yield Mention(memory_id, entity, EdgeType.LOCATED_AT if located else EdgeType.INVOLVES, 1.0)
        for rank, topic in enumerate(note.about):
            yield Mention(memory_id, Entity(topic, EntityKind.THING), EdgeType.ABOUT, 1.0 / (1 + rank))


def strongest_edges(edges: Sequence[NewEdge]) -> tuple[NewEdge, ...]:
    """No edge twice, none to itself."""
    best: dict[tuple[str, str, EdgeType], NewEdge] = {}
    for edge in edges:
        key = (edge.from_id, edge.to_id, edge.type)
        if edge.from_id != edge.to_id and (key not in best or best[key].weight < edge.weight):
            best[key] = edge
    return tuple(best.values())
