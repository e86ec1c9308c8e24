"""Texts elsewhere in the graph that repeat a memory: read before it is forgotten, changed with it (spec 14)."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from graphmem.errors import Tampered
from graphmem.model import Erased, Memory, Session, Vector
from graphmem.sealing import StudentLock
from graphmem.store.graph import Graph, Transaction
from graphmem.store.jobs import Kind
from graphmem.store.memories import sealed_memory
from graphmem.store.nodes import NodeSealer, SealedForm, resealed, unsealed
from graphmem.store.tampering import Damage, report

GOING = ("version", "emptied", "facts", "turns", "entries", "questions", "jobs", "prediction")
"""Fields of `Forgetting` that `memory/forget` takes."""


@dataclass(frozen=True)
class WaitingWork:
    """Payload of a job that is not done, opened; `kind` may be one that this version has no more."""

    id: str
    kind: str
    payload: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Traces:
    """Texts that may repeat a memory, as of a version of the student.

    questions : texts of questions and reflections, by id
    prediction : of the next message; empty where there is none
    """

    version: int
    questions: Mapping[str, str] = field(repr=False)
    jobs: tuple[WaitingWork, ...] = ()
    prediction: str = field(default="", repr=False)


@dataclass(frozen=True)
class Forgetting:
    """Elements deleted or changed together with a memory.

    version : of the student it was decided on
    facts, turns, entries, questions, jobs : ids of elements that repeat it
    emptied : ids of summaries without remaining statements
    rewritten : memories as they are from now on, with a new embedding where the content changed
    payloads : jobs as they are from now on
    prediction : the prediction goes
    """

    version: int
    facts: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()
    rewritten: tuple[tuple[Memory, Vector | None], ...] = field(default=(), repr=False)
    payloads: tuple[WaitingWork, ...] = ()
    prediction: bool = False


async def find_traces(graph: Graph, session: Session, lock: StudentLock, now: datetime) -> Traces | None:
    """Read and open texts that may repeat a memory; `memory/list_traces`. None when the session has ended."""
    rows = await graph.run("memory/list_traces", session, now=now)
    if not rows:
        return None
    (row,) = rows
    damage, questions = Damage(), dict[str, str]()
    for label, i, sealed in row["questions"]:
        place = NodeSealer(session.keys, session, label, i)
        if (text := damage.opened(partial(place.text, "text", sealed))) is not None:
            questions[i] = text
    jobs = []
    for i, kind, sealed in row["jobs"]:
        # A tampered payload is reported when its job runs; it must not keep others from being forgotten.
        with suppress(Tampered):
            place, box = NodeSealer(session.keys, session, "Job", i), lock if kind == Kind.OBSERVE else None
            jobs.append(WaitingWork(i, kind, unsealed(place, SealedForm.WORK, "payload", sealed, box)))
    prediction = ""
    if row["prediction"] is not None:
        place = NodeSealer(session.keys, session, "Companion", f"companion@{row['turns']}")
        told = damage.opened(partial(place.json, "prediction", row["prediction"]))
        prediction = "" if told is None else str(told["text"])
    await report(graph, session, damage)
    return Traces(row["version"], questions, tuple(jobs), prediction)


async def delete_with_traces(
    graph: Graph, session: Session, lock: StudentLock, memory_id: str, forgetting: Forgetting, now: datetime
) -> tuple[bool, Erased] | None:
    """Delete a memory, its derivatives and its repetitions in one transaction; `memory/forget`, `memory/rewrite`.

    Returns
    -------
    whether it was decided on the newest version (else nothing was written), and how much was deleted; None without
    such a memory, or when the session has ended
    """

    async def work(tx: Transaction) -> tuple[bool, Erased] | None:
        rows = await tx.run(
            "memory/forget",
            id=memory_id,
            kept=[memory.id for memory, _ in forgetting.rewritten],
            now=now,
            **{name: getattr(forgetting, name) for name in GOING},
        )
        if not rows:
            return None
        counts = dict(rows[0])
        current = bool(counts.pop("current"))
        if current and (forgetting.rewritten or forgetting.payloads):
            await tx.run(
                "memory/rewrite",
                memories=[{"id": m.id, "properties": sealed_memory(session, m, v)} for m, v in forgetting.rewritten],
                jobs=[_resealed_job(session, lock, job) for job in forgetting.payloads],
            )
        return current, Erased(**counts)

    return await graph.transact(session, work)


def _resealed_job(session: Session, lock: StudentLock, job: WaitingWork) -> dict[str, Any]:
    place, box = NodeSealer(session.keys, session, "Job", job.id), lock if job.kind == Kind.OBSERVE else None
    return {"id": job.id, "payload": resealed(place, SealedForm.WORK, "payload", job.payload, box)}
