"""Decisions of recall, as pure functions: rank the memories found, and fit them into a budget (spec 10)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from graphmem.flows.gravity import gravity_now
from graphmem.maths.chances import logistic
from graphmem.model import (
    OF_A_SITTING,
    SHOWN_AT_WORK,
    AskedFor,
    Aspect,
    Fact,
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
from graphmem.search.edges import Reached
from graphmem.search.index import MAX_SNR, SearchIndex
from graphmem.search.query import Hit, SearchQuery
from graphmem.search.scoring import fitting, mmr, weight
from graphmem.text.answering import NEAREST, answer_fitness, asked_text
from graphmem.text.clauses import is_fragment
from graphmem.text.doc import Doc
from graphmem.text.habits import HABITS
from graphmem.text.lexicon import FIRST_PERSON
from graphmem.text.likeness import gist, is_said_by
from graphmem.text.memory_block import (
    fact_line,
    ledger_line,
    memory_line,
    name_line,
    question_line,
    turn_line,
    without_copies,
    woven_lines,
)
from graphmem.text.profile import ASKED_AS_WHOLE, LAST_SESSION, ProfilePart, load_profile_model
from graphmem.text.stems import stem
from graphmem.text.tokens import count_tokens, most_tokens
from graphmem.text.words import word_rarity

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
FRAME = 36
"""Tokens of the lines around the items: tags, date, heading; those of lines simply add up."""
TITLE = 10
"""Most tokens of the title of a part."""
LEAST_COSINE = 0.15
"""Cosine with the question from which on a memory may fit that has no telling word in common with it."""
HEAVY = 0.6
"""Share of the best memory's weight from which on another fits beside it, by what surrounds it."""
SURE_COSINE = 0.3
"""Cosine that one memory needs for any to be shown, where none has a telling word in common with the question."""
RARE_WORD = 2.8
"""Rarity from which on a common word tells that a memory has to do with a question."""
NEEDS, IDENTITIES, GOALS = 6, 5, 3
"""Most of what always comes: needs, who the student is, goals."""
ENDED_SHOWN = 3
"""Most memories of what holds no longer that a question for what is remembered brings."""
NO_LONGER = "held once"
"""Reason of those."""
PROFILE_SHARE = 0.25
"""Share of a budget that the standing profile takes at most, so that there is room for what fits the question."""
ANSWERS_READ = 24
"""Memories found, and memories nearest by meaning, that are read with a question for what was told."""
ANSWERING = "answers"
"""Reason of what answers it, before the chance that it does."""
LATEST, TELLING = 300, 10
"""Newest memories looked at, and most of them shown, where all that is remembered is asked for."""
SURE_OF_WORK = 0.4
"""Chance from which on a statement tells what is hard for the student, or what the student can do: of held-out ones 36
of 44 that have it do, of 45. Chosen on them."""
SURE_PART = 0.6
"""Chance from which on a statement belongs into the standing profile."""


def ranked(
    hits: Sequence[Hit],
    reached: Sequence[Reached],
    index: SearchIndex,
    moment: datetime,
    limit: int,
    *,
    past: bool = False,
    tentative: Sequence["Tentative"] = (),
    asked: Vector | None = None,
) -> list[Recalled]:
    """Found memories and what hangs together with them, by weight, diverse.

    Parameters
    ----------
    hits : as the index found them, best first
    reached : what their edges lead to
    index : SearchIndex, only read
    moment : datetime, of which gravity is taken
    limit : int >= 0
    past : whether the moment is asked about, so that what was superseded since counts
    tentative : messages that fit, of which no memories are formed yet
    asked : embedding of the question, which memories are compared with

    Source: spec 10.2, 10.4, 10.6.
    """
    relevance = {hit.memory.id: hit.relevance for hit in hits}
    found = [_Found(h.memory, h.relevance, h) for h in hits]
    for way in reached:
        memory = index.get(way.id)
        if memory is not None and way.seed in relevance and _is_valid(memory, moment):
            found.append(_Found(memory, HOP * way.weight * relevance[way.seed], way))
    told = _told_refs(each.memory for each in found)
    held = []
    for each in found:
        if _is_told_elsewhere(each.memory, told):
            continue
        vector = index.vector(each.memory.id)
        if vector is not None and (past or each.memory.reliability is not Reliability.SUPERSEDED):
            held.append((each, vector))
    held += [(_Found(t.hit.memory, t.relevance, t), t.vector) for t in tentative]
    if not held:
        return []
    weights = np.array([_weight(each, moment) for each, _ in held])
    # Weights are of one question: the best one counts as 1.
    shares = weights / (weights.max() or 1.0)
    matrix = np.stack([vector for _, vector in held])
    order = mmr(shares, matrix, DIVERSITY, limit)
    near = np.zeros(len(held)) if asked is None else matrix @ asked
    return [replace(_recalled(held[i][0], float(weights[i]), moment), similarity=float(near[i])) for i in order]


def _told_refs(memories: Iterable[Memory]) -> frozenset[str]:
    """The messages of which memories tell more than an episode's beginning."""
    told = (memory for memory in memories if memory.role is not MemoryRole.EPISODE)
    return frozenset(ref for memory in told for ref in memory.source_refs)


def _is_told_elsewhere(memory: Memory, told: frozenset[str]) -> bool:
    """True of an episode, which says in short what the memory of the message that began it says in full."""
    return memory.role is MemoryRole.EPISODE and told.issuperset(memory.source_refs)


def standing_profile(
    index: SearchIndex,
    parts: Mapping[str, tuple[ProfilePart, float]],
    moment: datetime,
    asked: Vector,
    *,
    past: bool = False,
) -> list[Recalled]:
    """What always comes: needs, who the student is, goals; of each the newest, of a slot the last (spec 10.7).

    Parameters
    ----------
    index : SearchIndex, only read
    parts : by id, the part of the profile that a memory belongs to, with its chance
    moment : datetime; what is not held then is left out
    asked : embedding of the question, which memories are compared with
    past : whether the moment is asked about
    """
    sure = ((index.get(i), part, chance) for i, (part, chance) in parts.items() if chance >= SURE_PART)
    held = [
        (m, part, chance)
        for m, part, chance in sure
        if m is not None and _stands(m, moment, past=past) and tells_of_student(m)
    ]
    held.sort(key=lambda each: each[0].timestamp, reverse=True)
    left = {ProfilePart.NEED: NEEDS, ProfilePart.IDENTITY: IDENTITIES, ProfilePart.GOAL: GOALS}
    found: dict[ProfilePart, list[Recalled]] = {part: [] for part in left}
    slots: set[str] = set()
    for memory, part, chance in held:
        vector = index.vector(memory.id)
        if len(found[part]) == left[part] or vector is None or memory.slot_key in slots:
            continue
        slots |= set() if memory.slot_key is None else {memory.slot_key}
        why = (f"profile: {part} {chance:.2f}",)
        memory = as_held_at(memory, moment)
        found[part].append(Recalled(memory, chance, gravity_now(memory, moment), why, similarity=float(vector @ asked)))
    return [recalled for recalls in found.values() for recalled in recalls]


def ended_memories(index: SearchIndex, query: SearchQuery, asked: Vector) -> list[Recalled]:
    """What held once and does no longer, where somebody asks for what is remembered: "who was it before?".

    What was taken back or put right never held, and was not put into the past: it stays away.

    Parameters
    ----------
    query : SearchQuery, of what holds
    asked : embedding of the question, which memories are compared with
    """
    found = []
    for hit in index.search(replace(query, ended=True, limit=ENDED_SHOWN)):
        vector = index.vector(hit.memory.id)
        similarity = 0.0 if vector is None else float(vector @ asked)
        if hit.memory.original is not None and similarity >= SURE_COSINE:
            gravity = gravity_now(hit.memory, query.now)
            found.append(Recalled(hit.memory, hit.relevance, gravity, (NO_LONGER,), similarity=similarity))
    return found


def answering_memories(
    index: SearchIndex, question: Doc, asked: Vector, found: Sequence[Recalled], moment: datetime
) -> list[Recalled]:
    """What answers a question for what the student told, likeliest first, also where it shares no word with it.

    Parameters
    ----------
    index : SearchIndex, only read
    question : Doc
    asked : its embedding
    found : what search found, best first
    moment : datetime; what is not held then is left out
    """
    known = {each.memory.id: each for each in found[:ANSWERS_READ]}
    for memory, cosine in index.nearest(asked, ANSWERS_READ):
        if memory.id not in known and _is_valid(memory, moment) and memory.reliability is not Reliability.SUPERSEDED:
            known[memory.id] = Recalled(memory, 0.0, gravity_now(memory, moment), (), similarity=cosine)
    # What others say is told by words: the network has learned from what students tell of themselves.
    told = [each for each in known.values() if each.memory.is_own_word]
    texts = [each.memory.content or "" for each in told]
    fitness = answer_fitness(asked_text(question), texts, [each.similarity for each in told])
    answering = sorted(zip(fitness, told, strict=True), key=lambda pair: -pair[0])
    return [_answering(each, logistic(fit)) for fit, each in answering if fit >= NEAREST]


def _answering(recalled: Recalled, chance: float) -> Recalled:
    return replace(recalled, weight=recalled.weight or chance, why=(*recalled.why, f"{ANSWERING} {chance:.2f}"))


def wanted_memories(index: SearchIndex, moment: datetime, asked_for: AskedFor) -> list[Recalled]:
    """What is asked for as a whole: all that is remembered, what is hard, what the student can do, or the last time.

    Of the life of the student the memories that say most, of their work the newest; none where nothing whole is asked
    for.
    """
    if asked_for is AskedFor.LAST_TIME:
        return last_session_memories(index, moment)
    held = [m for m in index.latest(LATEST) if _stands(m, moment, past=False)] if asked_for in _ASPECTS else []
    work = [m for m in held if m.aspect in _ASPECTS[asked_for]] if held else []
    told = _told_of_work(index, held, asked_for)
    if asked_for is AskedFor.STRUGGLES and not (work or told):
        # What was hard and is understood by now was hard all the same.
        work = [m for m in index.latest(LATEST) if m.aspect is Aspect.MISCONCEPTION and _was_overcome(m, moment)]
    if asked_for is not AskedFor.OVERVIEW:
        return [_wanted(memory, moment) for memory in (*work[:TELLING], *told[: TELLING // 2])]
    life = sorted((m for m in held if m.kind is not MemoryKind.CONCEPT), key=lambda memory: -memory.snr)[:TELLING]
    known = {memory.id for memory in life}
    return [_wanted(m, moment) for m in (*life, *(m for m in work[: TELLING // 2] if m.id not in known))]


def contrary_ids(index: SearchIndex, moment: datetime, asked_for: AskedFor) -> set[str]:
    """Ids of statements of what is hard where it is asked what the student can do, and the other way round."""
    contrary = {AskedFor.STRUGGLES: AskedFor.STRENGTHS, AskedFor.STRENGTHS: AskedFor.STRUGGLES}.get(asked_for)
    held = [m for m in index.latest(LATEST) if _stands(m, moment, past=False)] if contrary else []
    return {memory.id for memory in _told_of_work(index, held, contrary)} if contrary else set()


def _told_of_work(index: SearchIndex, held: Sequence[Memory], asked_for: AskedFor) -> list[Memory]:
    """Statements that tell what is hard, or what the student can do, before any work shows it, surest first."""
    if asked_for not in (AskedFor.STRUGGLES, AskedFor.STRENGTHS):
        return []
    said = [m for m in held if m.aspect is None and m.role is MemoryRole.SAID]
    vectors = [(m, vector) for m in said if (vector := index.vector(m.id)) is not None]
    if not vectors:
        return []
    parts = load_profile_model().of_work(np.stack([vector for _, vector in vectors]))
    sure = [
        (chance, memory)
        for (memory, _), (part, chance) in zip(vectors, parts, strict=True)
        if part is asked_for and chance >= SURE_OF_WORK
    ]
    return [memory for _, memory in sorted(sure, key=lambda each: -each[0])]


_ASPECTS: Mapping[AskedFor, Collection[Aspect | None]] = {
    AskedFor.OVERVIEW: SHOWN_AT_WORK,
    AskedFor.STRUGGLES: (Aspect.MISCONCEPTION,),
    AskedFor.STRENGTHS: (Aspect.UNDERSTANDING,),
}
"""What is asked for as a whole, and which memories of work tell it."""


def answers_asked(memory: Memory, asked_for: AskedFor) -> bool:
    """False of what was misunderstood where the student's strengths are asked for, and the other way round.

    Nor does a lesson tell how it went.
    """
    if asked_for in (AskedFor.STRUGGLES, AskedFor.STRENGTHS) and memory.role is MemoryRole.LESSON:
        return False
    of_work = memory.aspect in _ASPECTS[AskedFor.OVERVIEW]
    return asked_for not in _ASPECTS or not of_work or memory.aspect in _ASPECTS[asked_for]


def habit_answers_asked(fact: Fact, asked_for: AskedFor) -> bool:
    """False of a habit that is a weakness where the student's strengths are asked for, and the other way round."""
    habit = HABITS.get(fact.habit)
    return habit is None or asked_for is not (AskedFor.STRUGGLES if habit.strong else AskedFor.STRENGTHS)


def _wanted(memory: Memory, moment: datetime) -> Recalled:
    return Recalled(memory, memory.snr / MAX_SNR, gravity_now(memory, moment), (ASKED_AS_WHOLE,))


def last_session_memories(index: SearchIndex, moment: datetime) -> list[Recalled]:
    """Memories of the day before this one on which the student last told something, oldest first."""
    earlier = (m for m in index.latest(LATEST) if m.timestamp.date() < moment.date())
    held = [m for m in earlier if _stands(m, moment, past=False) or _is_lesson(m, moment)]
    last = [m for m in held if m.timestamp.date() == held[0].timestamp.date()]
    best = sorted(sorted(last, key=lambda memory: -memory.snr)[:TELLING], key=lambda memory: memory.timestamp)
    return [Recalled(m, m.snr / MAX_SNR, gravity_now(m, moment), (LAST_SESSION,)) for m in best]


def _stands(memory: Memory, moment: datetime, *, past: bool) -> bool:
    """True if a memory may stand in a profile: what the student said or a teacher noted, and still holds."""
    told = memory.role is not MemoryRole.PROCEDURE
    own = told and (memory.speaker is None or memory.source_kind is SourceKind.TEACHER)
    held = past or memory.reliability in (Reliability.RELIABLE, Reliability.UNCERTAIN)
    said = own and held and memory.role not in OF_A_SITTING and _is_valid(memory, moment)
    return said and not Doc(memory.content or "").asks


def tells_of_student(memory: Memory) -> bool:
    """True if a memory says something, and of the student: by name, in their own first person, or as a teacher's note.

    "Allergies can be tough" is no need of who says so.
    """
    if not is_told(memory.content):
        return False
    if memory.source_kind is not SourceKind.CHAT or memory.slot_key is not None or not memory.quote:
        return True
    said = Doc(memory.quote)
    return not FIRST_PERSON.isdisjoint(said.plain_words) or is_fragment(said)


def is_told(text: str | None) -> bool:
    """True if there is something to be read: words fade, and what is left says nothing."""
    return any(map(str.isalnum, text or ""))


def secret_ids(memories: Iterable[Memory], ledger: Sequence[LedgerEntry]) -> frozenset[str]:
    """Ids of memories that give away a secret of the ledger, though no entry of it may have surfaced.

    Parameters
    ----------
    memories : that may be shown
    ledger : every entry of the student that is active
    """
    secrets = [gist(entry.content or "") for entry in ledger if entry.category is LedgerCategory.SECRET]
    told = {memory.id: gist(memory.content or "") for memory in memories} if secrets else {}
    return frozenset(i for i, own in told.items() if any(is_said_by(s, own) or is_said_by(own, s) for s in secrets))


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


def relevant(recalled: Sequence[Recalled], asked: frozenset[str], *, own: bool = False) -> tuple[Recalled, ...]:
    """The memories that have to do with a question, in order: an empty context is a good one (spec 10.7).

    Parameters
    ----------
    recalled : with their similarity
    asked : stems of its telling words, without the student's name, which stands in most memories
    own : the question asks for something that the student told

    Notes
    -----
    One fits by meaning from a cosine of 0.15 on, or by a telling word in common; none does where none is near (0.3) and
    none has such a word, unless it is asked for. What weighs nearly as much as the best fits by what surrounds it, what
    an edge leads to where its seed does, and what is of a time that the question names.
    """
    shares = {r.memory.id for r in recalled if not asked.isdisjoint(_stems(r.memory)) or _is_of_time(r)}
    if not recalled or not (shares or own or any(r.similarity >= SURE_COSINE for r in recalled)):
        return ()
    heavy = HEAVY * max(r.weight for r in recalled)
    shares |= {r.memory.id for r in recalled if LAST_SESSION in r.why or ASKED_AS_WHOLE in r.why}
    shares |= {r.memory.id for r in recalled if any(why.startswith(ANSWERING) for why in r.why)}
    near = shares | {r.memory.id for r in recalled if r.similarity >= LEAST_COSINE or r.weight >= heavy}
    return tuple(r for r in recalled if r.memory.id in near or _seed(r) in near)


def telling_stems(text: Doc) -> frozenset[str]:
    """Stems of the words of a text that are rare enough to tell what it is about."""
    words = (word for word in text.excerpt.plain_words if word[0].isalpha() and word_rarity(word) >= RARE_WORD)
    return frozenset(map(stem, words))


def _seed(recalled: Recalled) -> str:
    """Id of the memory whose edges led to one; empty where none did."""
    words = recalled.why[0].split() if recalled.why else []
    return words[2] if words[:2] == ["hop", "from"] else ""


def _is_of_time(recalled: Recalled) -> bool:
    return any(reason.startswith("time ") for reason in recalled.why)


def _stems(memory: Memory) -> frozenset[str]:
    return Doc(memory.content or "").excerpt.stems


def shown(remembered: Remembered, question: Doc, visible: Mapping[str, str], budget: int) -> Remembered:
    """What a companion is shown: relevant, nothing twice, nothing that stands in the conversation, within a budget.

    Parameters
    ----------
    remembered : Remembered, each kind most useful first
    question : Doc
    visible : by turn id, what the student said in the visible conversation
    budget : int, tokens of the whole block

    Source: spec 10.7.
    """
    asked_all = remembered.asked_for is AskedFor.OVERVIEW
    own = remembered.asked_for is not AskedFor.OTHER
    asked = telling_stems(question) - Doc(remembered.name or "").stems
    fitting = remembered.memories if asked_all else relevant(remembered.memories, asked, own=own)
    # An episode is a heading: its memories stand by themselves.
    telling = [r for r in fitting if r.memory.role is not MemoryRole.EPISODE and is_told(r.memory.content)]
    memories = tuple(r for r in telling if not _is_visible(r, visible))
    profile = tuple(
        r
        for r in remembered.profile
        if not _is_visible(r, visible) and r.memory.id not in remembered.secrets and is_told(r.memory.content)
    )
    ledger = tuple(entry for entry in remembered.ledger if is_told(entry.content))
    facts = tuple(
        fact
        for fact in remembered.facts
        # What fits by its meaning says why.
        if fact.is_habit or asked_all or fact.id in remembered.why or not asked.isdisjoint(Doc(fact.text).stems)
    )
    whole = without_copies(
        replace(remembered, memories=memories, profile=profile, ledger=ledger, facts=facts), tuple(visible.values())
    )
    reasons = {fact.id: (f"fits {', '.join(fact.tags[:2])}",) for fact in whole.facts} | dict(remembered.why)
    return fitted(replace(whole, why=reasons), budget)


def _is_visible(recalled: Recalled, visible: Collection[str]) -> bool:
    """True of what stands in the visible conversation, and of a lesson that is still under way there."""
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
        profile=tuple(kept["profile"]),
        memories=tuple(kept["memories"]),
        weave=tuple(kept["weave"]),
        question=next(iter(kept["question"]), None),
        facts=tuple(kept["facts"]),
        turns=tuple(kept["turns"]),
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


def _weight(found: _Found, moment: datetime) -> float:
    memory = found.memory
    return weight(found.relevance, memory.modality, gravity_now(memory, moment), memory.reliability)


def _recalled(found: _Found, weighs: float, moment: datetime) -> Recalled:
    memory, formed = found.memory, not isinstance(found.by, Tentative)
    return Recalled(as_held_at(memory, moment), weighs, gravity_now(memory, moment), _reasons(found.by), formed)


def as_held_at(memory: Memory, moment: datetime) -> Memory:
    """A memory as it was worded at a moment at which it still held."""
    held = memory.invalid_at is not None and memory.invalid_at > moment
    return memory if memory.original is None or not held else replace(memory, content=memory.original)


def _is_lesson(memory: Memory, moment: datetime) -> bool:
    return memory.role is MemoryRole.LESSON and _is_valid(memory, moment)


def _was_overcome(memory: Memory, moment: datetime) -> bool:
    ended = memory.invalid_at is not None and memory.invalid_at <= moment
    return ended and memory.speaker is None and memory.reliability is Reliability.SUPERSEDED


def _is_valid(memory: Memory, moment: datetime) -> bool:
    return memory.timestamp <= moment and (memory.invalid_at is None or memory.invalid_at > moment)


def _reasons(by: Hit | Reached | Tentative) -> tuple[str, ...]:
    if isinstance(by, Tentative):
        return (NOT_FORMED, *_reasons(by.hit))
    if isinstance(by, Reached):
        return (f"hop from {by.seed} by {' '.join(by.types)}",)
    return tuple(f"{name} {part:.2f}" for name, part in list(by.why.items())[:PARTS_TOLD])
