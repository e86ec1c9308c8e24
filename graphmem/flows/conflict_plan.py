"""Decisions about what may contradict what, as pure functions: which statements are compared, what a verdict means.

Only statements that could replace each other are compared: of one slot, or near in meaning where something parts them
(spec 12).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from graphmem.model import (
    Memory,
    MemoryRole,
    PairClass,
    PairVerdict,
    Reliability,
    StatementOnRecord,
    StatementPair,
    Uncertainty,
    Vector,
)
from graphmem.search.index import SearchIndex
from graphmem.text.contradiction import ENDED_FOR_SURE
from graphmem.text.doc import Doc
from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.revision import Effect, Revisable, effect, holds_several

SAME_MATTER = 0.5
"""Cosine from which two statements may be about one matter."""
WORTH_A_LOOK = 0.25
"""Cosine of a message in the student's own words from which it is retold, to be compared with retold statements."""
NEAR_COMPARED = 8
"""Nearest memories among which candidates are looked for."""
MOST_CANDIDATES = 2
"""Candidates of one statement, the nearest."""
CONTRADICTORY = 0.75
"""Chance that both cannot be so, from which two statements contradict each other; doubt keeps both."""
SUSPECTED = 0.3
"""Chance of anything to be resolved from which a language model is asked about a pair, too."""
OPPOSITE_FEELING = 0.3
"""Difference of valence from which two feelings of opposite sign part two statements."""

_NUMBERS = re.compile(r"\d+(?:[.,/:]\d+)*|[-+*/=<>×÷]")


def words_of(memory: Memory) -> str:
    """The words a memory comes from, where they are kept; else its content."""
    return memory.quote or memory.content or ""


def on_record(memory: Memory) -> StatementOnRecord:
    """A memory as it is compared with another one."""
    return StatementOnRecord(
        words_of(memory),
        memory.timestamp,
        memory.role is MemoryRole.SAID,
        memory.confidence,
        memory.reinforcement_count,
        memory.source_kind,
    )


def revisable(memory: Memory, vector: Vector | None, slot: str | None = None, slot_key: str | None = None) -> Revisable:
    """A memory as a new statement is compared with it.

    Parameters
    ----------
    memory : Memory
    vector : its embedding
    slot : of the new statement, which counts where the memory is of the same
    slot_key : the same as memories have it
    """
    same = slot if memory.slot_key is not None and memory.slot_key == slot_key else None
    content = memory.content or ""
    return Revisable(content, words_of(memory), memory.timestamp, memory.aspect, same, memory.valence, vector)


def states_something(memory: Memory) -> bool:
    """True if a memory states one thing that holds as far as is known, and is no step of a lesson, plan or feeling.

    Of several statements in one, such as a whole message that was observed, what ends one does not end the others.
    """
    states = memory.role in (MemoryRole.SAID, MemoryRole.BELIEF) and memory.aspect is None
    holds = memory.invalid_at is None and memory.reliability is Reliability.RELIABLE
    return states and holds and not holds_several(words_of(memory))


def slots_differ(one: str | None, other: str | None) -> bool:
    """True of two attributes: a home says nothing of a favourite colour, however much their wordings are alike."""
    return one is not None and other is not None and one != other


@dataclass(frozen=True)
class NewStatement:
    """A statement that may replace or contradict what is known.

    valence : -1 to 1
    vector : its embedding
    """

    text: str = field(repr=False)
    at: datetime
    vector: Vector = field(repr=False)
    valence: float
    slot_key: str | None = None
    speaker: str | None = None


def conflict_candidates(
    known: SearchIndex, said: NewStatement, doubts: Iterable[Uncertainty], most: int = MOST_CANDIDATES
) -> list[Memory]:
    """Memories that a new statement may replace or contradict, the nearest first; none that is in doubt.

    Parameters
    ----------
    known : SearchIndex; only read
    said : NewStatement
    doubts : that are not settled
    most : how many at most

    Source: spec 12 (only memories that could replace each other are compared).
    """
    doubted = {i for doubt in doubts if not doubt.is_about_relationships for i in (doubt.a_id, doubt.b_id)}
    # Of several statements each is compared by itself, once it is formed: read together they seem to contradict a lot.
    near = [] if holds_several(said.text) else known.nearest(said.vector, NEAR_COMPARED)
    of_slot = known.of_slot(said.slot_key)[-most:] if said.slot_key is not None else []
    found = {m.id: m for m, cosine in near if cosine >= SAME_MATTER and _parts_from(m, said)}
    found |= {memory.id: memory for memory in of_slot}
    return [memory for memory in found.values() if memory.id not in doubted and _comparable(memory, said)][:most]


def is_decided(said: Revisable, slot_key: str | None, memory: Memory, vector: Vector | None) -> bool:
    """True if words alone say what a new statement does to a memory: it says the same, refines, ends or corrects it.

    Parameters
    ----------
    said : Revisable
    slot_key : of its slot, as memories have it
    memory : that it is compared with
    vector : its embedding
    """
    old = revisable(memory, vector, said.slot, slot_key)
    cosine = 0.0 if said.vector is None or vector is None else float(said.vector @ vector)
    return effect(said, old, cosine) not in (Effect.NONE, Effect.CONTRADICTS)


def may_touch(known: SearchIndex, said: NewStatement) -> bool:
    """True if a message that is not retold yet may have candidates."""
    if said.slot_key is not None and known.of_slot(said.slot_key):
        return True
    return any(
        cosine >= WORTH_A_LOOK and _parts_from(m, said) for m, cosine in known.nearest(said.vector, NEAR_COMPARED)
    )


def _comparable(memory: Memory, said: NewStatement) -> bool:
    before = memory.speaker == said.speaker and memory.timestamp <= said.at
    of_one = before and not slots_differ(memory.slot_key, said.slot_key)
    return of_one and states_something(memory) and words_of(memory) != said.text


def _parts_from(memory: Memory, said: NewStatement) -> bool:
    return texts_diverge((words_of(memory), memory.valence), (said.text, said.valence))


def diverges(a: Memory, b: Memory) -> bool:
    """True if two memories part in numbers, names, what they deny, or in the feeling."""
    return texts_diverge((a.content or "", a.valence), (b.content or "", b.valence))


def texts_diverge(a: tuple[str, float], b: tuple[str, float]) -> bool:
    """True if two texts, each with its valence, part in numbers, names, what they deny, or in the feeling.

    Source: spec 12 (only memories that could replace each other are compared).
    """
    (one, feeling), (other, another) = a, b
    names = [
        frozenset(w for w in Doc(text).words[1:] if w[:1].isupper() and w.casefold() not in STOP_WORDS)
        for text in (one, other)
    ]
    opposite = feeling * another < 0 and abs(feeling - another) > OPPOSITE_FEELING
    return opposite or names[0] != names[1] or not said_the_same(one, other)


def said_the_same(a: str, b: str) -> bool:
    """True if two like texts have the same numbers, signs and negations, in order.

    Examples
    --------
    >>> said_the_same("12 - 3 = 9 spoons", "That is 12 - 3 = 9"), said_the_same("12 - 3 = 9", "12 + 3 = 15")
    (True, False)
    >>> said_the_same("I like it", "I don't like it")
    False
    """
    return _NUMBERS.findall(a) == _NUMBERS.findall(b) and Doc(a).negates == Doc(b).negates


def is_contradiction(verdict: PairVerdict) -> bool:
    """True if a verdict finds for sure that two statements cannot both be so.

    Examples
    --------
    >>> is_contradiction(PairVerdict(PairClass.TRUE_CONTRADICTION, 0.6, 0.5, 0.9))
    True
    """
    return verdict.kind is PairClass.TRUE_CONTRADICTION and verdict.opposed >= CONTRADICTORY


def is_change(verdict: PairVerdict) -> bool:
    """True if a verdict finds for sure that the older statement holds no longer, since life has changed.

    Examples
    --------
    >>> is_change(PairVerdict(PairClass.TEMPORAL_CHANGE, 0.7, 0.9, 0.9)), is_change(
    ...     PairVerdict(PairClass.TEMPORAL_CHANGE, 0.7, 0.5, 0.9)
    ... )
    (True, False)
    """
    return verdict.kind is PairClass.TEMPORAL_CHANGE and verdict.ended >= ENDED_FOR_SURE


def pair_of(a: Memory, b: Memory) -> StatementPair:
    """Two memories as a mind is asked about them, the older one first."""
    old, new = sorted((a, b), key=lambda memory: (memory.timestamp, memory.id))
    return StatementPair(on_record(old), on_record(new))
