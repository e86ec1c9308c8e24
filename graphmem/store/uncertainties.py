"""Uncertainties and surprises in the graph: each doubt with the memories it concerns, each response (spec 5, 12)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from graphmem import model
from graphmem.sealing import Stored
from graphmem.store.graph import Graph, Row
from graphmem.store.memories import opened_edge
from graphmem.store.nodes import NodeSealer, clear_properties, opened, readable, sealed_properties, token_text
from graphmem.store.tampering import Damage, only_intact, report

SIDES = ("a", "b")
STANDING_PROPERTIES = ("state", "resolution_strategy", "surfaced_count", "last_surfaced_at", "resolved_at")
"""Clear properties that change as an uncertainty is raised and settled."""
MOST_LISTED = 500


RESPONSE = TypeAdapter(model.SurpriseResponse)


@dataclass(frozen=True)
class Earlier:
    """A memory as it was before an uncertainty was settled: what is put back where that is undone."""

    memory_id: str
    reliability: model.Reliability
    invalid_at: datetime | None
    reinforcement_count: int
    last_reinforced_at: datetime | None
    strength: float
    confidence: float | None = None

    @classmethod
    def of(cls, memory: model.Memory) -> "Earlier":
        """Return a memory as it is now."""
        return cls(memory.id, *(getattr(memory, name) for name in PUT_BACK))

    @property
    def values(self) -> dict[str, Any]:
        """What is put back; records of older versions hold no confidence."""
        names = PUT_BACK if self.confidence is not None else PUT_BACK[:-1]
        return {name: getattr(self, name) for name in names}


PUT_BACK = tuple(each.name for each in fields(Earlier)[1:])
"""Fields of `Memory` that are put back, the confidence last."""


@dataclass(frozen=True)
class Undo:
    """Everything that settling an uncertainty changed, so that it can be undone.

    memories : as they were; edges : that were made, as from, to and type; made : ids of memories that were made
    settled_edges : relationships about which something was settled, as from, to and type
    """

    memories: tuple[Earlier, ...] = ()
    edges: tuple[tuple[str, str, model.EdgeType], ...] = ()
    made: tuple[str, ...] = ()
    settled_edges: tuple[tuple[str, str, model.EdgeType], ...] = ()


UNDO = TypeAdapter(Undo)


@dataclass(frozen=True)
class Recorded:
    """An uncertainty as it is kept, and how what settled it is undone.

    new : it is created; one of its id that is open stays as it is
    """

    uncertainty: model.Uncertainty
    undo: Undo = field(default_factory=Undo)
    new: bool = False


async def find_uncertainty(graph: Graph, session: model.Session, uncertainty_id: str) -> Recorded | None:
    """Return one uncertainty, opened; `uncertainty/list`. None where there is none of this id."""
    rows = await _list(graph, session, {"ids": [uncertainty_id]})
    found = await only_intact(graph, session, rows, lambda row: _recorded(session, row))
    return found[0] if found else None


def _recorded(session: model.Session, row: Row) -> Recorded:
    sealed, uncertainty_id = row["uncertainty"].get("undo"), row["uncertainty"]["id"]
    place = NodeSealer(session.keys, session, "Uncertainty", uncertainty_id)
    with readable("Uncertainty", uncertainty_id):
        return Recorded(
            _opened_doubt(row, session),
            Undo() if sealed is None else UNDO.validate_json(place.text("undo", sealed)),
        )


async def find_uncertainties(
    graph: Graph,
    who: model.Who,
    session: model.Session | None,
    *,
    states: Sequence[model.UncertaintyState] | None = None,
    severity: model.Severity | None = None,
    memory_ids: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
) -> list[model.Uncertainty]:
    """Return a student's uncertainties, newest first, at most 500; `uncertainty/list`. Texts only with the session."""
    wanted = {"states": states, "severity": severity, "ids": ids, "memory_ids": memory_ids}
    return await only_intact(graph, who, await _list(graph, who, wanted), lambda row: _opened_doubt(row, session))


async def list_opposed_edges(
    graph: Graph, who: model.Who, ids: Sequence[str], limit: int
) -> list[tuple[model.Edge, model.Edge]]:
    """Return pairs of relationships of some memories that cannot both be so; `uncertainty/list_opposed_edges`."""
    rows = await graph.run("uncertainty/list_opposed_edges", who, ids=ids, limit=limit)
    return await only_intact(graph, who, rows, lambda row: (_read_edge(*row["one"]), _read_edge(*row["other"])))


def _read_edge(kind: str, from_id: str, to_id: str, weight: float, created_at: int) -> model.Edge:
    return opened_edge((kind, weight, from_id, to_id, "Memory", created_at))


async def claim_due(graph: Graph, before: datetime, now: datetime, limit: int) -> list[tuple[model.Who, str | None]]:
    """Take students whose last cycle was before some moment, longest ago first; `drift/claim`.

    Each with the sealed token of an open session, if there is one. Another process that asks finds others.
    """
    rows = await graph.run("drift/claim", before=before, now=now, limit=limit)
    return [(model.Who(row["institution"], row["id"]), row["token"] and token_text(row["token"])) for row in rows]


async def begin_cycle(graph: Graph, who: model.Who, before: datetime | None, now: datetime) -> tuple[int, int] | None:
    """Begin a drift cycle; `uncertainty/begin_cycle`.

    Returns
    -------
    how many cycles there were, and the version of the student's memories; None where one ran after `before`
    """
    rows = await graph.run("uncertainty/begin_cycle", who, before=before, now=now)
    return (rows[0]["cycle"], rows[0]["version"]) if rows else None


async def _list(graph: Graph, who: model.Who, wanted: Mapping[str, Any]) -> list[Row]:
    everything = {"ids": None, "states": None, "severity": None, "memory_ids": None, "limit": MOST_LISTED}
    return await graph.run("uncertainty/list", who, **(everything | dict(wanted)))


def stored_uncertainty(session: model.Session, recorded: Recorded) -> dict[str, Any]:
    """Return the properties of an uncertainty, and each of its sides."""
    doubt = recorded.uncertainty
    sides = [
        {"side": side, "memory_id": i, "type": edge and edge.type, "to_id": edge and edge.to_id}
        for side, i, edge in zip(SIDES, (doubt.a_id, doubt.b_id), (doubt.a_edge, doubt.b_edge), strict=True)
        if i
    ]
    return {
        "properties": clear_properties(doubt) | stored_standing(session, recorded),
        "sides": sides,
    }


def stored_standing(session: model.Session, recorded: Recorded) -> dict[str, Any]:
    """Return the properties of an uncertainty that change as it is raised and settled."""
    doubt, place = recorded.uncertainty, NodeSealer(session.keys, session, "Uncertainty", recorded.uncertainty.id)
    texts = sealed_properties(place, doubt) | {"undo": place.seal("undo", UNDO.dump_json(recorded.undo).decode())}
    return clear_properties(doubt, *STANDING_PROPERTIES) | texts


def _opened_doubt(row: Row, session: model.Session | None) -> model.Uncertainty:
    held = row["uncertainty"]
    with readable("Uncertainty", held["id"]):
        sides = {side: memory_id for side, memory_id, *_ in row["sides"]}
        edges = {
            side: model.RelationshipSide(model.EdgeType(kind), to_id) for side, _, kind, to_id in row["sides"] if kind
        }
        return opened(
            model.Uncertainty,
            "Uncertainty",
            held,
            session,
            a_id=sides["a"] if "a" in sides else sides["b"],
            b_id=sides.get("b") if "a" in sides else None,
            a_edge=edges.get("a"),
            b_edge=edges.get("b"),
        )


@dataclass(frozen=True)
class Surprised:
    """Surprise of a memory, as a correction sees it.

    memory_id : the episode that began with the memory's message, or else the memory itself
    response : to the surprise, if there was one
    members : memories that were formed of the surprising message
    """

    memory_id: str
    response: model.SurpriseResponse | None
    verdict: model.Verdict | None
    members: tuple[str, ...]


async def find_surprised(graph: Graph, session: model.Session, memory_id: str) -> Surprised | None:
    """Find the surprise of a message, by a memory of it; `surprise/find`. None without such a memory."""
    rows = await graph.run("surprise/find", session, memory_id=memory_id)
    if not rows:
        return None
    (row,) = rows
    damage = Damage()
    response = damage.opened(lambda: _response(session, row["memory_id"], row["response"]))
    await report(graph, session, damage)
    return Surprised(
        memory_id=row["memory_id"],
        response=response,
        verdict=None if row["verdict"] is None else model.Verdict(row["verdict"]),
        members=tuple(row["members"]),
    )


async def list_responses(graph: Graph, session: model.Session, ids: Sequence[str]) -> dict[str, model.SurpriseResponse]:
    """Return the responses that some episodes keep, by the episode's id; `surprise/list_responses`.

    An id of any other memory, or of none, is left out.
    """
    rows = await graph.run("surprise/list_responses", session, ids=ids)
    found = await only_intact(
        graph, session, rows, lambda row: (row["id"], _response(session, row["id"], row["response"]))
    )
    return {memory_id: response for memory_id, response in found if response is not None}


def _response(session: model.Session, memory_id: str, sealed: Stored | None) -> model.SurpriseResponse | None:
    if sealed is None:
        return None
    with readable("Memory", memory_id):
        opened = NodeSealer(session.keys, session, "Memory", memory_id).text("surprise_response", sealed)
        return RESPONSE.validate_json(opened)


async def list_open_questions(graph: Graph, session: model.Session) -> list[model.Question]:
    """Return questions nobody has answered, longest waiting first; `question/list`."""
    rows = await graph.run("question/list", session)
    return await only_intact(
        graph, session, rows, lambda row: opened(model.Question, "Question", row["question"], session)
    )


async def save_answer(graph: Graph, session: model.Session, question_id: str, now: datetime) -> bool:
    """Note that a question was answered; `question/answer`. False without such a question."""
    return bool(await graph.run("question/answer", session, question_id=question_id, now=now))


async def delete_idle_questions(graph: Graph, who: model.Who) -> int:
    """Delete waiting questions that no memory raises which still holds; how many; `drift/delete_questions`."""
    return await graph.value(int, "drift/delete_questions", who) or 0
