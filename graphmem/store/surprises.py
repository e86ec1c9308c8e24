"""Surprises in the graph: the episode with the response, facts, revised beliefs, questions (spec 5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import TypeAdapter

from graphmem.model import Question, Session, SurpriseResponse, Verdict, Who
from graphmem.sealing import Stored
from graphmem.store.graph import Graph
from graphmem.store.nodes import NodeSealer, opened, readable
from graphmem.store.tampering import Damage, only_intact, report

RESPONSE = TypeAdapter(SurpriseResponse)


@dataclass(frozen=True)
class Surprised:
    """Surprise of a memory, as a correction sees it.

    memory_id : the episode that began with the memory's message, or else the memory itself
    response : to the surprise, if there was one
    members : memories that were formed of the surprising message
    """

    memory_id: str
    response: SurpriseResponse | None
    verdict: Verdict | None
    members: tuple[str, ...]


async def find_surprised(graph: Graph, session: Session, memory_id: str) -> Surprised | None:
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
        verdict=None if row["verdict"] is None else Verdict(row["verdict"]),
        members=tuple(row["members"]),
    )


async def list_responses(graph: Graph, session: Session, ids: Sequence[str]) -> dict[str, SurpriseResponse]:
    """Return the responses that some episodes keep, by the episode's id; `surprise/list_responses`.

    An id of any other memory, or of none, is left out.
    """
    rows = await graph.run("surprise/list_responses", session, ids=ids)
    found = await only_intact(
        graph, session, rows, lambda row: (row["id"], _response(session, row["id"], row["response"]))
    )
    return {memory_id: response for memory_id, response in found if response is not None}


def _response(session: Session, memory_id: str, sealed: Stored | None) -> SurpriseResponse | None:
    if sealed is None:
        return None
    with readable("Memory", memory_id):
        opened = NodeSealer(session.keys, session, "Memory", memory_id).text("surprise_response", sealed)
        return RESPONSE.validate_json(opened)


async def list_open_questions(graph: Graph, session: Session) -> list[Question]:
    """Return questions nobody has answered, longest waiting first; `question/list`."""
    rows = await graph.run("question/list", session)
    return await only_intact(graph, session, rows, lambda row: opened(Question, "Question", row["question"], session))


async def save_answer(graph: Graph, session: Session, question_id: str, now: datetime) -> bool:
    """Note that a question was answered; `question/answer`. False without such a question."""
    return bool(await graph.run("question/answer", session, question_id=question_id, now=now))


async def delete_idle_questions(graph: Graph, who: Who) -> int:
    """Delete waiting questions that no memory raises which still holds; how many; `drift/delete_questions`."""
    rows = await graph.run("drift/delete_questions", who)
    return int(rows[0]["deleted"]) if rows else 0
