"""Decisions of the response to a surprise, as pure functions: its episode, beliefs, links and actions (spec 5)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC

from graphmem.flows.detection_plan import said_the_same
from graphmem.flows.facts import learned
from graphmem.flows.formation_reading import STRENGTH, Reading
from graphmem.maths.salience import salience
from graphmem.model import (
    Analysis,
    Belief,
    BeliefUpdate,
    Domain,
    EdgeType,
    Fact,
    Level,
    Memory,
    MemoryKind,
    MemoryRole,
    Modality,
    Question,
    Reliability,
    Revision,
    SourceKind,
    Strategy,
    SurpriseAction,
    SurpriseResponse,
    Vector,
)
from graphmem.model.memory import blank_memory, offset_of
from graphmem.search.index import SearchIndex
from graphmem.store.changes import Changes, New, NewEdge, NewQuestion, Origin, Span, Update, renewed
from graphmem.store.jobs import SurpriseJob
from graphmem.text.information import information
from graphmem.text.normalize import said
from graphmem.text.sanitize import quoted

MOST_FACTS = {Level.NORMAL: 0, Level.BOUNDARY: 10, Level.COGNITIVE_DISSONANCE: 20, Level.PARADIGM_SHIFT: 30}
"""Facts extracted at most, by level."""
SAME_COSINE = 0.95
"""Cosine from which two memories with the same numbers, negations and speaker say the same thing."""
LINKED = 5
"""Prior memories that a paradigm shift is linked to."""
BELIEFS = 10
"""Beliefs that a mind is shown, the nearest."""
NEAR = 0.2
"""Cosine from which a belief is near a message: its statement in the third person is farther than its words."""
BELIEF_CANDIDATES = 50
"""Memories among which beliefs are looked for."""
BELIEVED = (MemoryKind.TRAIT, MemoryKind.CONCEPT)


@dataclass(frozen=True)
class Worded:
    """A content to be remembered: its embedding, its domain, how pleasant it sounds, and its keyed hash.

    own_hash : the same of this very surprise, where `content_hash` belongs to a memory that holds no longer
    """

    content: str = field(repr=False)
    vector: Vector = field(repr=False)
    domain: Domain
    valence: float
    content_hash: str
    own_hash: str


@dataclass(frozen=True)
class Understood:
    """Everything that was found out about one surprise, before it becomes what is written.

    seq : of the turn; ids are made with it
    episode : how the episode is remembered
    updates : how each new understanding of the analysis is remembered, in order
    procedure : how to go about such a situation, where the reflection says so
    facts : known ones, newest first
    """

    seq: int
    job: SurpriseJob
    snr: int
    analysis: Analysis
    episode: Worded
    updates: tuple[Worded, ...]
    vector: Vector = field(repr=False)
    procedure: Worded | None = None
    inferred_by: str = "offline"
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True)
class Made:
    """A memory that a surprise leaves: its place in the graph and in the message."""

    id: str
    role: MemoryRole
    span: Span
    modality: Modality
    kind: MemoryKind
    confidence: float = 0.7


def beliefs_near(vector: Vector, job: SurpriseJob, known: SearchIndex) -> tuple[Belief, ...]:
    """Prior beliefs near a message, nearest first; none that was formed of it, or had ended before it.

    Those that formation has ended by what the message says come first, however near they are.
    """
    near = [
        (memory, cosine) for memory, cosine in known.nearest(vector, BELIEF_CANDIDATES) if _held_before(memory, job)
    ]
    found = [memory for memory, cosine in near if _is_belief(memory) and (cosine >= NEAR or _ended_by(memory, job))]
    found.sort(key=lambda memory: not _ended_by(memory, job))
    return tuple(
        Belief(memory.id, memory.content or "", memory.kind, memory.confidence, memory.quote)
        for memory in found[:BELIEFS]
    )


def planned_response(understood: Understood, known: SearchIndex, version: int) -> Changes:
    """Return everything that follows one surprise, by its level.

    Parameters
    ----------
    understood : Understood
    known : SearchIndex, the student's memories as of `version`; only read

    Source: spec 5.
    """
    job, analysis, level = understood.job, understood.analysis, understood.job.level
    episode = _new_episode(understood)
    new, edges, revisions = [episode], list[NewEdge](), list[Revision]()
    shaken = level in (Level.COGNITIVE_DISSONANCE, Level.PARADIGM_SHIFT)
    shifted = level is Level.PARADIGM_SHIFT
    if shaken:
        for place, (update, worded) in enumerate(zip(analysis.updates, understood.updates, strict=True), 1):
            revision = _revision(understood, place, update, worded, known, new)
            if revision is not None:
                revisions.append(revision)
                edges += _revision_edges(revision, update, job, known)
    if shifted and understood.procedure is not None:
        procedure_id = _procedure(understood, understood.procedure, known, new)
        edges.append(NewEdge(episode.memory.id, procedure_id, EdgeType.ENABLES, 1.0))
    linked = tuple(_prior_links(understood, known)) if shifted else ()
    edges += linked
    facts = new_facts(understood, known)
    questions = tuple(_questions(understood, "question", understood.analysis.questions)) if shifted else ()
    reflected = (analysis.reflection.text,) if shifted and analysis.reflection is not None else ()
    reflections = _questions(understood, "reflection", reflected)
    flashbulbs = tuple(memory.id for memory in _said_then(job, known)) if shifted else ()
    actions = _actions(understood, episode.memory.id, facts, revisions, flashbulbs, linked)
    closed = tuple(dict.fromkeys(r.prior_id for r in revisions if r.prior_id is not None))
    return Changes(
        known=version,
        inferred_by=understood.inferred_by,
        origin=Origin(SourceKind.CHAT, job.turn_id),
        response=SurpriseResponse(
            level, job.signal, analysis.explanation, analysis.strategy, tuple(revisions), actions, offline=True
        ),
        rows=(
            *_overtaken(new, job, known),
            *edges,
            *renewed(closed, invalid_at=job.at, reliability=Reliability.SUPERSEDED),
            *(Update(memory_id, {"kind": kind}) for memory_id, kind in _believed(revisions, analysis.updates, known)),
            *renewed(flashbulbs, flashbulb=True),
            *facts,
            *map(NewQuestion, questions),
            *(NewQuestion(each, is_reflection=True) for each in reflections),
        ),
    )


def with_response(changes: Changes, reading: Reading, known: SearchIndex) -> Changes:
    """Add the response to a surprise whose consequences a mind named with its notes; its first memory keeps it.

    Nothing is added where the message is ordinary, or the mind found nothing in it worth a memory.

    Parameters
    ----------
    changes : Changes, what is formed of the message
    reading : Reading, of a mind that links its notes
    known : SearchIndex, the student's memories before

    Source: spec 5, 17.
    """
    level, signal = reading.scores.level, reading.scores.surprise
    if level is None or level is Level.NORMAL or signal is None or not changes.of(New):
        return changes
    lesson, violated = reading.lesson, reading.heard.violated
    foreseen = f"Expected {quoted(violated.predicted)}" if violated is not None else "Nothing else was expected"
    explanation = f"{foreseen}, heard {quoted(reading.heard.text)} (signal {signal:.2f})."
    revisions = tuple(_named_revisions(changes, known))
    actions = tuple(_named_actions(changes, reading, revisions, known))
    strategies = {
        "update_beliefs": Strategy.CONNECT_PRIOR,
        "queue_questions": Strategy.ASK_FOLLOW_UP_QUESTIONS,
        "self_reflect": Strategy.SELF_REFLECT,
    }
    strategy = next((strategies[each.kind] for each in actions if each.kind in strategies), Strategy.NONE)
    if lesson is not None:
        explanation = f"{explanation} {lesson.text}"
        strategy = Strategy.DEEP_EXTRACTION if strategy is Strategy.NONE else strategy
    return replace(changes, response=SurpriseResponse(level, signal, explanation, strategy, revisions, actions))


def _named_revisions(changes: Changes, known: SearchIndex) -> Iterator[Revision]:
    """Beliefs that the notes of a message end or refine."""
    new = {each.memory.id: each.memory for each in changes.of(New)}
    for edge in changes.of(NewEdge):
        ends = {EdgeType.TEMPORAL_EVOLUTION: (edge.from_id, edge.to_id), EdgeType.REFINES: (edge.to_id, edge.from_id)}
        prior_id, new_id = ends.get(edge.type, ("", ""))
        prior, now = known.get(prior_id), new.get(new_id)
        if prior is not None and now is not None and prior.kind in BELIEVED:
            delta = now.confidence - prior.confidence
            yield Revision(prior.id, now.id, prior.content or "", now.content or "", delta)


def _named_actions(
    changes: Changes, reading: Reading, revisions: Sequence[Revision], known: SearchIndex
) -> Iterator[SurpriseAction]:
    """What was done about a surprise; an action that found nothing to do is left out, but for the facts."""
    yield SurpriseAction("extract_facts", fact_count=len(changes.of(Fact)))
    if revisions:
        yield SurpriseAction("update_beliefs", episode_ids=tuple(revision.new_id for revision in revisions))
    if lit := tuple(each.memory.id for each in changes.of(New) if each.memory.flashbulb):
        yield SurpriseAction("flashbulb", episode_ids=lit)
    prior = (each.to_id for each in changes.of(NewEdge) if known.get(each.to_id) is not None)
    if linked := tuple(dict.fromkeys(prior)):
        yield SurpriseAction("connect_prior", episode_ids=linked)
    if changes.questions:
        yield SurpriseAction("queue_questions", questions=tuple(each.text for each in changes.questions))
    if reading.teach is not None:
        yield SurpriseAction("self_reflect", reflection=reading.teach.content)


def _overtaken(new: Sequence[New], job: SurpriseJob, known: SearchIndex) -> Iterator[New]:
    """New memories, past already where all that the message told is: it has arrived late (spec 7)."""
    ends = [memory.invalid_at for memory in _said_then(job, known) if memory.role is MemoryRole.SAID]
    over = None if not ends or None in ends else max(filter(None, ends))
    for each in new:
        past = replace(each.memory, invalid_at=over, reliability=Reliability.SUPERSEDED)
        yield each if over is None else replace(each, memory=past)


def _actions(
    understood: Understood,
    episode_id: str,
    facts: Sequence[Fact],
    revisions: Sequence[Revision],
    flashbulbs: Sequence[str],
    linked: Sequence[NewEdge],
) -> tuple[SurpriseAction, ...]:
    """Report of all actions taken; an action that found nothing to do is reported, too."""
    actions = [
        SurpriseAction("start_episode", episode_ids=(episode_id,)),
        SurpriseAction("extract_facts", fact_count=len(facts)),
    ]
    if understood.job.level in (Level.COGNITIVE_DISSONANCE, Level.PARADIGM_SHIFT):
        actions.append(SurpriseAction("update_beliefs", episode_ids=tuple(revision.new_id for revision in revisions)))
    if understood.job.level is Level.PARADIGM_SHIFT:
        reflection = understood.analysis.reflection
        actions += [
            SurpriseAction("flashbulb", episode_ids=(episode_id, *flashbulbs)),
            SurpriseAction("connect_prior", episode_ids=tuple(edge.to_id for edge in linked)),
            SurpriseAction("queue_questions", questions=understood.analysis.questions),
            SurpriseAction("self_reflect", reflection=None if reflection is None else reflection.text),
        ]
    return tuple(actions)


def _held_before(memory: Memory, job: SurpriseJob) -> bool:
    held = _still_holds(memory) or _ended_by(memory, job)
    return held and memory.timestamp <= job.at and job.turn_id not in memory.source_refs


def _ended_by(memory: Memory, job: SurpriseJob) -> bool:
    """Return whether formation has ended a memory by what the surprising message says (spec 7)."""
    return memory.reliability is Reliability.SUPERSEDED and memory.invalid_at == job.at


def _still_holds(memory: Memory) -> bool:
    doubtful = memory.reliability in (Reliability.SUPERSEDED, Reliability.CONTRADICTED)
    return not doubtful and memory.invalid_at is None


def _is_belief(memory: Memory) -> bool:
    """True if it is a belief about the student: not what somebody else said, nor how the companion goes about it."""
    return memory.kind in BELIEVED and not memory.speaker and memory.role is not MemoryRole.PROCEDURE


def is_own_belief(memory: Memory | None) -> bool:
    """Return whether a surprise alone has made a memory, which goes with it."""
    return memory is not None and memory.role is MemoryRole.BELIEF


def _said_then(job: SurpriseJob, known: SearchIndex) -> Iterator[Memory]:
    """Memories formed of the surprising message itself."""
    for memory in known.latest(len(known)):
        if job.turn_id in memory.source_refs and memory.role is not MemoryRole.LESSON:
            yield memory


def _prior_links(understood: Understood, known: SearchIndex) -> Iterator[NewEdge]:
    """Edges from the episode to the prior memories nearest to it."""
    near = [
        (memory, cosine)
        for memory, cosine in known.nearest(understood.vector, BELIEF_CANDIDATES)
        if _held_before(memory, understood.job) and cosine > 0
    ]
    for memory, cosine in near[:LINKED]:
        yield NewEdge(_episode_id(understood), memory.id, EdgeType.REMINDS_OF, min(1.0, cosine))


def _procedure(understood: Understood, worded: Worded, known: SearchIndex, new: list[New]) -> str:
    """Return the memory of how to go about such a situation, which may be there already; else it is added."""
    twin = _twin(worded, known, new)
    if twin is not None:
        return twin.id
    made = Made(
        id=f"procedure-{understood.seq}",
        role=MemoryRole.PROCEDURE,
        span=Span(0, len(understood.job.actual)),
        modality=Modality.PROCEDURAL,
        kind=MemoryKind.CONCEPT,
    )
    new.append(_made_memory(understood, made, _unlike(worded, known)))
    return made.id


def _revision(
    understood: Understood, place: int, update: BeliefUpdate, worded: Worded, known: SearchIndex, new: list[New]
) -> Revision | None:
    """A belief update with the memory of the new understanding, which may be remembered already; else it is added.

    None where what was believed says the same. A belief that holds no longer, or was forgotten, since the mind was
    asked is not closed again.
    """
    prior = None if update.prior_id is None else known.get(update.prior_id)
    if prior is not None and prior.content_hash == worded.content_hash:
        return None
    held = prior if prior is not None and (_still_holds(prior) or _ended_by(prior, understood.job)) else None
    twin = _same_words(update, understood.job, known, but=held) or _twin(worded, known, new, but=held)
    if twin is None:
        made = Made(
            id=f"belief-{understood.seq}-{place}",
            role=MemoryRole.BELIEF,
            span=Span(update.start, update.end),
            modality=update.modality,
            kind=update.kind,
            confidence=update.confidence,
        )
        new.append(_made_memory(understood, made, _unlike(worded, known)))
    return Revision(
        prior_id=None if held is None else held.id,
        new_id=new[-1].memory.id if twin is None else twin.id,
        prior_assumption=update.prior,
        new_understanding=update.new,
        confidence_delta=update.delta,
    )


def _believed(
    revisions: Sequence[Revision], updates: Sequence[BeliefUpdate], known: SearchIndex
) -> Iterator[tuple[str, MemoryKind]]:
    """Memories of something that happened which are beliefs from now on, and of what kind."""
    kinds = {update.new: update.kind for update in updates}
    for revision in revisions:
        memory = known.get(revision.new_id)
        if memory is not None and memory.kind not in BELIEVED:
            yield memory.id, kinds[revision.new_understanding]


def _revision_edges(
    revision: Revision, update: BeliefUpdate, job: SurpriseJob, known: SearchIndex
) -> Iterator[NewEdge]:
    prior = None if revision.prior_id is None else known.get(revision.prior_id)
    new = known.get(revision.new_id)
    if prior is not None and _ended_by(prior, job) and new is not None and job.turn_id in new.source_refs:
        return  # Formation has linked them.
    if revision.prior_id is not None and update.evolution:
        yield NewEdge(revision.prior_id, revision.new_id, EdgeType.TEMPORAL_EVOLUTION, 1.0)
    elif revision.prior_id is not None:
        yield NewEdge(revision.new_id, revision.prior_id, EdgeType.REFINES, 1.0)


def _same_words(update: BeliefUpdate, job: SurpriseJob, known: SearchIndex, but: Memory | None) -> Memory | None:
    """Return the memory that formation made of the very words of a new understanding."""
    new = said(update.new)
    for memory in _said_then(job, known):
        words = said(memory.quote or memory.content or "")
        own = memory.role is MemoryRole.SAID and not memory.speaker and _still_holds(memory) and memory is not but
        if own and words and (words in new or new in words):
            return memory
    return None


def _twin(worded: Worded, known: SearchIndex, new: Sequence[New], but: Memory | None = None) -> Memory | None:
    """Return the memory that says this already and is held true, be it one just made; never an episode as a whole."""
    made = (n.memory for n in new[1:] if n.memory.content_hash in (worded.content_hash, worded.own_hash))
    same = known.find(worded.content_hash)
    near = [memory for memory, cosine in known.nearest(worded.vector, LINKED) if cosine >= SAME_COSINE]
    alike = (m for m in near if said_the_same(m.content or "", worded.content) and m.role is not MemoryRole.EPISODE)
    return next(
        (m for m in (*made, same, *alike) if m is not None and m is not but and _still_holds(m) and not m.speaker),
        None,
    )


def _unlike(worded: Worded, known: SearchIndex) -> Worded:
    """Return the same under a hash that no memory has, be it one that holds no longer."""
    return worded if known.find(worded.content_hash) is None else replace(worded, content_hash=worded.own_hash)


def new_facts(understood: Understood, known: SearchIndex) -> tuple[Fact, ...]:
    """Return the facts of an analysis that are not known yet, and those that are said anew."""
    # In meaning they were compared with the message, which says more than one fact of it.
    memories = [(memory, 0.0) for memory, _ in known.nearest(understood.vector, BELIEF_CANDIDATES)]
    found: dict[str, Fact] = {}
    for place, lesson in enumerate(understood.analysis.facts[: MOST_FACTS[understood.job.level]], 1):
        facts = (*found.values(), *understood.facts)
        new = learned(lesson, f"fact-{understood.seq}-{place}", understood.job.at, facts, memories)
        if new is not None:
            found[new.id] = new
    return tuple(found.values())


def _questions(understood: Understood, name: str, texts: Sequence[str]) -> Iterator[Question]:
    for place, text in enumerate(texts, 1):
        yield Question(f"{name}-{understood.seq}-{place}", text, understood.job.at)


def _episode_id(understood: Understood) -> str:
    return f"episode-{understood.seq}"


def _new_episode(understood: Understood) -> New:
    made = Made(
        id=_episode_id(understood),
        role=MemoryRole.EPISODE,
        span=Span(0, len(understood.job.actual)),
        modality=Modality.EPISODIC,
        kind=MemoryKind.EPISODE,
        confidence=1.0,
    )
    return _made_memory(understood, made, understood.episode)


def _made_memory(understood: Understood, made: Made, worded: Worded) -> New:
    job, at = understood.job, understood.job.at.astimezone(UTC)
    memory = replace(
        blank_memory(at),
        id=made.id,
        modality=made.modality,
        kind=made.kind,
        domain=worded.domain,
        content=worded.content,
        before="" if made.role is MemoryRole.EPISODE else job.before,
        salience=salience(job.importance * (1 + job.signal), understood.snr, information(worded.content)),
        confidence=made.confidence,
        strength=STRENGTH,
        valence=worded.valence,
        source_refs=(job.turn_id,),
        snr=understood.snr,
        passes=1,
        importance=job.importance,
        surprise=job.signal,
        surprise_level=job.level,
        flashbulb=job.level is Level.PARADIGM_SHIFT and made.role is MemoryRole.EPISODE,
        content_hash=worded.content_hash,
        consolidated=True,
        role=made.role,
        utc_offset=offset_of(job.at),
    )
    return New(memory, worded.vector, made.span)
