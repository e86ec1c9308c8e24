"""Decisions of recall, as pure functions: rank the memories found, and fit them into a budget (spec 10)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from graphmem.flows.gravity import faded
from graphmem.model import Memory, MemoryRole, Recalled, Reliability, Remembered, Vector
from graphmem.search.index import SearchIndex
from graphmem.search.query import Hit
from graphmem.search.scoring import fitting, mmr, weight
from graphmem.store.memories import Expansion, Reached, Standing
from graphmem.text.memory_block import ledger_line, memory_line
from graphmem.text.quoting import escaped
from graphmem.text.tokens import count_tokens, most_tokens

HOP = 0.5
"""Share of its seed's relevance that a memory found along edges gets, before the edges' weights are counted."""
DIVERSITY = 0.95
"""How much being relevant counts against being unlike what is shown already."""
UNFORMED_SHARE = 0.8
"""Share of its relevance that a message gets of which no memories are formed yet."""
NOT_FORMED = "said, not yet formed"
"""Reason of what was found in working memory."""
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
    index: SearchIndex,
    moment: datetime,
    limit: int,
    *,
    past: bool = False,
    tentative: Sequence["Tentative"] = (),
) -> list[Recalled]:
    """Found memories and what hangs together with them, by weight, diverse.

    Parameters
    ----------
    hits : as the index found them, best first
    expansion : how they stand in the graph, and what their edges lead to
    index : SearchIndex, only read
    moment : datetime, of which gravity is taken
    limit : int >= 0
    past : whether the moment is asked about, so that what was superseded since counts
    tentative : messages that fit, of which no memories are formed yet

    Source: spec 10.2, 10.4, 10.6.
    """
    relevance = {hit.memory.id: hit.relevance for hit in hits}
    found = [_Found(h.memory, h.relevance, h) for h in hits]
    for reached in expansion.reached:
        memory = index.get(reached.id)
        if memory is not None and reached.seed in relevance and _is_valid(memory, moment):
            found.append(_Found(memory, HOP * reached.weight * relevance[reached.seed], reached))
    told = {ref for each in found if not is_episode(each.memory) for ref in each.memory.source_refs}
    held = []
    for each in found:
        # An episode says in short what the memory of the message that began it says in full.
        if is_episode(each.memory) and told.issuperset(each.memory.source_refs):
            continue
        standing = _standing(each.memory, expansion)
        vector = index.vector(each.memory.id)
        if vector is not None and (past or standing.reliability is not Reliability.SUPERSEDED):
            held.append((each, standing, vector))
    held += [(_Found(t.hit.memory, t.relevance, t), _standing(t.hit.memory, expansion), t.vector) for t in tentative]
    if not held:
        return []
    weights = np.array([_weight(each, standing, moment) for each, standing, _ in held])
    # Weights are of one question: the best one counts as 1.
    shares = weights / (weights.max() or 1.0)
    order = mmr(shares, np.stack([vector for _, _, vector in held]), DIVERSITY, limit)
    return [_recalled(*held[i][:2], float(weights[i]), moment) for i in order]


@dataclass(frozen=True)
class _Found:
    """A memory that may fit, how well, and what found it."""

    memory: Memory
    relevance: float
    by: "Hit | Reached | Tentative"


@dataclass(frozen=True)
class Tentative:
    """A message of which no memories are formed yet, as the search found it; the vector is 0 where it has none yet."""

    hit: Hit
    vector: Vector

    @property
    def relevance(self) -> float:
        """Relevance, comparable with that of memories."""
        return UNFORMED_SHARE * self.hit.relevance


def tentative_memories(unformed: Sequence[Hit], formed: Sequence[Hit], index: SearchIndex) -> tuple[Tentative, ...]:
    """Messages that fit, but for those of which memories were formed and found meanwhile.

    Parameters
    ----------
    unformed : hits among the messages, of `index`
    formed : hits among the memories
    """
    refs = {ref for hit in formed for ref in hit.memory.source_refs}
    pairs = ((hit, index.vector(hit.memory.id)) for hit in unformed if refs.isdisjoint(hit.memory.source_refs))
    return tuple(Tentative(hit, vector) for hit, vector in pairs if vector is not None)


def fitted(remembered: Remembered, budget: int) -> Remembered:
    """Fit recalled items into a token budget: the ledger first, then memories by weight, then facts.

    Parameters
    ----------
    remembered : Remembered, each kind most useful first
    budget : int, tokens of the whole block

    Source: spec 10.6.
    """
    left = budget - FRAME
    ledger_lines = [ledger_line(entry) for entry in remembered.ledger]
    memory_lines = [memory_line(recalled) for recalled in remembered.memories]
    fact_lines = [f"- [fact, 2026-01-15] {escaped(fact.text)}" for fact in remembered.facts]
    lines = (*ledger_lines, *memory_lines, *fact_lines)
    # Most of the time everything fits, and needs no counting.
    if sum(map(len, map(str.encode, lines))) <= left or sum(map(most_tokens, lines)) <= left:
        return remembered
    ledger, left = _within(ledger_lines, left)
    memories, left = _within(memory_lines, left)
    facts, left = _within(fact_lines, left)
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


def _standing(memory: Memory, expansion: Expansion) -> Standing:
    """Current state of a memory in the graph: other processes use and doubt memories, too."""
    standing = expansion.found.get(memory.id)
    if standing is None:
        return Standing(memory.gravity, memory.last_accessed, memory.access_count, memory.reliability)
    return standing


def _gravity(memory: Memory, standing: Standing, moment: datetime) -> float:
    lasting = memory.flashbulb or memory.in_ledger
    return faded(standing.gravity, standing.last_accessed, standing.reliability, memory.salience, moment, lasting)


def _weight(found: _Found, standing: Standing, moment: datetime) -> float:
    now = _gravity(found.memory, standing, moment)
    return weight(found.relevance, found.memory.modality, now, standing.reliability)


def _recalled(found: _Found, standing: Standing, weighs: float, moment: datetime) -> Recalled:
    memory = replace(
        found.memory,
        gravity=standing.gravity,
        last_accessed=standing.last_accessed,
        access_count=standing.access_count,
        reliability=standing.reliability,
    )
    formed = not isinstance(found.by, Tentative)
    return Recalled(memory, weighs, _gravity(memory, standing, moment), _reasons(found.by), formed)


def is_episode(memory: Memory) -> bool:
    """True if a memory stands for an episode, which the memories of its turns belong to."""
    return memory.role is MemoryRole.EPISODE


def _is_valid(memory: Memory, moment: datetime) -> bool:
    return memory.timestamp <= moment and (memory.invalid_at is None or memory.invalid_at > moment)


def _reasons(by: Hit | Reached | Tentative) -> tuple[str, ...]:
    if isinstance(by, Tentative):
        return (NOT_FORMED, *_reasons(by.hit))
    if isinstance(by, Reached):
        return (f"hop from {by.seed} by {' '.join(by.types)}",)
    return tuple(f"{name} {part:.2f}" for name, part in list(by.why.items())[:PARTS_TOLD])
