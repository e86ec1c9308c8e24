"""Responses to surprises, their questions and corrections, once formation has planned them (spec 5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.app import Graphmem
from graphmem.cache import OpenMemories
from graphmem.errors import InvalidInput, NotFound
from graphmem.flows.observation import observe
from graphmem.flows.session_cache import open_memories, write_planned
from graphmem.flows.surprise_plan import is_own_belief
from graphmem.model import (
    Correction,
    Level,
    Memory,
    Observation,
    Question,
    Reliability,
    Session,
    SourceKind,
    SurpriseResponse,
    Verdict,
)
from graphmem.search.index import SearchIndex
from graphmem.store import surprises
from graphmem.store.changes import Changes, Corrected, Update, renewed
from graphmem.store.surprises import Surprised
from graphmem.validation import MESSAGE_LIMIT, checked_text

VERDICT_CHARACTERS = 2_000
"""Most characters of the note on a surprise."""
LEVELS = tuple(Level)


async def responses_by_episode(gm: Graphmem, session: Session, ids: Sequence[str]) -> dict[str, SurpriseResponse]:
    """Return responses to many surprises, read at once, by the episodes that keep them; other memories are left out."""
    return await surprises.list_responses(gm.graph, session, ids)


async def list_questions(gm: Graphmem, session: Session) -> list[Question]:
    """Return questions that surprises left open and nobody has answered, longest waiting first."""
    return await surprises.list_open_questions(gm.graph, session)


async def answer_question(gm: Graphmem, session: Session, question_id: str, text: str) -> bool:
    """Take the student's answer to a question: it is remembered as said, and the question is not asked again.

    Raises
    ------
    InvalidInput    the answer will not do
    NotFound        there is no such question
    """
    checked_text("text", text, MESSAGE_LIMIT)
    questions = {question.id: question for question in await surprises.list_open_questions(gm.graph, session)}
    question = questions.get(question_id)
    if question is not None:
        said = Observation(SourceKind.CHAT, f"answer:{question_id}", text, gm.clock(), before=question.text)
        await observe(gm, session, [said])
    if not await surprises.save_answer(gm.graph, session, question_id, gm.clock()):
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
        memory, found = held.index.get(memory_id), await surprises.find_surprised(gm.graph, session, memory_id)
        if memory is None or found is None:
            raise NotFound("There is no such memory.")
        if found.verdict is verdict:
            return None
        surprising = held.index.get(found.memory_id) or memory
        revised = _consequences(surprising, found, verdict, held.index)
        corrected = Corrected(surprising.id, revised.correction, note)
        return Changes(held.version, verdict, (*updates(revised, gm.clock()), corrected))

    await write_planned(gm, session, planned)
    memory = (await open_memories(gm, session)).index.get(memory_id)
    if memory is None:
        raise NotFound("There is no such memory.")
    return memory


@dataclass(frozen=True)
class Revised:
    """Changes that follow from a verdict.

    kin : memories whose level it is, with the corrected one
    flashbulb : whether they never fade from now on; None leaves it as it is
    closed, reopened : ids of superseded beliefs, and of beliefs that hold again
    """

    correction: Correction
    level: Level
    kin: tuple[str, ...]
    flashbulb: bool | None = None
    closed: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()


def _consequences(memory: Memory, found: Surprised, verdict: Verdict, known: SearchIndex) -> Revised:
    """Changes that follow from a verdict: one level up with all that goes with it, or all the way down."""
    if memory.surprise is None or memory.surprise_level is None:
        raise InvalidInput("Nothing was surprising about this memory: name one that was formed of a turn.")
    response = found.response
    had = response.level if response is not None else memory.surprise_level
    up = LEVELS[min(len(LEVELS) - 1, LEVELS.index(had) + 1)]
    revisions = () if response is None else response.revisions
    own = tuple(r.new_id for r in revisions if is_own_belief(known.get(r.new_id)))
    prior = tuple(r.prior_id for r in revisions if r.prior_id is not None)
    kin = tuple(dict.fromkeys((memory.id, *found.members, *_lit(response))))
    correction = Correction(memory.surprise, had, verdict)
    if verdict is Verdict.WAS_NOT_IMPORTANT:
        return Revised(correction, Level.NORMAL, kin, flashbulb=False, closed=own, reopened=prior)
    # Changes that an earlier verdict undid are made again.
    again = found.verdict is not None
    flashbulb = True if up is Level.PARADIGM_SHIFT else None
    return Revised(correction, up, kin, flashbulb, closed=prior if again else (), reopened=own if again else ())


def updates(revised: Revised, now: datetime) -> tuple[Update, ...]:
    """Updates that follow from a verdict, memory by memory."""
    return (
        *renewed(revised.kin, surprise_level=revised.level),
        *(() if revised.flashbulb is None else renewed(revised.kin, flashbulb=revised.flashbulb)),
        *renewed(revised.closed, invalid_at=now, reliability=Reliability.SUPERSEDED),
        *renewed(revised.reopened, invalid_at=None, reliability=Reliability.RELIABLE),
    )


def _lit(response: SurpriseResponse | None) -> tuple[str, ...]:
    """Return memories that a surprise has made flashbulbs."""
    actions = () if response is None else response.actions
    return tuple(memory_id for action in actions if action.kind == "flashbulb" for memory_id in action.episode_ids)
