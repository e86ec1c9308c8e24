"""Surprises: the response that formation plans, its episode, links and actions; questions and corrections (spec 5)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from graphmem.app import Graphmem
from graphmem.cache import OpenMemories
from graphmem.errors import InvalidInput, NotFound
from graphmem.flows.formation_plan import STRENGTH, Marked, Reading, new_memory
from graphmem.flows.observation import observe
from graphmem.flows.session_cache import open_memories, write_planned
from graphmem.model import (
    OF_A_SITTING,
    Correction,
    EdgeType,
    Fact,
    Level,
    Memory,
    MemoryKind,
    MemoryRole,
    Modality,
    Note,
    Observation,
    Question,
    Reliability,
    Revision,
    Session,
    SourceKind,
    Strategy,
    SurpriseAction,
    SurpriseResponse,
    Verdict,
)
from graphmem.search.index import SearchIndex
from graphmem.store import uncertainties
from graphmem.store.changes import (
    ChangeRow,
    Changes,
    Corrected,
    New,
    NewEdge,
    NewQuestion,
    Reinforced,
    Span,
    Update,
    renewed,
)
from graphmem.store.uncertainties import Surprised
from graphmem.text.normalize import quoted
from graphmem.validation import MESSAGE_LIMIT, checked_text

LINKED = 5
"""Prior memories that a paradigm shift is linked to."""
LINK_CANDIDATES = 50
"""Memories among which they are looked for."""
RELATED_FROM = 0.2
"""Cosine from which a memory is related to a message."""
BELIEVED = (MemoryKind.TRAIT, MemoryKind.CONCEPT)
SHAKEN = (Level.COGNITIVE_DISSONANCE, Level.PARADIGM_SHIFT)
"""Levels that update beliefs."""
STRATEGIES = {
    "update_beliefs": Strategy.CONNECT_PRIOR,
    "queue_questions": Strategy.ASK_FOLLOW_UP_QUESTIONS,
    "self_reflect": Strategy.SELF_REFLECT,
}
"""Strategy that each action suggests; the first action taken counts."""
VERDICT_CHARACTERS = 2_000
"""Most characters of the note on a surprise."""
LEVELS = tuple(Level)


def with_response(changes: Changes, reading: Reading, known: SearchIndex) -> Changes:
    """Add the response to a surprise, by its level; the episode that begins keeps it, else the message's first memory.

    Nothing is added where the message is ordinary, or nothing is formed of it.

    Parameters
    ----------
    changes : Changes, formed of the message
    reading : Reading
    known : SearchIndex, the student's memories before; only read

    Source: spec 5, 17.
    """
    level, signal = reading.scores.level, reading.scores.surprise
    if reading.episode is not None:
        changes = replace(changes, rows=(_new_episode(reading, reading.episode), *changes.rows))
    new = changes.of(New)
    kept = bool(new) and new[0].memory.role in (MemoryRole.EPISODE, MemoryRole.SAID)
    if not kept or level is None or signal is None or (level is Level.NORMAL and reading.episode is None):
        return changes
    if level is Level.PARADIGM_SHIFT:
        changes = changes.plus(*_shift_rows(changes, reading, new[0].memory.id, known))
    found = list(_updates(changes, known)) if level in SHAKEN else []
    changes = changes.plus(*(Update(now.id, {"kind": prior.kind}) for prior, now in found if now.kind not in BELIEVED))
    revisions = tuple(_revision(prior, now, changes) for prior, now in found)
    violated, lesson = reading.heard.violated, reading.lesson
    foreseen = f"Expected {quoted(violated.predicted)}" if violated is not None else "Nothing else was expected"
    explanation = f"{foreseen}, heard {quoted(reading.heard.text)} (signal {signal:.2f})."
    explanation = explanation if lesson is None else f"{explanation} {lesson.text}"
    actions = tuple(_actions(changes, reading, revisions, known))
    usual = Strategy.NONE if level is Level.NORMAL else Strategy.DEEP_EXTRACTION
    strategy = next((STRATEGIES[each.kind] for each in actions if each.kind in STRATEGIES), usual)
    response = SurpriseResponse(level, signal, explanation, strategy, revisions, actions, offline=not reading.linked)
    return replace(changes, response=response)


def is_own_belief(memory: Memory | None) -> bool:
    """Return whether a surprise alone has made a memory, which goes with it; older versions made such."""
    return memory is not None and memory.role is MemoryRole.BELIEF


def _new_episode(reading: Reading, title: Marked) -> New:
    text = reading.heard.text
    note = Note(0, len(text), None, Modality.EPISODIC, MemoryKind.EPISODE, confidence=1.0)
    memory = replace(
        new_memory(reading, note, title, 1, MemoryRole.EPISODE),
        id=f"episode-{reading.key}",
        before="",
        gravity=1.0,
        strength=STRENGTH,
        passes=1,
        consolidated=True,
        flashbulb=reading.scores.level is Level.PARADIGM_SHIFT,
    )
    return New(memory, title.vector, Span(0, len(text)))


def _shift_rows(
    changes: Changes, reading: Reading, kept_id: str, known: SearchIndex
) -> Iterator[Update | NewEdge | NewQuestion]:
    """Yield the rows of a paradigm shift: flashbulbs of repeated memories, links to prior ones, a reflection."""
    again = [each.memory.id for each in changes.of(Reinforced) if each.memory.role is not MemoryRole.LESSON]
    yield from renewed(again, flashbulb=True)
    near = () if reading.clarifies is None else known.nearest(reading.clarifies[1].vector, LINK_CANDIDATES)
    held = [
        (memory, cosine)
        for memory, cosine in near
        if cosine >= RELATED_FROM and _is_prior(memory, reading) and memory.id not in again
    ]
    yield from (NewEdge(kept_id, memory.id, EdgeType.REMINDS_OF, min(1.0, cosine)) for memory, cosine in held[:LINKED])
    if reading.teach is not None:
        reflection = Question(f"reflection-{reading.key}", reading.teach.content, reading.source.at)
        yield NewQuestion(reflection, kept_id, is_reflection=True)


def _is_prior(memory: Memory, reading: Reading) -> bool:
    holds = memory.invalid_at is None and memory.role not in OF_A_SITTING
    return holds and memory.timestamp <= reading.source.at


def _updates(changes: Changes, known: SearchIndex) -> Iterator[tuple[Memory, Memory]]:
    """Yield the beliefs that the message ends or refines, each with its replacement."""
    said = {each.memory.id: each.memory for each in changes.of(New)}
    said |= {each.memory.id: each.memory for each in changes.of(Reinforced)}
    for edge in changes.of(NewEdge):
        ends = {EdgeType.TEMPORAL_EVOLUTION: (edge.from_id, edge.to_id), EdgeType.REFINES: (edge.to_id, edge.from_id)}
        prior_id, now_id = ends.get(edge.type, ("", ""))
        prior, now = known.get(prior_id), said.get(now_id)
        if prior is not None and now is not None and prior.kind in BELIEVED:
            yield prior, now


def _revision(prior: Memory, now: Memory, changes: Changes) -> Revision:
    """A belief update; one that only says more has no prior that it closes."""
    closed = prior.id if prior.id in changes.ended else None
    return Revision(closed, now.id, prior.content or "", now.content or "", now.confidence - prior.confidence)


def _actions(
    changes: Changes, reading: Reading, revisions: tuple[Revision, ...], known: SearchIndex
) -> Iterator[SurpriseAction]:
    """Yield the actions taken on a surprise; an action that changed nothing is left out, except the facts."""
    if changes.of(New)[0].memory.role is MemoryRole.EPISODE:
        yield SurpriseAction("start_episode", episode_ids=(changes.of(New)[0].memory.id,))
    yield SurpriseAction("extract_facts", fact_count=len(changes.of(Fact)))
    if revisions:
        yield SurpriseAction("update_beliefs", episode_ids=tuple(revision.new_id for revision in revisions))
    lit = [each.memory.id for each in changes.of(New) if each.memory.flashbulb]
    lit += [each.memory_id for each in changes.of(Update) if each.values.get("flashbulb")]
    if lit:
        yield SurpriseAction("flashbulb", episode_ids=tuple(lit))
    ends = filter(None, (known.get(each.to_id) for each in changes.of(NewEdge)))
    if linked := tuple(dict.fromkeys(memory.id for memory in ends if memory.role not in OF_A_SITTING)):
        yield SurpriseAction("connect_prior", episode_ids=linked)
    if changes.questions:
        yield SurpriseAction("queue_questions", questions=tuple(each.text for each in changes.questions))
    if reading.teach is not None:
        yield SurpriseAction("self_reflect", reflection=reading.teach.content)


async def responses_by_episode(gm: Graphmem, session: Session, ids: Sequence[str]) -> dict[str, SurpriseResponse]:
    """Return responses to many surprises, read at once, by the episodes that keep them; other memories are left out."""
    return await uncertainties.list_responses(gm.graph, session, ids)


async def list_questions(gm: Graphmem, session: Session) -> list[Question]:
    """Return questions that surprises left open and nobody has answered, longest waiting first."""
    return await uncertainties.list_open_questions(gm.graph, session)


async def answer_question(gm: Graphmem, session: Session, question_id: str, text: str) -> bool:
    """Take the student's answer to a question: it is remembered as said, and the question is not asked again.

    Raises
    ------
    InvalidInput    the answer will not do
    NotFound        there is no such question
    """
    checked_text("text", text, MESSAGE_LIMIT)
    questions = {question.id: question for question in await uncertainties.list_open_questions(gm.graph, session)}
    question = questions.get(question_id)
    if question is not None:
        said = Observation(SourceKind.CHAT, f"answer:{question_id}", text, gm.clock(), before=question.text)
        await observe(gm, session, [said])
    if not await uncertainties.save_answer(gm.graph, session, question_id, gm.clock()):
        raise NotFound("There is no such question: read `student.questions`.")
    gm.drop(session)
    return True


async def correct_surprise(gm: Graphmem, session: Session, memory_id: str, verdict: Verdict, note: str) -> Memory:
    """Say that a surprise was important, or was not: its level, flashbulb and belief updates follow; so do thresholds.

    The same verdict again changes nothing.

    Parameters
    ----------
    gm : Graphmem
    session : Session
    memory_id : of an episode, or any memory that was formed of a message of the student, whose episode is meant then
    verdict : Verdict
    note : str, why; at most 2,000 characters

    Returns
    -------
    Memory, as it is now

    Raises
    ------
    InvalidInput    the note will not do, or nothing was ever surprising about the memory
    NotFound        there is no such memory
    Conflict        memories kept changing

    Source: spec 5.
    """
    if note:
        checked_text("note", note, VERDICT_CHARACTERS)

    async def planned(held: OpenMemories) -> Changes | None:
        memory, found = held.index.get(memory_id), await uncertainties.find_surprised(gm.graph, session, memory_id)
        if memory is None or found is None:
            raise NotFound("There is no such memory.")
        if found.verdict is verdict:
            return None
        surprising = held.index.get(found.memory_id) or memory
        return Changes(held.version, verdict, _verdict_rows(surprising, found, verdict, note, held.index, gm.clock()))

    await write_planned(gm, session, planned)
    memory = (await open_memories(gm, session)).index.get(memory_id)
    if memory is None:
        raise NotFound("There is no such memory.")
    return memory


def _verdict_rows(
    memory: Memory, found: Surprised, verdict: Verdict, note: str, known: SearchIndex, now: datetime
) -> tuple[ChangeRow, ...]:
    """Return what a verdict writes: the level one up with all that goes with it, or all the way down."""
    if memory.surprise is None or memory.surprise_level is None:
        raise InvalidInput("Nothing was surprising about this memory: name one that was formed of a turn.")
    response = found.response
    had = response.level if response is not None else memory.surprise_level
    revisions, actions = ((), ()) if response is None else (response.revisions, response.actions)
    own = [each.new_id for each in revisions if is_own_belief(known.get(each.new_id))]
    prior = [each.prior_id for each in revisions if each.prior_id is not None]
    lit = [memory_id for each in actions if each.kind == "flashbulb" for memory_id in each.episode_ids]
    level, closed, reopened = Level.NORMAL, own, prior
    if verdict is not Verdict.WAS_NOT_IMPORTANT:
        level = LEVELS[min(len(LEVELS) - 1, LEVELS.index(had) + 1)]
        # Changes that an earlier verdict undid are made again.
        closed, reopened = ([], []) if found.verdict is None else (prior, own)
    decides = level in (Level.NORMAL, Level.PARADIGM_SHIFT)
    flashbulb = {"flashbulb": level is Level.PARADIGM_SHIFT} if decides else {}
    return (
        *renewed(list(dict.fromkeys((memory.id, *found.members, *lit))), surprise_level=level, **flashbulb),
        *renewed(closed, invalid_at=now, reliability=Reliability.SUPERSEDED),
        *renewed(reopened, invalid_at=None, reliability=Reliability.RELIABLE),
        Corrected(memory.id, Correction(memory.surprise, had, verdict), note),
    )
