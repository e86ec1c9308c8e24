"""Statements of summaries of which something becomes by itself: they leave their summary (spec 7, 13).

What repeats or refines a statement of a summary touches the summary; what ends or denies it makes it a memory again,
which then is ended or doubted like any other, and the summary no longer says it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b

import numpy as np

from graphmem.model import Memory, MemoryRole, MergedStatement, Reliability, Vector
from graphmem.search.index import SearchIndex
from graphmem.store.changes import Restored, Rewritten, Update
from graphmem.text.summary import summarised


def as_memory(summary: Memory, statement: MergedStatement) -> Memory:
    """A statement of a summary as the memory that it becomes when it leaves the summary."""
    return replace(
        summary,
        id=statement.id,
        modality=statement.modality,
        kind=statement.kind,
        content=statement.content,
        quote=statement.quote,
        valence=statement.valence,
        timestamp=statement.at,
        source_refs=(statement.source_ref,),
        valid_at=statement.at,
        slot_key=statement.slot_key,
        merged_count=0,
        content_hash=statement.content_hash,
        role=MemoryRole.SAID,
        aspect=statement.aspect,
        statements=(),
        reinforcement_count=0,
        last_reinforced_at=None,
        in_ledger=False,
    )


def known_memory(known: SearchIndex, memory_id: str) -> Memory | None:
    """A memory by its id, also where it is a statement of a summary by now."""
    found = known.statement(memory_id)
    return known.get(memory_id) or (None if found is None else as_memory(*found))


def restoring(known: SearchIndex, ids: Iterable[str]) -> list[Restored | Rewritten | Update]:
    """Take statements out of their summaries, of which those end that nothing is left of.

    Parameters
    ----------
    known : SearchIndex
    ids : of memories of which something becomes; those that are no statements are passed over
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
    """A summary that says what is left of it."""
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
