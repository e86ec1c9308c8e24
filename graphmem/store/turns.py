"""Turns, facts and predictions in the graph: what one turn reads and the one thing it writes (spec 3, 4)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from graphmem.model import (
    NO_NAME,
    Alternative,
    Author,
    Companion,
    Correction,
    Fact,
    LedgerEntry,
    Level,
    Message,
    Prediction,
    Question,
    RaisedConcern,
    Session,
    State,
    TurnOutcome,
    TurnState,
    Uncertainty,
    Vector,
    Verdict,
)
from graphmem.sealing import Stored
from graphmem.store import usage as usages
from graphmem.store.concerns import opened_alarm, sealed_concern
from graphmem.store.graph import Graph, Row, Touched, Transaction
from graphmem.store.jobs import NewJob, pages, sealed_job
from graphmem.store.nodes import (
    COMPANION_NODE,
    FACT_NODE,
    TURN_NODE,
    clear_properties,
    from_row,
    opened,
    sealed_properties,
)
from graphmem.store.rows import NodeSealer, from_ms, moment, readable
from graphmem.store.surprises import opened_question
from graphmem.store.tampering import Damage, only_intact, report
from graphmem.store.uncertainties import Recorded, stored_uncertainty

_OUTCOME = TypeAdapter(TurnOutcome)

WORKING_MEMORY = 50
"""Raw turns kept while a session is open."""


@dataclass(frozen=True)
class Received:
    """A message that was stored and not answered yet.

    reply : the app's own, if it gave one
    task, opener, used : as of `graphmem.flows.turn.Incoming`
    """

    turn_id: str
    text: str
    at: datetime
    reply: str | None
    task: str | None = None
    opener: str | None = None
    used: tuple[str, ...] = ()


@dataclass(frozen=True)
class StoredTurn:
    """A turn of working memory.

    replied_by : `app` or the name of a mind
    opener : what the tutor said before the message, where nothing else held it
    task : what the talk was about; empty where the app gave nothing
    """

    turn_id: str
    message: Message
    reply: Message
    replied_by: str
    opener: Message | None = None
    task: str = ""


@dataclass(frozen=True)
class Before:
    """State of a student that a turn needs before anything is decided.

    open : the session is running
    outcome : this very turn's, when it has been answered already
    received : this very turn's message, when it was stored; where it has been answered its reply is the answer
    replied_by : who answered it, `app` or the name of a mind; None while it is not answered
    handled : this turn was answered, maybe in a session that has ended
    """

    state: State
    open: bool
    outcome: TurnOutcome | None
    received: Received | None
    replied_by: str | None
    handled: bool


@dataclass(frozen=True)
class Boost:
    """A memory that was used in a turn, with the gravity this lifts it to (spec 9)."""

    memory_id: str
    gravity: float


@dataclass(frozen=True)
class Raised:
    """A concern of a message, the ledger entry that is kept of it, and the part of the message kept with it.

    vector : embedding of the message
    """

    raised: RaisedConcern
    entry: LedgerEntry
    text: str = field(repr=False)
    vector: Vector | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class TurnWrite:
    """Everything one turn changes, decided before anything is written.

    signals : of surprise, of the latest turns with this one
    episode : an episode begins with it
    question : one the reply asks
    raised : the concern of its message
    doubts : raised in the reply, as they stand from now on
    noticed : a doubt that the message raises, which is new
    tolerance : of the companion from now on
    task, opener : as of `StoredTurn`
    """

    text: str = field(repr=False)
    replied_by: str
    outcome: TurnOutcome = field(repr=False)
    prediction: Prediction = field(repr=False)
    facts: int
    oldest_turn: int
    oldest_fact: int
    now: datetime
    jobs: tuple[NewJob, ...] = ()
    boosts: tuple[Boost, ...] = ()
    signals: tuple[float, ...] = ()
    episode: bool = False
    question: Question | None = None
    raised: Raised | None = None
    doubts: tuple[Uncertainty, ...] = ()
    noticed: Uncertainty | None = None
    tolerance: float = 0.5
    task: str = field(default="", repr=False)
    opener: str | None = field(default=None, repr=False)


async def before(graph: Graph, session: Session, turn_id: str, now: datetime) -> Before | None:
    """Read what a turn depends on in one round trip; `turn/get_before`. None without such a student."""
    rows = await graph.read_counts("turn/get_before", session, turn_id=turn_id, now=now)
    if not rows:
        return None
    (row,) = rows
    turn, damage = row["turn"], Damage()
    answered = turn is not None and turn["state"] == TurnState.ANSWERED
    field = "reply" if answered else "given_reply"
    received = None if turn is None else damage.opened(lambda: _received(session, turn, field))
    outcome = damage.opened(lambda: _read_outcome(session, turn_id, turn)) if answered else None
    # Of an answer that does not open nothing can be told again.
    kept = received is not None and (outcome is not None or not answered)
    state = from_row(
        State,
        row,
        companion=damage.opened(lambda: _companion(session, row)) or _nameless(row),
        prediction=damage.opened(lambda: _prediction(session, row)),
        corrections=tuple(
            Correction(signal, Level(level), Verdict(verdict))
            for signal, level, verdict in zip(
                row["corrected_signals"], row["corrected_levels"], row["verdicts"], strict=True
            )
        ),
        questions=tuple(damage.intact(row["questions"], lambda row: opened_question(session, row))),
        false_alarms=tuple(damage.intact(row["false_alarms"], lambda alarm: opened_alarm(session, *alarm))),
    )
    await report(graph, session, damage)
    return Before(
        state=state,
        open=row["open"],
        outcome=outcome if kept else None,
        received=received if kept else None,
        replied_by=turn["replied_by"] if answered and kept else None,
        handled=row["handled"],
    )


async def receive(graph: Graph, session: Session, received: Received, now: datetime) -> None:
    """Keep a message before its reply is known; `turn/receive`."""
    place = NodeSealer(session.keys, session, "Turn", received.turn_id)
    await graph.run(
        "turn/receive",
        session,
        turn_id=received.turn_id,
        text=place.seal("text", received.text),
        reply=_sealed_text(place, "given_reply", received.reply),
        task=_sealed_text(place, "task", received.task),
        opener=_sealed_text(place, "opener", received.opener),
        used=received.used,
        at=received.at,
        now=now,
    )


async def complete(graph: Graph, session: Session, write: TurnWrite) -> int | None:
    """Write everything of one turn; `turn/complete`. The student's new version; None when it may not be written:
    another turn came first, this one was written before, or the session has ended."""
    params, usage = _completed(session, write), write.outcome.usage
    # A student waits for it: without usage the statement and its note are one round trip.
    params |= graph.note(session, _touched(params))

    async def work(tx: Transaction) -> int | None:
        if rows := await tx.run("turn/complete", **params):
            await usages.add_usage(tx, "turn", usage, write.now)
        return int(rows[0]["version"]) if rows else None

    if not usage.calls:
        rows = await graph.run("turn/complete", session, **params)
        return int(rows[0]["version"]) if rows else None

    return await graph.transact(session, work)


def _completed(session: Session, write: TurnWrite) -> dict[str, Any]:
    """Return the parameters of `turn/complete`."""
    outcome = write.outcome
    place = NodeSealer(session.keys, session, "Turn", outcome.turn_id)
    return {
        "turn_id": outcome.turn_id,
        "turn": {
            "state": TurnState.ANSWERED,
            "seq": outcome.seq,
            "surprise": outcome.surprise,
            "match": outcome.match,
            "replied_by": write.replied_by,
            "text": place.seal("text", write.text),
            "reply": place.seal("reply", outcome.reply),
            "outcome": place.seal_packed("outcome", _OUTCOME.dump_json(outcome, exclude={"reply"})),
            "task": _sealed_text(place, "task", write.task or None),
            "opener": _sealed_text(place, "opener", write.opener),
        },
        "source": {"id": f"source-{outcome.seq}"},
        "companion": _sealed_prediction(session, write.prediction, outcome.seq),
        "totals": _totals(write),
        "asked": [] if write.question is None else [write.question.id],
        "facts": [] if outcome.fact is None else [_timeless(sealed_fact(session, outcome.fact))],
        "jobs": [_timeless(sealed_job(session, job, write.now)) for job in write.jobs],
        "boosts": [{"id": boost.memory_id, "gravity": boost.gravity} for boost in write.boosts],
        "concerns": [] if write.raised is None else [_concern(session, write.raised)],
        "noticed_doubts": [] if write.noticed is None else [stored_uncertainty(session, Recorded(write.noticed))],
        "raised_doubts": [_raised_doubt(doubt, write.tolerance) for doubt in write.doubts],
        "oldest_turn": write.oldest_turn,
        "oldest_fact": write.oldest_fact,
        "at": outcome.at,
        "now": write.now,
    }


def _touched(params: Mapping[str, Any]) -> Touched:
    """Return what `turn/complete` touches, by its parameters."""
    touched = Touched(oldest_fact=params["oldest_fact"])
    touched.add("Source", f"chat:{params['turn_id']}", made=True)
    for fact in params["facts"]:
        touched.add("Fact", fact["id"], replaced=True, links=("FORMED_FROM", "LEARNED"))
    for boost in params["boosts"]:
        touched.add("Memory", boost["id"], set=("gravity", "last_accessed", "access_count"))
    for asked in params["asked"]:
        touched.add("Question", asked, set=("state", "asked_at"))
    for raised in params["concerns"]:
        links, of_entry = ("SHOWS", "FORMED_FROM", "KEPT_AS"), ("KEEPS", "FORMED_FROM")
        touched.add("Concern", raised["concern"]["id"], made=True, set=("text",), links=links)
        touched.add("LedgerEntry", raised["entry"]["id"], made=True, set=("is_active", "importance"), links=of_entry)
    for new in params["noticed_doubts"]:
        touched.add("Uncertainty", new["properties"]["id"], made=True, links=("CONCERNS",))
    for doubt in params["raised_doubts"]:
        touched.add("Uncertainty", doubt["id"], set=doubt["properties"])
        touched.add("Companion", "companion", set=("tolerance",))
    return touched


def _raised_doubt(doubt: Uncertainty, tolerance: float) -> dict[str, Any]:
    properties = {
        "state": doubt.state,
        "severity": doubt.severity,
        "surfaced_count": doubt.surfaced_count,
        "last_surfaced_at": doubt.last_surfaced_at,
    }
    return {"id": doubt.id, "properties": properties, "tolerance": tolerance}


async def list_turns(graph: Graph, session: Session) -> list[StoredTurn]:
    """Return the turns of the running conversation, oldest first; `turn/list`."""
    (row,) = await graph.run("turn/list", session)
    return await only_intact(graph, session, row["turns"], lambda turn: _stored_turn(session, turn))


async def list_ring(graph: Graph, session: Session, limit: int, as_of: datetime | None = None) -> list[Fact]:
    """Return a student's facts, newest first, those learned by a moment where one is given; `fact/list`."""
    (row,) = await graph.run("fact/list", session, limit=limit, as_of=as_of)
    return await only_intact(graph, session, row["facts"], lambda fact: _fact(session, fact))


async def remove_fact(graph: Graph, session: Session, fact_id: str, now: datetime) -> bool | None:
    """Delete a fact; `fact/delete`. False without such a fact; None when the session has ended."""
    rows = await graph.run("fact/delete", session, id=fact_id, now=now)
    return bool(rows[0]["deleted"]) if rows else None


async def list_unanswered(graph: Graph, session: Session) -> list[Received]:
    """Return messages of a student that were not answered, oldest first; `turn/list_waiting`."""
    rows = await graph.run("turn/list_waiting", session)
    return await only_intact(graph, session, rows, lambda row: _received(session, row))


async def list_stranded(graph: Graph, before: datetime, now: datetime, limit: int = 20) -> list[str]:
    """Session tokens of students with messages nobody answered in time, read in pages; `turn/list_stranded`."""
    rows = pages(graph, "turn/list_stranded", limit, before=before, now=now)
    return [bytes(row["token"]).decode() async for row in rows]


async def find_oldest_waiting(graph: Graph) -> datetime | None:
    """Time of the oldest message without a reply, if one waits; `turn/find_oldest_waiting`."""
    rows = await graph.run("turn/find_oldest_waiting")
    return moment(rows[0]["received_at"]) if rows else None


def _timeless(properties: dict[str, Any]) -> dict[str, Any]:
    """Without the moments, which are given once for all: the driver takes a tenth of a millisecond for each."""
    return {name: value for name, value in properties.items() if not isinstance(value, datetime)}


def _totals(write: TurnWrite) -> dict[str, Any]:
    totals = {
        "turns": write.outcome.seq,
        "signals": list(write.signals),
    }
    asked = {} if write.question is None else {"asked_turn": write.outcome.seq}
    return totals | asked | ({"episode_turn": write.outcome.seq} if write.episode else {})


def _concern(session: Session, kept: Raised) -> dict[str, Any]:
    return sealed_concern(session, kept.raised, kept.text, kept.entry, kept.vector)


def _companion(session: Session, row: Row) -> Companion:
    return opened(Companion, COMPANION_NODE, row, NodeSealer(session.keys, session, "Companion", "companion"))


def _nameless(row: Row) -> Companion:
    """Return a companion whose persona does not open."""
    return Companion(NO_NAME, "", row["tolerance"], tuple(row["expertise"]))


def _prediction(session: Session, row: Row) -> Prediction | None:
    if row["prediction"] is None:
        return None
    place = NodeSealer(session.keys, session, "Companion", f"companion@{row['turns']}")
    said = place.json("prediction", row["prediction"])
    sealed = row["prediction_embedding"]
    embedding = None if sealed is None else place.vector("prediction_embedding", sealed)
    others = tuple(Alternative(text, chance) for text, chance in said.get("alternatives", ()))
    return Prediction(said["text"], tuple(said["needed_info"]), embedding, said.get("chance", 1.0), others)


def _sealed_prediction(session: Session, prediction: Prediction, seq: int) -> dict[str, Any]:
    """Bound to the turn it follows, so that an older prediction cannot be put in its place."""
    place = NodeSealer(session.keys, session, "Companion", f"companion@{seq}")
    vector = prediction.embedding
    said = {
        "text": prediction.text,
        "needed_info": prediction.needed_info,
        "chance": prediction.chance,
        "alternatives": [(other.text, other.chance) for other in prediction.alternatives],
    }
    return {
        "prediction": place.seal_json("prediction", said),
        "prediction_embedding": None if vector is None else place.seal_vector("prediction_embedding", vector),
    }


def _read_outcome(session: Session, turn_id: str, turn: Row) -> TurnOutcome:
    place = NodeSealer(session.keys, session, "Turn", turn_id)
    told = json.loads(place.packed("outcome", turn["outcome"]))
    stored = told | {"reply": place.text("reply", turn["reply"]), "repeated": True}
    return _OUTCOME.validate_python(stored)


def check_outcome(outcome: Mapping[str, Any], reply: str) -> None:
    """Raise ValueError unless something is the result of a turn, as JSON has it."""
    _OUTCOME.validate_python(dict(outcome) | {"reply": reply})


def _received(session: Session, turn: Row, field: str = "given_reply") -> Received:
    place = NodeSealer(session.keys, session, "Turn", turn["id"])
    reply = turn[field]
    with readable("Turn", turn["id"]):
        return Received(
            turn_id=turn["id"],
            text=place.text("text", turn["text"]),
            # With the offset that it was sent with.
            at=turn["at"].to_native(),
            reply=None if reply is None else place.text(field, reply),
            task=_opened_text(place, "task", turn["task"]),
            opener=_opened_text(place, "opener", turn["opener"]),
            used=tuple(TURN_NODE.clear["used"].value(turn["used"]) or ()),
        )


def _stored_turn(session: Session, row: Sequence[Any]) -> StoredTurn:
    """Return a turn as `turn/list` returns it."""
    turn_id, at, text, reply, replied_by, task, opener = row
    place = NodeSealer(session.keys, session, "Turn", turn_id)
    with readable("Turn", turn_id):
        said_at, before = from_ms(at), _opened_text(place, "opener", opener)
        return StoredTurn(
            turn_id,
            Message(Author.STUDENT, place.text("text", text), said_at),
            Message(Author.COMPANION, place.text("reply", reply), said_at),
            replied_by,
            None if before is None else Message(Author.COMPANION, before, said_at),
            _opened_text(place, "task", task) or "",
        )


def _sealed_text(place: NodeSealer, field: str, text: str | None) -> Stored | None:
    return None if text is None else place.seal(field, text)


def _opened_text(place: NodeSealer, field: str, sealed: Stored | None) -> str | None:
    return None if sealed is None else place.text(field, sealed)


def _fact(session: Session, row: Row) -> Fact:
    return opened(Fact, FACT_NODE, row, NodeSealer(session.keys, session, "Fact", row["id"]))


def sealed_fact(session: Session, fact: Fact) -> dict[str, Any]:
    """Return the properties of a fact's node, text and tags sealed for it."""
    place = NodeSealer(session.keys, session, "Fact", fact.id)
    return clear_properties(FACT_NODE, fact) | sealed_properties(place, FACT_NODE, fact)
