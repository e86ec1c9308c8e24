"""What students know of the world (spec 11)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from graphmem.model import (
    Concept,
    Known,
    Observation,
    Practice,
    PracticeOutcome,
    Practised,
    Retained,
    Session,
    Who,
    outcome_of,
)
from graphmem.store.graph import Graph, Row, Transaction
from graphmem.store.nodes import NodeSealer, finite_number, from_ms, from_row, readable
from graphmem.store.sources import kind_in_graph
from graphmem.store.tampering import Damage, only_intact, report
from graphmem.store.world import concept_of

Plan = Callable[[Sequence[Practice]], Retained | None]
"""How a concept is held after all its practice."""


async def find_versions(graph: Graph, who: Who) -> tuple[int, int] | None:
    """Versions of the world and of a student's overlay; None without the student; `overlay/get_versions`."""
    rows = await graph.run("overlay/get_versions", who)
    return (rows[0]["world"], rows[0]["overlay"]) if rows else None


async def list_known_ids(graph: Graph, who: Who) -> list[str]:
    """Return ids of the concepts that a student knows; `overlay/list_ids`."""
    return await graph.value(list, "overlay/list_ids", who) or []


async def list_unknown_concepts(graph: Graph, institution: str, ids: Sequence[str]) -> list[str]:
    """Return which of some ids are no concept of the world; `overlay/list_unknown`."""
    return [row["id"] for row in await graph.run("overlay/list_unknown", institution=institution, ids=ids)]


async def reveal_together(
    graph: Graph, who: Who, ids: Sequence[str], edge_ids: Sequence[str], now: datetime
) -> list[str] | None:
    """Put concepts and edges into an overlay, all or none; `overlay/reveal`, `overlay/discover`.

    Returns
    -------
    the edges that do not lead between known concepts, for whose sake nothing was written; None without the student
    """
    missing: list[str] = []

    async def work(tx: Transaction) -> bool | None:
        missing.clear()
        if not await tx.run("overlay/reveal", ids=ids, now=now):
            return False
        rows = await tx.run("overlay/discover", edge_ids=edge_ids, now=now)
        found = {row["edge_id"] for row in rows}
        missing.extend(each for each in edge_ids if each not in found)
        return None if missing else True

    there = await graph.transact(who, work)
    return None if there is False else missing


async def save_attitude(
    graph: Graph,
    session: Session,
    concept_id: str,
    attitude: float | None,
    familiarity: float | None,
    notes: str | None,
    now: datetime,
    plan: Plan,
) -> Known | None:
    """Set attitude, familiarity and notes of a known concept; `overlay/set_attitude`. None where it is not known."""
    sealed = (
        None
        if notes is None
        else NodeSealer(session.keys, session, "KNOWS", f"knows-{concept_id}").seal("notes", notes)
    )
    given = {"id": concept_id, "attitude": attitude, "familiarity": familiarity, "notes": sealed, "now": now}

    async def work(tx: Transaction) -> Known | None:
        rows = await tx.run("overlay/set_attitude", **given)
        if not rows:
            return None
        retentions = await _set_retentions(tx, [concept_id], plan) if familiarity is not None else {}
        known = _read_known(session, session, rows[0]["known"], Damage())
        return replace(known, retention=retentions.get(concept_id, known.retention))

    return await graph.transact(session, work)


async def save_practice(
    graph: Graph, who: Who, practised: Sequence[tuple[Observation, Practised]], now: datetime, plan: Plan
) -> None:
    """Store the practice in stored observations, and the concepts' retention since.

    Noted once for each observation and concept; edges between concepts practised together are discovered;
    `overlay/practise`, `overlay/discover_practised`, `overlay/list_practice`, `overlay/set_retention`.

    Parameters
    ----------
    graph : Graph
    who : Who
    practised : concepts of the world, each with the observation it was practised in
    now : datetime
    plan : how a concept is held after all its practice
    """
    rows = [{"kind": kind_in_graph(observed.kind), "ref": observed.ref} | asdict(each) for observed, each in practised]

    async def work(tx: Transaction) -> bool:
        # Writing the student first keeps two of them apart.
        known = [row["concept_id"] for row in await tx.run("overlay/practise", practised=rows, now=now)]
        await tx.run("overlay/discover_practised", practised=rows, now=now)
        await _set_retentions(tx, known, plan)
        return True

    await graph.transact(who, work)


async def _set_retentions(tx: Transaction, ids: Sequence[str], plan: Plan) -> dict[str, Retained]:
    """Work out how concepts are held, from all their practice, and keep it; by concept id."""
    found = {row["id"]: plan(_practice(row)) for row in await tx.run("overlay/list_practice", ids=ids)}
    held = {id: retention for id, retention in found.items() if retention is not None}
    await tx.run("overlay/set_retention", retentions=[{"id": id} | asdict(each) for id, each in held.items()])
    return held


async def find_practice(graph: Graph, who: Who, ids: Sequence[str]) -> Mapping[str, list[Practice]]:
    """Return all practice of some known concepts, by their ids; `overlay/list_practice`."""
    return {row["id"]: _practice(row) for row in await graph.run("overlay/list_practice", who, ids=ids)}


async def find_evidence(graph: Graph, who: Who, ids: Sequence[str], limit: int) -> Mapping[str, tuple[str, ...]]:
    """Return ids of the memories that speak of some concepts, by their ids; `overlay/list_evidence`."""
    rows = await graph.run("overlay/list_evidence", who, ids=ids, limit=limit)
    return {row["id"]: tuple(row["memories"]) for row in rows}


def _practice(row: Row) -> list[Practice]:
    told = [Practice(from_ms(at), PracticeOutcome(outcome)) for at, outcome in row["practice"]]
    if row["set_at"] is None:
        return told
    set_to = float(row["familiarity"])
    return [*told, Practice(from_ms(row["set_at"]), outcome_of(set_to), set_to)]


async def list_known(
    graph: Graph, who: Who, after: str, limit: int, session: Session | None = None
) -> tuple[int, list[Known]]:
    """Return the number of known concepts, and a page of them by id, notes only in a session; `overlay/list_page`."""
    rows = await graph.run("overlay/list_page", who, after=after, limit=limit)
    damage = Damage()
    listed = [each for row in rows for each in row["known"]]
    known = damage.intact(listed, lambda each: _read_known(who, session, each, damage))
    await report(graph, who, damage)
    return (rows[0]["total"] if rows else 0), known


async def list_due_concepts(graph: Graph, who: Who, after: str, limit: int) -> list[Known]:
    """Return known concepts after a certain one, soonest due first, without notes; `overlay/list_due`."""
    rows = await graph.run("overlay/list_due", who, after=after, limit=limit)
    return await only_intact(graph, who, rows, lambda row: _read_known(who, None, row["known"], Damage()))


async def list_held(graph: Graph, who: Who, ids: Sequence[str]) -> list[Known]:
    """Return some of the concepts that were practised or set by hand, by id; without notes; `overlay/list_held`."""
    rows = await graph.run("overlay/list_held", who, ids=ids)
    return await only_intact(graph, who, rows, lambda row: _read_known(who, None, row["known"], Damage()))


async def list_retentions(graph: Graph, who: Who) -> dict[str, Retained]:
    """Return the retention of concepts practised or set by hand, by concept id; `overlay/list_retentions`."""
    (row,) = await graph.run("overlay/list_retentions", who)
    found = await only_intact(graph, who, row["held"], lambda held: (held[0], _retention(*held)))
    return {id: held for id, held in found if held is not None}


def _read_known(who: Who, session: Session | None, row: Sequence[Any], damage: Damage) -> Known:
    concept, attitude, familiarity, since, sealed = concept_of(row[0]), *row[1:5]
    notes = None
    if session is not None and sealed is not None:
        place = NodeSealer(session.keys, who, "KNOWS", f"knows-{concept.id}")
        notes = damage.opened(lambda: place.text("notes", sealed))
    retention = _retention(concept.id, *row[5:])
    with readable("KNOWS", concept.id):
        return Known(concept, finite_number(attitude), finite_number(familiarity), from_ms(since), notes, retention)


def _retention(concept_id: str, *held: Any) -> Retained | None:
    with readable("KNOWS", concept_id):
        return None if held[0] is None else from_row(Retained, held)


async def list_discovered(graph: Graph, who: Who) -> list[str]:
    """Return ids of the edges that a student found; `overlay/list_discovered`."""
    return [row["edge_id"] for row in await graph.run("overlay/list_discovered", who)]


async def list_frontier(graph: Graph, who: Who, weak: Sequence[str], limit: int) -> list[Concept]:
    """Unknown concepts whose prerequisites are known, and none of them weak; `overlay/frontier`."""
    rows = await graph.run("overlay/frontier", who, weak=weak, limit=limit)
    return [concept_of(row["concept"]) for row in rows]
