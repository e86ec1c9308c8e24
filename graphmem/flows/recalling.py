"""What recall decides, as pure functions: how found memories rank, and which of them fit a budget (spec 10)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from graphmem.flows.present import gravity_now
from graphmem.index import Hit, MemoryIndex
from graphmem.maths.ranking import fitting, mmr, weight
from graphmem.mind.prompts import escaped, ledger_line, memory_line
from graphmem.mind.tokens import count_tokens
from graphmem.model import Memory, Recalled, Reliability, Remembered
from graphmem.store.memories import Expansion

HOP = 0.5
"""Share of its seed's relevance that a memory found along edges gets, before the edges' weights are counted."""
DIVERSITY = 0.95
"""How much being relevant counts against being unlike what is shown already."""
PARTS_TOLD = 3
"""Most parts of a score that are told as reasons."""
COUNTED = 16
"""Lines whose tokens are counted at once."""
SHORTEST = 8
"""Tokens of the shortest line."""
FRAME = 23
"""Tokens of the lines around the memories; those of lines simply add up."""


def ranked(
    hits: Sequence[Hit],
    expansion: Expansion,
    index: MemoryIndex,
    moment: datetime,
    limit: int,
    *,
    past: bool = False,
) -> list[Recalled]:
    """Found memories and what hangs together with them, by weight, diverse.

    Parameters
    ----------
    hits : as the index found them, best first
    expansion : how they stand in the graph, and what their edges lead to
    index : MemoryIndex, only read
    moment : datetime, of which gravity is taken
    limit : int >= 0
    past : whether the moment is asked about, so that what was superseded since counts

    Source: spec 10.2, 10.4, 10.6.
    """
    relevance = {hit.memory.id: hit.relevance for hit in hits}
    found = [_weighed(_standing(h.memory, expansion), h.relevance, _reasons(h), moment) for h in hits]
    for reached in expansion.reached:
        memory = index.get(reached.id)
        if memory is not None and reached.seed in relevance and _is_valid(memory, moment):
            way = " ".join(reached.types)
            fits = HOP * reached.weight * relevance[reached.seed]
            standing = _standing(memory, expansion)
            found.append(_weighed(standing, fits, (f"hop from {reached.seed} by {way}",), moment))
    found = [r for r in found if past or r.memory.reliability is not Reliability.SUPERSEDED]
    found.sort(key=lambda r: (-r.weight, r.memory.id))
    vectors = [index.vector(recalled.memory.id) for recalled in found]
    held = [(r, v) for r, v in zip(found, vectors, strict=True) if v is not None]
    if not held:
        return []
    top = max(r.weight for r, _ in held) or 1.0
    order = mmr(np.array([r.weight / top for r, _ in held]), np.stack([v for _, v in held]), DIVERSITY, limit)
    return [held[i][0] for i in order]


def fitted(remembered: Remembered, budget: int) -> Remembered:
    """What of it goes into a token budget: the ledger first, then memories by weight, then facts.

    Parameters
    ----------
    remembered : Remembered, each kind most useful first
    budget : int, tokens of the whole block

    Source: spec 10.6.
    """
    left = budget - FRAME
    ledger, left = _within([ledger_line(e) for e in remembered.ledger], left)
    memories, left = _within([memory_line(m) for m in remembered.memories], left)
    facts, left = _within([f"- [fact, 2026-01-15] {escaped(fact.text)}" for fact in remembered.facts], left)
    return replace(
        remembered,
        ledger=tuple(remembered.ledger[i] for i in ledger),
        memories=tuple(remembered.memories[i] for i in memories),
        facts=tuple(remembered.facts[i] for i in facts),
    )


def _within(lines: Sequence[str], budget: int) -> tuple[list[int], int]:
    """Places of the lines that fit, and what is left; lines are counted only as long as another may fit."""
    kept: list[int] = []
    for start in range(0, len(lines), COUNTED):
        if budget < SHORTEST:
            break
        costs = count_tokens(lines[start : start + COUNTED])
        fit = fitting(costs, budget)
        kept += [start + i for i in fit]
        budget -= sum(costs[i] for i in fit)
    return kept, budget


def _standing(memory: Memory, expansion: Expansion) -> Memory:
    """The memory as the graph has it now: other processes use and doubt memories, too."""
    standing = expansion.found.get(memory.id)
    if standing is None:
        return memory
    return replace(
        memory,
        gravity=standing.gravity,
        last_accessed=standing.last_accessed,
        access_count=standing.access_count,
        reliability=standing.reliability,
    )


def _weighed(memory: Memory, relevance: float, why: tuple[str, ...], moment: datetime) -> Recalled:
    gravity = gravity_now(memory, moment)
    return Recalled(memory, weight(relevance, memory.modality, gravity, memory.reliability), gravity, why)


def _is_valid(memory: Memory, moment: datetime) -> bool:
    return memory.timestamp <= moment and (memory.invalid_at is None or memory.invalid_at > moment)


def _reasons(hit: Hit) -> tuple[str, ...]:
    return tuple(f"{name} {part:.2f}" for name, part in list(hit.why.items())[:PARTS_TOLD])
