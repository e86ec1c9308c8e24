"""Ranking of context candidates, and the selection of the lines that a context shows (spec 10)."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from graphmem.maths.chances import logistic
from graphmem.model import (
    OF_A_SITTING,
    SHOWN_AT_WORK,
    AskedFor,
    Aspect,
    EdgeType,
    LedgerCategory,
    LedgerEntry,
    Memory,
    MemoryKind,
    MemoryRole,
    Recalled,
    Reliability,
    Remembered,
    SourceKind,
    Vector,
)
from graphmem.search.edges import EdgeTable, Reached
from graphmem.search.index import MAX_SNR, SearchIndex
from graphmem.search.scoring import Hit, fitting, gravity_now, mmr, weight
from graphmem.text.chunks import is_fragment, leans
from graphmem.text.contradiction import about_odds, telling_stems
from graphmem.text.doc import Doc
from graphmem.text.lexicon import FIRST_PERSON
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
from graphmem.text.pairs import gist, is_said_by
from graphmem.text.profile import ASKED_AS_WHOLE, LAST_SESSION, SINCE, SUCCEEDS, ProfilePart, load_profile_model

HOP = 0.5
"""Share of its seed's relevance that a memory found along edges gets, before the edges' weights are counted."""
DIVERSITY = 0.95
"""Weight of relevance against dissimilarity to the memories already chosen (MMR lambda)."""
UNFORMED_SHARE = 0.8
"""Share of its relevance that a message gets of which no memories are formed yet."""
NOT_FORMED = "said, not yet formed"
"""Reason of a message found in working memory."""
NO_LONGER, BY_MEANING = "held once", "near by meaning"
"""Reasons of a superseded memory, and of one found by its embedding alone."""
LOOKED_AT = 24
"""Memories nearest by meaning that are looked at."""
TOGETHER, SAME_SUBJECT = 0.25, 0.3
"""Likeness from which two statements of one message, or a statement and a later one that shares a telling word, are of
one subject."""
NEWEST = 2
"""Most later statements on its subject that are shown with one."""
PARTS_TOLD = 3
"""Most parts of a score that are reported as reasons."""
STANDING_PARTS = {ProfilePart.NEED: 3, ProfilePart.IDENTITY: 5, ProfilePart.GOAL: 3}
"""Most of each part of the standing profile."""
LATEST, TELLING = 300, 10
"""Newest memories looked at, and most of them shown, where all that is remembered is asked for."""
SURE_OF_WORK = 0.4
"""Chance from which on a statement reports a struggle or a strength of the student: of held-out ones 36 of 44 that have
it do, of 45. Chosen on them."""
_OF_WORK = {AskedFor.STRUGGLES: Aspect.MISCONCEPTION, AskedFor.STRENGTHS: Aspect.UNDERSTANDING}


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


@dataclass(frozen=True)
class Candidate:
    """A memory that may stand in a context, with its vector, how well it fits and what found it.

    formed : False of a message of which no memories are formed yet
    """

    memory: Memory
    vector: Vector
    relevance: float
    why: tuple[str, ...]
    formed: bool = True


def tentative_memories(unformed: Sequence[Hit], formed: Sequence[Hit], index: SearchIndex) -> tuple[Candidate, ...]:
    """Return messages that match, except messages whose memories were formed and found meanwhile.

    Parameters
    ----------
    unformed : hits among the messages, of `index`
    formed : hits among the memories
    """
    refs = {ref for hit in formed for ref in hit.memory.source_refs}
    pairs = ((hit, index.vector(hit.memory.id)) for hit in unformed if refs.isdisjoint(hit.memory.source_refs))
    return tuple(
        Candidate(hit.memory, vector, UNFORMED_SHARE * hit.relevance, (NOT_FORMED, *_reasons(hit)), formed=False)
        for hit, vector in pairs
        if vector is not None
    )


def ranked(
    hits: Sequence[Hit],
    reached: Sequence[Reached],
    index: SearchIndex,
    moment: datetime,
    limit: int,
    *,
    past: bool = False,
    tentative: Sequence[Candidate] = (),
    asked: Vector | None = None,
) -> list[Recalled]:
    """Return found memories and their graph neighbours, by weight, diverse.

    Parameters
    ----------
    hits : as the index found them, best first
    reached : what their edges lead to
    index : SearchIndex, only read
    moment : datetime, of which gravity is taken
    limit : int >= 0
    past : whether the moment is asked about, so that memories superseded since count
    tentative : messages that fit, of which no memories are formed yet
    asked : embedding of the question, which memories are compared with

    Source: spec 10.2, 10.4, 10.6.
    """
    relevance = {hit.memory.id: hit.relevance for hit in hits}
    found = [(hit.memory, hit.relevance, _reasons(hit)) for hit in hits]
    for way in reached:
        memory = index.get(way.id)
        if memory is not None and way.seed in relevance and is_valid(memory, moment):
            why = f"hop from {way.seed} by {' '.join(way.types)}"
            found.append((memory, HOP * way.weight * relevance[way.seed], (why,)))
    stands = (each for each in found if past or each[0].reliability is not Reliability.SUPERSEDED)
    pairs = ((index.vector(memory.id), memory, fit, why) for memory, fit, why in stands)
    held = [*(Candidate(m, vector, fit, why) for vector, m, fit, why in pairs if vector is not None), *tentative]
    if not held:
        return []
    present = [gravity_now(each.memory, moment) for each in held]
    weights = np.array(
        [weight(each.relevance, now, each.memory.reliability) for each, now in zip(held, present, strict=True)]
    )
    # Weights are of one question: the best one counts as 1.
    shares = weights / (weights.max() or 1.0)
    matrix = np.stack([each.vector for each in held])
    near = np.zeros(len(held)) if asked is None else matrix @ asked
    return [
        Recalled(
            memory=held[i].memory,
            weight=float(weights[i]),
            gravity=present[i],
            why=held[i].why,
            formed=held[i].formed,
            similarity=float(near[i]),
        )
        for i in mmr(shares, matrix, DIVERSITY, limit)
    ]


def judged(found: Sequence[Recalled], question: Doc, name: str | None = None) -> list[Recalled]:
    """Return lines with the chance that each is about the question (spec 10: only what helps).

    Parameters
    ----------
    found : with their similarity to the question
    question : Doc
    name : of the student, which is in most questions and tells nothing
    """
    asked = telling_stems(question) - Doc(name or "").stems
    best = max((each.weight for each in found), default=0.0) or 1.0
    odds = (about_odds(asked, each.memory.content or "", each.similarity, each.weight / best) for each in found)
    return [replace(each, chance=logistic(own)) for each, own in zip(found, odds, strict=True)]


def standing_profile(
    index: SearchIndex,
    parts: Mapping[str, tuple[ProfilePart, float]],
    moment: datetime,
    asked: Vector,
    *,
    past: bool = False,
) -> list[Recalled]:
    """Return needs, who the student is, goals; of each the newest, of a slot the last (spec 10.7).

    Parameters
    ----------
    index : SearchIndex, only read
    parts : by id, the part of the profile that a memory belongs to, with its chance
    moment : datetime; memories not valid then are left out
    asked : embedding of the question, which memories are compared with
    past : whether the moment is asked about
    """
    held = ((index.get(i), part, chance) for i, (part, chance) in parts.items())
    able = [(m, part, chance) for m, part, chance in held if m is not None and _stands(m, moment, past=past)]
    found: dict[ProfilePart, list[Recalled]] = {part: [] for part in STANDING_PARTS}
    slots: set[str] = set()
    for memory, part, chance in sorted(able, key=lambda each: each[0].timestamp, reverse=True):
        vector = index.vector(memory.id)
        full = len(found[part]) == STANDING_PARTS[part]
        if full or vector is None or memory.slot_key in slots or not tells_of_student(memory):
            continue
        slots |= set() if memory.slot_key is None else {memory.slot_key}
        why = (f"profile: {part} {chance:.2f}",)
        found[part].append(Recalled(memory, chance, gravity_now(memory, moment), why, similarity=float(vector @ asked)))
    return [recalled for recalls in found.values() for recalled in recalls]


def nearest_memories(index: SearchIndex, edges: EdgeTable, asked: Vector, moment: datetime) -> list[Recalled]:
    """Return the memories nearest to a question by embedding, also where they share no word with it.

    A superseded memory is one of them, a retracted or corrected one is not: it was never true.

    Parameters
    ----------
    index, edges : only read
    asked : embedding of the question
    moment : datetime
    """
    found = list[Recalled]()
    for memory, cosine in index.nearest(asked, LOOKED_AT):
        if memory.role in OF_A_SITTING or memory.timestamp > moment:
            continue
        holds = is_valid(memory, moment) and memory.reliability is not Reliability.SUPERSEDED
        if holds or _successors(memory, index, edges):
            why = BY_MEANING if holds else NO_LONGER
            found.append(Recalled(memory, 0.0, gravity_now(memory, moment), (why,), similarity=cosine))
    return found


def _successors(memory: Memory, index: SearchIndex, edges: EdgeTable) -> list[Memory]:
    """Return what took the place of a memory."""
    ids = [each.other_id for each in edges.of(memory.id) if each.outgoing and each.type == EdgeType.TEMPORAL_EVOLUTION]
    return [newer for i in ids if (newer := index.get(i)) is not None]


def wanted_memories(index: SearchIndex, moment: datetime, asked_for: AskedFor) -> list[Recalled]:
    """Return the memories that a question asks for as a whole: overview, struggles, strengths or last session.

    Of the life of the student the memories that say most, of their work the newest; nothing for any other question.
    """
    if asked_for is AskedFor.LAST_TIME:
        return last_session_memories(index, moment)
    held = [m for m in index.latest(LATEST) if _stands(m, moment, past=False)]
    if asked_for is AskedFor.OVERVIEW:
        life = sorted((m for m in held if m.kind is not MemoryKind.CONCEPT), key=lambda memory: -memory.snr)[:TELLING]
        known = {memory.id for memory in life}
        work = [m for m in held if m.aspect in SHOWN_AT_WORK and m.id not in known]
        return [_wanted(memory, moment) for memory in (*life, *work[: TELLING // 2])]
    told = told_of_work(index, held) if asked_for in _OF_WORK else {}
    own = sorted((m for m in held if told.get(m.id) == asked_for), key=lambda memory: memory.aspect is None)
    if asked_for is AskedFor.STRUGGLES and not own:
        # A misconception that was overcome is still an answer.
        own = [m for m in index.latest(LATEST) if m.aspect is Aspect.MISCONCEPTION and _was_overcome(m, moment)]
    return [_wanted(memory, moment) for memory in own[:TELLING]]


def told_of_work(index: SearchIndex, held: Sequence[Memory]) -> dict[str, AskedFor]:
    """Return, by id, which memories report struggles or strengths, as shown at work or as stated."""
    shown = {memory.id: part for memory in held for part, aspect in _OF_WORK.items() if memory.aspect is aspect}
    said = [m for m in held if m.aspect is None and m.role is MemoryRole.SAID]
    vectors = {m.id: vector for m in said if (vector := index.vector(m.id)) is not None}
    if not vectors:
        return shown
    parts = load_profile_model().of_work(np.stack(list(vectors.values())))
    sure = {i: part for i, (part, chance) in zip(vectors, parts, strict=True) if chance >= SURE_OF_WORK}
    return shown | {i: part for i, part in sure.items() if part in _OF_WORK}


def as_asked_for(
    found: Sequence[Recalled], index: SearchIndex, moment: datetime, asked_for: AskedFor, clear: Callable[[str], bool]
) -> list[Recalled]:
    """Return hits after the memories asked for as a whole, without hits of the opposite part.

    Parameters
    ----------
    found : best first
    index : SearchIndex, only read
    moment : datetime
    asked_for : part of memory that is asked for
    clear : true of the id of a memory that may be shown
    """
    if asked_for in (AskedFor.OTHER, AskedFor.OWN):
        return list(found)
    whole = [each for each in wanted_memories(index, moment, asked_for) if clear(each.memory.id)]
    if asked_for in _OF_WORK:
        told = told_of_work(index, [each.memory for each in found])
        found = [each for each in found if told.get(each.memory.id, asked_for) == asked_for]
        # A lesson does not tell how it went.
        found = [each for each in found if each.memory.role is not MemoryRole.LESSON]
    ids = {each.memory.id for each in whole}
    return [*whole, *(each for each in found if each.memory.id not in ids)]


def with_threads(
    found: Sequence[Recalled],
    likely: Sequence[Recalled],
    index: SearchIndex,
    edges: EdgeTable,
    moment: datetime,
    clear: Callable[[str], bool],
) -> list[Recalled]:
    """Return found lines, each likely one followed by its related statements, with the same chance.

    A statement shown alone may have changed since ("he is called Biscuit", "Biscuit died"), and a part of a message may
    hold no answer.

    Parameters
    ----------
    found : best first, with their chances
    likely : lines of `found` that are to be shown
    index, edges : only read
    moment : datetime
    clear : true of the id of a memory that may be shown

    Source: spec 10.6 (threads).
    """
    lines = dict[str, Recalled]()
    for each in likely:
        lines.setdefault(each.memory.id, each)
        related = _thread(each.memory, index, moment) if _is_statement(each.memory, moment) else ()
        newer = ((other, SUCCEEDS) for other in _successors(each.memory, index, edges) if is_valid(other, moment))
        for memory, why in (*newer, *related):
            if clear(memory.id) and memory.id not in lines:
                gravity, reasons = gravity_now(memory, moment), (f"{why} {each.memory.id}",)
                lines[memory.id] = replace(each, memory=memory, gravity=gravity, why=reasons)
    return [*lines.values(), *(each for each in found if each.memory.id not in lines)]


def _thread(memory: Memory, index: SearchIndex, moment: datetime) -> Iterable[tuple[Memory, str]]:
    """Return statements of the same message that belong to one, then the newest ones since on its subject."""
    said = Doc(memory.content or "")
    about, alone, since = telling_stems(said), not leans(said), list[Memory]()
    for other, cosine in index.nearest_to(memory.id, LOOKED_AT):
        if not _is_statement(other, moment):
            continue
        text = Doc(other.content or "")
        if other.timestamp == memory.timestamp and other.source_refs == memory.source_refs:
            if cosine >= TOGETHER or leans(text) or not alone:
                yield other, "beside"
        elif other.timestamp > memory.timestamp and cosine >= SAME_SUBJECT and about & telling_stems(text):
            since.append(other)
    yield from ((other, SINCE) for other in sorted(since, key=lambda other: other.timestamp)[-NEWEST:])


def _is_statement(memory: Memory, moment: datetime) -> bool:
    return memory.role is MemoryRole.SAID and _stands(memory, moment, past=False)


def last_session_memories(index: SearchIndex, moment: datetime) -> list[Recalled]:
    """Return memories of the day before this one on which the student last told something, oldest first."""
    earlier = (m for m in index.latest(LATEST) if m.timestamp.date() < moment.date())
    held = [m for m in earlier if _stands(m, moment, past=False) or _is_lesson(m, moment)]
    last = [m for m in held if m.timestamp.date() == held[0].timestamp.date()]
    best = sorted(sorted(last, key=lambda memory: -memory.snr)[:TELLING], key=lambda memory: memory.timestamp)
    return [replace(_wanted(memory, moment), why=(LAST_SESSION,)) for memory in best]


def tells_of_student(memory: Memory) -> bool:
    """Return whether a memory says something of the student: by name, in their first person, or as a teacher's note.

    "Allergies can be tough" is no need of who says so.
    """
    if not is_told(memory.content):
        return False
    if memory.source_kind is not SourceKind.CHAT or memory.slot_key is not None or not memory.quote:
        return True
    said = Doc(memory.quote)
    return not FIRST_PERSON.isdisjoint(said.plain_words) or is_fragment(said)


def is_told(text: str | None) -> bool:
    """Return whether there is something to be read: words fade, and what is left says nothing."""
    return any(map(str.isalnum, text or ""))


def secret_ids(memories: Iterable[Memory], ledger: Sequence[LedgerEntry]) -> frozenset[str]:
    """Return ids of memories that give away a secret of the ledger, though no entry of it may have surfaced.

    Parameters
    ----------
    memories : that may be shown
    ledger : every entry of the student that is active
    """
    secrets = [gist(entry.content or "") for entry in ledger if entry.category is LedgerCategory.SECRET]
    told = {memory.id: gist(memory.content or "") for memory in memories} if secrets else {}
    return frozenset(i for i, own in told.items() if any(is_said_by(s, own) or is_said_by(own, s) for s in secrets))


def is_valid(memory: Memory, moment: datetime) -> bool:
    """Return whether a memory was there at a moment and had not ended."""
    return memory.timestamp <= moment and (memory.invalid_at is None or memory.invalid_at > moment)


def _wanted(memory: Memory, moment: datetime) -> Recalled:
    return Recalled(memory, memory.snr / MAX_SNR, gravity_now(memory, moment), (ASKED_AS_WHOLE,), chance=1.0)


def _stands(memory: Memory, moment: datetime, *, past: bool) -> bool:
    """Return whether a memory may stand in a profile: what the student said or a teacher noted, and still holds."""
    told = memory.role is not MemoryRole.PROCEDURE
    own = told and (memory.speaker is None or memory.source_kind is SourceKind.TEACHER)
    held = past or memory.reliability in (Reliability.RELIABLE, Reliability.UNCERTAIN)
    said = own and held and memory.role not in OF_A_SITTING and is_valid(memory, moment)
    return said and not Doc(memory.content or "").asks


def _is_lesson(memory: Memory, moment: datetime) -> bool:
    return memory.role is MemoryRole.LESSON and is_valid(memory, moment)


def _was_overcome(memory: Memory, moment: datetime) -> bool:
    ended = memory.invalid_at is not None and memory.invalid_at <= moment
    return ended and memory.speaker is None and memory.reliability is Reliability.SUPERSEDED


def _reasons(hit: Hit) -> tuple[str, ...]:
    return tuple(f"{name} {part:.2f}" for name, part in list(hit.why.items())[:PARTS_TOLD])


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
