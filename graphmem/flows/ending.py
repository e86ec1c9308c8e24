"""Endings, as pure functions: what stems from a memory that ends, ends with it, whoever has ended it (spec 7).

Twins of a statement, beliefs and the episode made of its message are memories that end with it; its ledger entries
close in the same transaction (`changes/close_entries`), and its facts stand as long as it does (`standing_facts`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from typing import Any

import numpy as np

from graphmem.model import Fact, Memory, MemoryRole, MergedStatement, Reliability, Vector
from graphmem.search.index import SearchIndex
from graphmem.store.changes import Changes, End, Reinforced, Restored, Revival, Rewritten, Update, merged
from graphmem.store.uncertainties import Earlier, Recorded
from graphmem.text.doc import Doc
from graphmem.text.summary import summarised

SHARED = ("content", "quote", "modality", "kind", "aspect", "valence", "slot_key", "content_hash")
"""Fields that a memory has in common with a statement of a summary."""
SAME_WORDS = 0.6
"""Share of the content words of a fact, or of a memory of the same message, from which a memory says it, too."""
STEMMING = frozenset({MemoryRole.SAID, MemoryRole.BELIEF, MemoryRole.PROCEDURE, MemoryRole.EPISODE})
"""Roles of memories that end with the statements they repeat; a lesson groups others."""
ENDING_FIELDS = ("invalid_at", "reliability")
"""Fields by which a memory ends."""


def as_memory(summary: Memory, statement: MergedStatement) -> Memory:
    """Return a statement of a summary as the memory that it becomes when it leaves the summary."""
    own: dict[str, Any] = {name: getattr(statement, name) for name in SHARED}
    return replace(
        summary,
        id=statement.id,
        timestamp=statement.at,
        source_refs=(statement.source_ref,),
        valid_at=statement.at,
        merged_count=0,
        role=MemoryRole.SAID,
        statements=(),
        reinforcement_count=0,
        last_reinforced_at=None,
        in_ledger=False,
        **own,
    )


def as_statement(memory: Memory, vector: Vector) -> MergedStatement:
    """Return a memory as the statement of a summary that it becomes."""
    own: dict[str, Any] = {name: getattr(memory, name) for name in SHARED}
    ref = memory.source_refs[-1] if memory.source_refs else ""
    return MergedStatement(at=memory.timestamp, source_ref=ref, vector=vector, **own)


def known_memory(known: SearchIndex, memory_id: str) -> Memory | None:
    """Return a memory by its id, also where it is a statement of a summary by now."""
    found = known.statement(memory_id)
    return known.get(memory_id) or (None if found is None else as_memory(*found))


def restoring(known: SearchIndex, ids: Iterable[str]) -> list[Restored | Rewritten | Update]:
    """Take statements out of their summaries, of which those end that nothing is left of.

    Parameters
    ----------
    known : SearchIndex
    ids : of memories that change; memories that are no statements are passed over
    """
    leaving: dict[str, list[MergedStatement]] = {}
    for each in dict.fromkeys(ids):
        found = known.statement(each) if known.get(each) is None else None
        if found is not None and found[1].vector is not None:
            leaving.setdefault(found[0].id, []).append(found[1])
    rows = list[Restored | Rewritten | Update]()
    for summary_id, statements in leaving.items():
        summary = known.get(summary_id)
        assert summary is not None  # it holds them
        rows += [
            Restored(as_memory(summary, each), each.vector, summary_id)
            for each in statements
            if each.vector is not None
        ]
        left = [each for each in summary.statements if each not in statements]
        if left:
            rows.append(_summary_without(summary, left, statements))
        else:
            values = {"invalid_at": max(each.at for each in statements), "reliability": Reliability.SUPERSEDED}
            rows.append(Update(summary_id, values))
    return rows


def _summary_without(summary: Memory, left: Sequence[MergedStatement], gone: Sequence[MergedStatement]) -> Rewritten:
    """Return a summary rewritten from its remaining statements."""
    words = {each.quote or each.content for each in gone}
    lines = [line for line in (summary.quote or "").split("\n") if line and line not in words]
    rehashed = blake2b(
        "\n".join([summary.content_hash, *(each.content_hash for each in left)]).encode(), digest_size=32
    )
    memory = replace(
        summary,
        content=summarised([each.content for each in left]).text,
        quote="\n".join(lines) or None,
        content_hash=rehashed.hexdigest(),
        statements=tuple(left),
    )
    return Rewritten(memory, _mean_vector([each.vector for each in left if each.vector is not None]))


def _mean_vector(vectors: Sequence[Vector]) -> Vector:
    mean = np.mean(np.stack(vectors), axis=0)
    unit: Vector = (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)
    return unit


def with_stems(changes: Changes, known: SearchIndex, *, by_words: bool = True) -> Changes:
    """Extend changes to all that stems from the memories that they end.

    Parameters
    ----------
    changes : planned; a memory ends by an update of its `invalid_at`, a ledger entry or a fact by an `End`
    known : SearchIndex, the student's memories before the changes; only read
    by_words : False where a mind has named all that ends: no other memory ends for its words

    Returns
    -------
    Changes with an `End` of every memory that ends and a `Revival` of every one that holds again; undoing a resolution
    brings back the memories that had ended with its loser

    Source: spec 7 (endings reach everything that stems from a statement).
    """
    updates = {each.memory_id: each.values for each in merged(changes.of(Update))}
    ends = {memory_id: values for memory_id, values in updates.items() if values.get("invalid_at") is not None}
    spared = updates.keys() | {each.memory.id for each in changes.of(Reinforced)}
    stems = {
        memory.id: (memory, root_id)
        for root_id in ends
        for memory in (stems_of(root_id, known, ends) if by_words else ())
        if memory.id not in spared
    }
    closed = (
        Update(memory_id, {name: ends[root_id][name] for name in ENDING_FIELDS if name in ends[root_id]})
        for memory_id, (_, root_id) in stems.items()
    )
    revived = [i for i, values in updates.items() if "invalid_at" in values and values["invalid_at"] is None]
    rows = (_undoable(row, stems) if isinstance(row, Recorded) else row for row in changes.rows)
    return replace(changes, rows=(*rows, *closed, *map(End, (*ends, *stems)), *map(Revival, revived)))


def stems_of(memory_id: str, known: SearchIndex, ending: Collection[str] = ()) -> list[Memory]:
    """Return memories of the same message that repeat one, or whose statements have all ended.

    Parameters
    ----------
    memory_id : of the memory that ends or goes
    known : SearchIndex; only read
    ending : ids of all memories that end or go
    """
    root = known_memory(known, memory_id)
    if root is None or root.role not in STEMMING:
        return []
    moments = dict.fromkeys(filter(None, (root.timestamp, root.last_reinforced_at)))
    told = {each.id: each for moment in moments for each in known.told_at(moment) if _of_one_message(root, each)}
    gone = {memory_id, *ending} | {each.id for each in told.values() if each.invalid_at is not None}
    holding = [each for each in told.values() if each.id not in gone and each.role in STEMMING]
    stems = [each for each in holding if says(root, _heading(each))]
    left = [each for each in holding if each not in stems]
    return stems if any(each.role is MemoryRole.SAID for each in left) else holding


def says(memory: Memory, text: str) -> bool:
    """Return whether a memory covers most of a text, in its statement or in the words it comes from."""
    stems = Doc(text).stems
    told = (memory.content, memory.quote, memory.original)
    return bool(stems) and any(len(stems & Doc(each).stems) >= SAME_WORDS * len(stems) for each in told if each)


def standing_facts(facts: Sequence[Fact], known: SearchIndex, moment: datetime) -> list[Fact]:
    """Facts that hold: none that was ended, and none that a memory of the same message tells, too, and which is past.

    Parameters
    ----------
    facts : Sequence of Fact
    known : SearchIndex; only read
    moment : of which is asked

    Source: spec 4, 7.
    """
    return [fact for fact in facts if not _has_passed(fact, known.told_at(fact.created_at), moment)]


def _has_passed(fact: Fact, told: Sequence[Memory], moment: datetime) -> bool:
    if fact.invalid_at is not None:
        return fact.invalid_at <= moment
    return any(each.invalid_at is not None and each.invalid_at <= moment and says(each, fact.text) for each in told)


def _of_one_message(one: Memory, other: Memory) -> bool:
    return one.speaker == other.speaker and not set(one.source_refs).isdisjoint(other.source_refs)


def _heading(memory: Memory) -> str:
    """Return a memory's text, of an episode its heading alone, since its quoted message may say more than has ended."""
    content = memory.content or ""
    return content.partition(": “")[0] if memory.role is MemoryRole.EPISODE else content


def _undoable(record: Recorded, stems: Mapping[str, tuple[Memory, str]]) -> Recorded:
    """Return a record that also brings back what ends with a memory that it brings back."""
    own = {each.memory_id for each in record.undo.memories}
    more = tuple(Earlier.of(memory) for memory, root_id in stems.values() if root_id in own)
    return replace(record, undo=replace(record.undo, memories=(*record.undo.memories, *more)))
