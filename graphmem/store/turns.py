"""Turns, facts and predictions in the graph: what one turn reads and the one thing it writes (spec 3, 4)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from graphmem import model
from graphmem.store.graph import Graph, Row, Touched, Transaction
from graphmem.store.jobs import NewJob, add_usage, sealed_job
from graphmem.store.ledger import Raised, opened_alarm, sealed_concern
from graphmem.store.nodes import (
    NodeSealer,
    clear_properties,
    from_ms,
    from_row,
    moment,
    opened,
    readable,
    stored,
    token_text,
)
from graphmem.store.tampering import Damage, only_intact, report
from graphmem.store.uncertainties import Recorded, stored_uncertainty

_OUTCOME = TypeAdapter(model.TurnOutcome)

WORKING_MEMORY = 50
"""Raw turns kept while a session is open."""


@dataclass(frozen=True)
class Before:
    """State of a student that a turn needs before anything is decided.

    open : the session is running
    outcome : this very turn's, when it has been answered already
    received : this very turn, when it was stored
    handled : this turn was answered, maybe in a session that has ended
    """

    state: model.State
    open: bool
    outcome: model.TurnOutcome | None
    received: model.StoredTurn | None
    handled: bool


@dataclass(frozen=True)
class TurnWrite:
    """Everything one turn changes, decided before anything is written.

    boosts : the gravity to which its use in the turn lifts each memory, by its id (spec 9)
    signals : of surprise, of the latest turns with this one
    episode : an episode begins with it
    question : one the reply asks
    raised : the concern of its message
    doubts : raised in the reply, as they stand from now on
    noticed : a doubt that the message raises, which is new
    tolerance : of the companion from now on
    """

    turn: model.StoredTurn
    outcome: model.TurnOutcome = field(repr=False)
    prediction: model.Prediction = field(repr=False)
    oldest_turn: int
    now: datetime
    jobs: tuple[NewJob, ...] = ()
    boosts: Mapping[str, float] = field(default_factory=dict)
    signals: tuple[float, ...] = ()
    episode: bool = False
    question: model.Question | None = None
    raised: Raised | None = None
    doubts: tuple[model.Uncertainty, ...] = ()
    noticed: model.Uncertainty | None = None
    tolerance: float = 0.5


async def before(graph: Graph, session: model.Session, turn_id: str, now: datetime) -> Before | None:
    """Read what a turn depends on in one round trip; `turn/get_before`. None without such a student."""
    rows = await graph.read_counts("turn/get_before", session, turn_id=turn_id, now=now)
    if not rows:
        return None
    (row,) = rows
    turn, damage = row["turn"], Damage()
    answered = turn is not None and turn["state"] == model.TurnState.ANSWERED
    received = None if turn is None else damage.opened(lambda: _opened_turn(session, turn))
    outcome = damage.opened(lambda: _read_outcome(session, turn_id, turn)) if answered else None
    # A companion whose persona does not open.
    nameless = model.Companion(model.NO_NAME, "", row["tolerance"], tuple(row["expertise"]))
    # Of an answer that does not open nothing can be told again.
    kept = received is not None and (outcome is not None or not answered)
    state = from_row(
        model.State,
        row,
        companion=damage.opened(lambda: opened(model.Companion, "Companion", row, session)) or nameless,
        prediction=damage.opened(lambda: _prediction(session, row)),
        corrections=tuple(
            model.Correction(signal, model.Level(level), model.Verdict(verdict))
            for signal, level, verdict in zip(
                row["corrected_signals"], row["corrected_levels"], row["verdicts"], strict=True
            )
        ),
        questions=tuple(damage.intact(row["questions"], lambda row: opened(model.Question, "Question", row, session))),
        false_alarms=tuple(damage.intact(row["false_alarms"], lambda alarm: opened_alarm(session, *alarm))),
    )
    await report(graph, session, damage)
    return Before(
        state=state,
        open=row["open"],
        outcome=outcome if kept else None,
        received=received if kept else None,
        handled=row["handled"],
    )


async def receive(graph: Graph, session: model.Session, received: model.StoredTurn, now: datetime) -> None:
    """Keep a message before its reply is known; `turn/receive`."""
    turn = stored(session, "Turn", received)
    await graph.run("turn/receive", session, turn_id=received.turn_id, turn=turn, at=received.at, now=now)


async def complete(graph: Graph, session: model.Session, write: TurnWrite) -> int | None:
    """Write everything of one turn; `turn/complete`. The student's new version; None when it may not be written:
    another turn came first, this one was written before, or the session has ended."""
    params, usage = _completed(session, write), write.outcome.usage
    # A student waits for it: without usage the statement and its note are one round trip.
    params |= graph.note(session, _touched(params))

    async def work(tx: Transaction) -> int | None:
        if rows := await tx.run("turn/complete", **params):
            await add_usage(tx, "turn", usage, write.now)
        return int(rows[0]["version"]) if rows else None

    if not usage.calls:
        return await graph.value(int, "turn/complete", session, **params)
    return await graph.transact(session, work)


def _completed(session: model.Session, write: TurnWrite) -> dict[str, Any]:
    """Return the parameters of `turn/complete`."""
    outcome = write.outcome
    place = NodeSealer(session.keys, session, "Turn", outcome.turn_id)
    packed = place.seal_packed("outcome", _OUTCOME.dump_json(outcome, exclude={"reply"}))
    turn = {"state": model.TurnState.ANSWERED, "seq": outcome.seq, "surprise": outcome.surprise, "match": outcome.match}
    return {
        "turn_id": outcome.turn_id,
        "turn": stored(session, "Turn", write.turn) | turn | {"outcome": packed},
        "source": {"id": f"source-{outcome.seq}"},
        "companion": _sealed_prediction(session, write.prediction, outcome.seq),
        "totals": _totals(write),
        "asked": [] if write.question is None else [write.question.id],
        "jobs": [_timeless(sealed_job(session, job, write.now)) for job in write.jobs],
        "boosts": [{"id": memory_id, "gravity": gravity} for memory_id, gravity in write.boosts.items()],
        "concerns": [] if write.raised is None else [sealed_concern(session, write.raised)],
        "noticed_doubts": [] if write.noticed is None else [stored_uncertainty(session, Recorded(write.noticed))],
        "raised_doubts": [_raised_doubt(doubt, write.tolerance) for doubt in write.doubts],
        "oldest_turn": write.oldest_turn,
        "at": outcome.at,
        "now": write.now,
    }


def _touched(params: Mapping[str, Any]) -> Touched:
    """Return what `turn/complete` touches, by its parameters."""
    touched = Touched()
    touched.add("Source", f"chat:{params['turn_id']}", made=True)
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


def _raised_doubt(doubt: model.Uncertainty, tolerance: float) -> dict[str, Any]:
    changed = clear_properties(doubt, "state", "severity", "surfaced_count", "last_surfaced_at")
    return {"id": doubt.id, "properties": changed, "tolerance": tolerance}


async def list_turns(graph: Graph, session: model.Session) -> list[model.StoredTurn]:
    """Return the turns of the running conversation, oldest first; `turn/list`."""
    (row,) = await graph.run("turn/list", session)
    return await only_intact(graph, session, row["turns"], lambda turn: _opened_turn(session, turn))


async def list_ring(
    graph: Graph, session: model.Session, limit: int, as_of: datetime | None = None
) -> list[model.Fact]:
    """Return a student's facts, newest first, those learned by a moment where one is given; `fact/list`."""
    (row,) = await graph.run("fact/list", session, limit=limit, as_of=as_of)
    return await only_intact(graph, session, row["facts"], lambda fact: opened(model.Fact, "Fact", fact, session))


async def remove_fact(graph: Graph, session: model.Session, fact_id: str, now: datetime) -> bool | None:
    """Delete a fact; `fact/delete`. False without such a fact; None when the session has ended."""
    return await graph.value(bool, "fact/delete", session, id=fact_id, now=now)


async def list_unanswered(graph: Graph, session: model.Session) -> list[model.StoredTurn]:
    """Return messages of a student that were not answered, oldest first; `turn/list_waiting`."""
    rows = await graph.run("turn/list_waiting", session)
    return await only_intact(graph, session, rows, lambda row: _opened_turn(session, row["turn"]))


async def list_stranded(graph: Graph, before: datetime, now: datetime, limit: int = 20) -> list[str]:
    """Session tokens of students with messages nobody answered in time, read in pages; `turn/list_stranded`."""
    rows = graph.pages("turn/list_stranded", limit, before=before, now=now)
    return [token_text(row["token"]) async for row in rows]


async def find_oldest_waiting(graph: Graph) -> datetime | None:
    """Time of the oldest message without a reply, if one waits; `turn/find_oldest_waiting`."""
    return await graph.value(moment, "turn/find_oldest_waiting")


def _timeless(properties: dict[str, Any]) -> dict[str, Any]:
    """Without the moments, which are given once for all: the driver takes a tenth of a millisecond for each."""
    return {name: value for name, value in properties.items() if not isinstance(value, datetime)}


def _totals(write: TurnWrite) -> dict[str, Any]:
    seq = write.outcome.seq
    begun = ({} if write.question is None else {"asked_turn": seq}) | ({"episode_turn": seq} if write.episode else {})
    return {"turns": seq, "signals": list(write.signals)} | begun


def _prediction(session: model.Session, row: Row) -> model.Prediction | None:
    if row["prediction"] is None:
        return None
    place = NodeSealer(session.keys, session, "Companion", f"companion@{row['turns']}")
    said = place.json("prediction", row["prediction"])
    sealed = row["prediction_embedding"]
    embedding = None if sealed is None else place.vector("prediction_embedding", sealed)
    others = tuple(model.Alternative(text, chance) for text, chance in said.get("alternatives", ()))
    return model.Prediction(said["text"], tuple(said["needed_info"]), embedding, said.get("chance", 1.0), others)


def _sealed_prediction(session: model.Session, prediction: model.Prediction, seq: int) -> dict[str, Any]:
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


def _read_outcome(session: model.Session, turn_id: str, turn: Row) -> model.TurnOutcome:
    place = NodeSealer(session.keys, session, "Turn", turn_id)
    told = json.loads(place.packed("outcome", turn["outcome"]))
    stored = told | {"reply": place.text("reply", turn["reply"]), "repeated": True}
    return _OUTCOME.validate_python(stored)


def check_outcome(outcome: Mapping[str, Any], reply: str) -> None:
    """Raise ValueError unless something is the result of a turn, as JSON has it."""
    _OUTCOME.validate_python(dict(outcome) | {"reply": reply})


def _opened_turn(session: model.Session, turn: Row) -> model.StoredTurn:
    """Return a turn; its time is in milliseconds, or has the offset that the message was sent with."""
    with readable("Turn", turn["id"]):
        at = from_ms(turn["at"]) if type(turn["at"]) is int else turn["at"].to_native()
    return opened(model.StoredTurn, "Turn", turn, session, at=at)
