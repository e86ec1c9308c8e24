"""What follows a surprise, in the graph: its episode with the response, facts, revised beliefs, questions (spec 5)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from graphmem.model import (
    Correction,
    Fact,
    Level,
    MemoryKind,
    Question,
    QuestionState,
    Session,
    SurpriseResponse,
    Usage,
    Verdict,
)
from graphmem.store.formation import New, NewEdge, created, edge_rows
from graphmem.store.graph import Graph
from graphmem.store.jobs import Claimed
from graphmem.store.rows import Place, moment

_RESPONSE = TypeAdapter(SurpriseResponse)


@dataclass(frozen=True)
class Responded:
    """Everything that follows one surprise, decided before anything is written.

    known : the version of the student's memories that it was decided on
    inferred_by : the mind that analysed it
    new : the episode first, then beliefs and a procedure
    closed : beliefs that hold no longer
    believed : memories that are beliefs from now on, and of what kind
    flashbulbs : memories that never fade from now on
    facts : their `seq` is given when they are written
    """

    source_ref: str
    known: int
    inferred_by: str
    response: SurpriseResponse = field(repr=False)
    new: tuple[New, ...]
    edges: tuple[NewEdge, ...] = ()
    closed: tuple[str, ...] = ()
    believed: tuple[tuple[str, MemoryKind], ...] = ()
    flashbulbs: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    questions: tuple[Question, ...] = ()
    reflections: tuple[Question, ...] = ()

    @property
    def episode_id(self) -> str:
        """The episode that begins with the surprise."""
        return self.new[0].memory.id


@dataclass(frozen=True)
class Written:
    """The student after a write: version, and how many facts there ever were; not `current`: nothing was written."""

    current: bool
    version: int
    facts: int


@dataclass(frozen=True)
class Surprised:
    """What was surprising about a memory, as a correction sees it.

    memory_id : the episode that began with the memory's message, or else the memory itself
    response : to the surprise, if there was one
    members : memories that were formed of the surprising message
    """

    memory_id: str
    response: SurpriseResponse | None
    verdict: Verdict | None
    members: tuple[str, ...]


@dataclass(frozen=True)
class Revised:
    """What a correction changes.

    kin : memories whose level it is, with the corrected one
    """

    memory_id: str
    known: int
    correction: Correction
    level: Level
    note: str = field(repr=False)
    kin: tuple[str, ...] = ()
    flashbulbs: tuple[str, ...] = ()
    faded: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()


async def respond(
    graph: Graph,
    session: Session,
    claimed: Claimed,
    responded: Responded,
    usage: Usage,
    facts_kept: int,
    now: datetime,
) -> Written | None:
    """Write what follows one surprise and finish its job; `surprise/respond`. The newest `facts_kept` facts stay.

    None when the job is another worker's by now. Writing it twice changes nothing: the job is done after the first.
    """
    rows = [created(session, new) for new in responded.new]
    place = Place(session.keys, session, responded.episode_id)
    rows[0]["properties"] |= {
        "episode": True,
        "surprise_response": place.seal("surprise_response", _RESPONSE.dump_json(responded.response)),
    }
    found = await graph.run(
        "surprise/respond",
        session,
        job_id=claimed.id,
        lease=claimed.lease,
        source_ref=responded.source_ref,
        known=responded.known,
        episode_id=responded.episode_id,
        formed=rows,
        edges=edge_rows(responded.edges, responded.inferred_by, now),
        closed=list(responded.closed),
        believed=[{"id": memory_id, "kind": kind.value} for memory_id, kind in responded.believed],
        flashbulbs=list(responded.flashbulbs),
        facts=[_sealed_fact(session, fact) for fact in responded.facts],
        facts_kept=facts_kept,
        questions=[_sealed_question(session, question) for question in responded.questions],
        reflections=[_sealed_question(session, reflection) for reflection in responded.reflections],
        usage=asdict(usage),
        now=now,
    )
    return Written(**found[0]) if found else None


async def correct(graph: Graph, session: Session, revised: Revised, now: datetime) -> Written | None:
    """Write what somebody says of a surprise; `surprise/correct`. None without such a memory."""
    place = Place(session.keys, session, revised.memory_id)
    rows = await graph.run(
        "surprise/correct",
        session,
        memory_id=revised.memory_id,
        known=revised.known,
        level=revised.level.value,
        kin=list(revised.kin),
        flashbulbs=list(revised.flashbulbs),
        faded=list(revised.faded),
        closed=list(revised.closed),
        reopened=list(revised.reopened),
        verdict=revised.correction.verdict.value,
        note=place.seal("verdict_note", revised.note),
        correction={"signal": revised.correction.signal, "level": revised.correction.level.value},
        now=now,
    )
    return Written(rows[0]["current"], rows[0]["version"], 0) if rows else None


async def find(graph: Graph, session: Session, memory_id: str) -> Surprised | None:
    """What followed a surprise, by a memory of its message; `surprise/find`. None without such a memory."""
    rows = await graph.run("surprise/find", session, memory_id=memory_id)
    if not rows:
        return None
    (row,) = rows
    sealed = row["response"]
    place = Place(session.keys, session, row["memory_id"])
    opened = None if sealed is None else place.opened("surprise_response", sealed)
    return Surprised(
        memory_id=row["memory_id"],
        response=None if opened is None else _RESPONSE.validate_json(opened),
        verdict=None if row["verdict"] is None else Verdict(row["verdict"]),
        members=tuple(row["members"]),
    )


async def list_responses(graph: Graph, session: Session, ids: Sequence[str]) -> dict[str, SurpriseResponse]:
    """The responses that some episodes keep, by the episode's id; `surprise/list_responses`.

    An id of any other memory, or of none, is left out.
    """
    rows = await graph.run("surprise/list_responses", session, ids=list(ids))
    return {
        row["id"]: _RESPONSE.validate_json(
            Place(session.keys, session, row["id"]).opened("surprise_response", row["response"])
        )
        for row in rows
    }


async def list_questions(graph: Graph, session: Session) -> list[Question]:
    """Questions nobody has answered, longest waiting first; `question/list`."""
    rows = await graph.run("question/list", session)
    return [
        Question(
            row["id"],
            Place(session.keys, session, row["id"]).text("text", row["text"]),
            moment(row["created_at"]),
            QuestionState(row["state"]),
        )
        for row in rows
    ]


async def answer_question(graph: Graph, session: Session, question_id: str, now: datetime) -> bool:
    """Note that a question was answered; `question/answer`. False without such a question."""
    return bool(await graph.run("question/answer", session, question_id=question_id, now=now))


def _sealed_fact(session: Session, fact: Fact) -> dict[str, Any]:
    place = Place(session.keys, session, fact.id)
    return {
        "id": fact.id,
        "created_at": fact.created_at,
        "text": place.seal("text", fact.text),
        "tags": place.seal_json("tags", fact.tags),
    }


def _sealed_question(session: Session, question: Question) -> dict[str, Any]:
    return {
        "id": question.id,
        "created_at": question.created_at,
        "state": question.state.value,
        "text": Place(session.keys, session, question.id).seal("text", question.text),
    }
