"""Selection of the lines that a context shows: relevant ones, without repetition, in a budget (spec 10.6, 10.7)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphmem.model import LedgerCategory, MemoryRole, Recalled, Remembered
from graphmem.search.ranking import is_told
from graphmem.search.scoring import fitting
from graphmem.text.memory_block import (
    count_tokens,
    fact_line,
    ledger_line,
    memory_line,
    most_tokens,
    name_line,
    question_line,
    turn_line,
    without_copies,
    woven_lines,
)
from graphmem.text.profile import ASKED_AS_WHOLE, LAST_SESSION

LEAST_CHANCE, SHARE_OF_BEST = 0.08, 0.45
"""Chance from which a line may be shown, and the share of the best line's chance that it needs beside that one. Of
24 questions about six new pupils 16 show the answer (10 with 0.05 and without threads), and 12 about what was never
mentioned show 11 lines in all (31); these were read while it was chosen."""
MOST_LINES = 6
"""Most matching memories that a context shows."""
COUNTED = 16
"""Lines whose tokens are counted at once."""
SHORTEST = 8
"""Tokens of the shortest line."""
FRAME = 36
"""Tokens of the lines around the items: tags, date, heading; those of lines simply add up."""
TITLE = 10
"""Most tokens of the title of a part."""
PROFILE_SHARE = 0.25
"""Largest share of a budget for the standing profile, so that there is room for memories matching the question."""


def shown(remembered: Remembered, visible: Mapping[str, str], budget: int) -> Remembered:
    """Return the lines to show a companion: relevant, none twice, none that is in the conversation.

    Parameters
    ----------
    remembered : Remembered, each kind most useful first, with the chance of each line
    visible : by turn id, what the student said in the visible conversation
    budget : int, tokens of the whole block

    Source: spec 10.7.
    """
    new = [each for each in remembered.memories if is_told(each.memory.content) and not _is_visible(each, visible)]
    # Memories asked for as a whole need not be near the question.
    whole = [each for each in new if ASKED_AS_WHOLE in each.why or LAST_SESSION in each.why]
    profile = [each for each in remembered.profile if is_told(each.memory.content) and not _is_visible(each, visible)]
    remembered = replace(
        remembered,
        memories=(*whole, *fitting_lines([each for each in new if each not in whole])),
        profile=tuple(each for each in profile if each.memory.id not in remembered.secrets),
        ledger=tuple(entry for entry in remembered.ledger if is_told(entry.content)),
    )
    kept = without_copies(remembered, tuple(visible.values()))
    reasons = {fact.id: (f"fits {', '.join(fact.tags[:2])}",) for fact in kept.facts} | dict(remembered.why)
    return fitted(replace(kept, why=reasons), budget)


def fitting_lines(recalled: Sequence[Recalled]) -> list[Recalled]:
    """Return the lines that are likely enough to help, beside the likeliest; none where none is.

    Examples
    --------
    >>> fitting_lines([])
    []
    """
    best = max((each.chance for each in recalled), default=0.0)
    least = max(LEAST_CHANCE, SHARE_OF_BEST * best)
    likely = sorted((each for each in recalled if each.chance >= least), key=lambda each: -each.chance)
    return likely[:MOST_LINES]


def _is_visible(recalled: Recalled, visible: Collection[str]) -> bool:
    """Return whether a line stands in the visible conversation, or is a lesson that is still under way there."""
    refs = recalled.memory.source_refs
    seen = [ref in visible for ref in refs]
    return any(seen) if recalled.memory.role is MemoryRole.LESSON else bool(refs) and all(seen)


def fitted(remembered: Remembered, budget: int) -> Remembered:
    """Fit recalled items into a token budget: instructions and profile first, then the ledger, memories, facts.

    Parameters
    ----------
    remembered : Remembered, each kind most useful first
    budget : int, tokens of the whole block

    Source: spec 10.6.
    """
    bound = [e for e in remembered.ledger if e.category is LedgerCategory.INSTRUCTION]
    others = [e for e in remembered.ledger if e.category is not LedgerCategory.INSTRUCTION]
    names = [] if remembered.name is None else [remembered.name]
    asked = [] if remembered.question is None else [remembered.question]
    parts: list[tuple[str, Sequence[Any], list[str]]] = [
        ("ledger", bound, list(map(ledger_line, bound))),
        ("name", names, list(map(name_line, names))),
        ("profile", remembered.profile, [memory_line(each, remembered) for each in remembered.profile]),
        ("ledger", others, list(map(ledger_line, others))),
        ("weave", remembered.weave, ["\n".join(woven_lines(each)) for each in remembered.weave]),
        ("question", asked, list(map(question_line, asked))),
        ("memories", remembered.memories, [memory_line(each, remembered) for each in remembered.memories]),
        ("facts", remembered.facts, list(map(fact_line, remembered.facts))),
        ("turns", remembered.turns, list(map(turn_line, remembered.turns))),
    ]
    left = budget - FRAME - TITLE * sum(bool(held) for _, _, held in parts)
    lines = [line for _, _, held in parts for line in held]
    # Most of the time everything fits, and needs no counting.
    if sum(map(len, map(str.encode, lines))) <= left or sum(map(most_tokens, lines)) <= left:
        return remembered
    kept: dict[str, list[Any]] = {name: [] for name, _, _ in parts}
    for name, items, held in parts:
        reserved = max(0, left - round(PROFILE_SHARE * budget)) if name == "profile" else 0
        places, rest = _within(held, left - reserved)
        left = rest + reserved
        kept[name] += [items[place] for place in places]
    ids = {entry.id for entry in kept["ledger"]}
    return replace(
        remembered,
        ledger=tuple(entry for entry in remembered.ledger if entry.id in ids),
        name=next(iter(kept["name"]), None),
        question=next(iter(kept["question"]), None),
        profile=tuple(kept["profile"]),
        memories=tuple(kept["memories"]),
        weave=tuple(kept["weave"]),
        facts=tuple(kept["facts"]),
        turns=tuple(kept["turns"]),
    )


def _within(lines: Sequence[str], budget: int) -> tuple[list[int], int]:
    """Return the places of the lines that fit, and the remaining budget; lines are counted while another may fit."""
    kept: list[int] = []
    for start in range(0, len(lines), COUNTED):
        if budget < SHORTEST:
            break
        costs = count_tokens(lines[start : start + COUNTED])
        fit = fitting(costs, budget)
        kept += [start + i for i in fit]
        budget -= sum(costs[i] for i in fit)
    return kept, budget
