"""Memories in the graph: how they are read, fade, are consolidated and compressed (spec 2, 6, 9, 10, 13)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from graphmem import model
from graphmem.errors import Tampered
from graphmem.maths.gravity import HALF_LIFE, RESIDUE, SPEEDS, UNCONSOLIDATED_SPEED
from graphmem.maths.importance import RATE_WINDOW, SEGMENT_GAP
from graphmem.sealing import StudentLock
from graphmem.store import nodes
from graphmem.store.graph import Graph, Row, Transaction
from graphmem.store.jobs import Kind
from graphmem.store.sources import opened_source
from graphmem.store.tampering import Damage, only_intact, report

T = TypeVar("T")
_RELIABILITIES = frozenset(each.value for each in model.Reliability)
LOAD_PAGE = 5000
"""Memories read at once when a student's memories are taken into memory."""
REINFORCED = (
    *("gravity", "salience", "confidence", "strength", "importance", "last_accessed"),
    *("reinforcement_count", "last_reinforced_at"),
)
"""Fields that change when a memory is said again."""


GOING = ("version", "emptied", "facts", "turns", "entries", "questions", "jobs", "prediction")
"""Fields of `Forgetting` that `memory/forget` takes."""


@dataclass(frozen=True)
class MemoriesState:
    """State of a student's memories: versions, turns and settings.

    version : of the memories
    removed : the version with which some were last removed
    turns : how many there were; each uses memories
    student_version : of the student, which changes with each turn, too
    fog_versions : of the institution's world and of the student's overlay
    tolerance : of the companion
    name : of the student, where it is known
    """

    version: int
    removed: int
    turns: int
    student_version: int
    fog_versions: tuple[int, int]
    tolerance: float
    name: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class LoadedMemory:
    """A memory as it is taken into memory; without a vector where the embedding model was changed."""

    memory: model.Memory
    vector: model.Vector | None = field(repr=False)


@dataclass(frozen=True)
class Filter:
    """Which memories to list; None means any."""

    modality: model.Modality | None = None
    kind: model.MemoryKind | None = None
    reliability: model.Reliability | None = None
    min_gravity: float = 0.0
    as_of: datetime | None = None


def forgetting_curve(now: datetime) -> dict[str, Any]:
    """Return the parameters by which a statement computes gravity at a moment, as `graphmem.maths.gravity` does."""
    curve = {"half_life": HALF_LIFE, "residue": RESIDUE, "speeds": SPEEDS, "unconsolidated": UNCONSOLIDATED_SPEED}
    return curve | {"now": now}


def label_of(modality: model.Modality) -> str:
    """Return the label of a memory's node.

    Examples
    --------
    >>> label_of(model.Modality.EPISODIC)
    'Episodic'
    """
    return modality.value.capitalize()


async def state(graph: Graph, session: model.Session, now: datetime) -> MemoriesState | None:
    """Return the state of a student's memories; `memory/get_state`.

    None when the session has ended, which another process may have done.
    """
    rows = await graph.read_counts("memory/get_state", session, now=now)
    if not rows:
        return None
    (row,) = rows
    sealed, place, damage = row["name"], nodes.NodeSealer(session.keys, session, "Student", "student"), Damage()
    name = None if sealed is None else damage.opened(lambda: place.text("display_name", sealed))
    await report(graph, session, damage)
    return nodes.from_row(
        MemoriesState,
        row,
        version=row["memory_version"],
        removed=row["memories_removed"],
        student_version=row["version"],
        fog_versions=(row["world"], row["overlay_version"]),
        name=name,
    )


async def list_since(graph: Graph, session: model.Session, since: int) -> list[LoadedMemory]:
    """Every memory written after a version, opened; `memory/list_written`. One that does not open is left out."""
    found: list[LoadedMemory] = []
    after = ""
    while True:
        (row,) = await graph.run("memory/list_written", session, since=since, after=after, limit=LOAD_PAGE)
        if row["ids"]:
            rows = await _rows(graph, session, row["ids"])
            found += await only_intact(graph, session, rows, lambda each: _held(session, *each))
        if len(row["ids"]) < LOAD_PAGE:
            return found
        after = row["ids"][-1]


async def list_linked(
    graph: Graph, session: model.Session, since: int, min_weight: float
) -> tuple[list[model.Standing], dict[str, list[model.HeldEdge]]]:
    """How every memory stands that was written after a version, and its edges of some weight; `memory/list_linked`.

    An edge that is new, changed or gone counts as a write of one of its ends at least.
    """
    standings: list[model.Standing] = []
    edges: dict[str, list[model.HeldEdge]] = {}
    after = ""
    while True:
        (row,) = await graph.run(
            "memory/list_linked", session, since=since, after=after, min_weight=min_weight, limit=LOAD_PAGE
        )
        for standing, own in await only_intact(graph, session, row["memories"], _read_linked):
            standings.append(standing)
            edges[standing.id] = own
        if len(row["memories"]) < LOAD_PAGE:
            return standings, edges
        after = row["memories"][-1][0]


async def list_used(graph: Graph, session: model.Session, since: datetime) -> list[model.Standing]:
    """Return how the memories stand that were used since a moment; `memory/list_used`."""
    (row,) = await graph.run("memory/list_used", session, since=since)
    return await only_intact(graph, session, row["memories"], _read_standing)


def _read_linked(row: Sequence[Any]) -> tuple[model.Standing, list[model.HeldEdge]]:
    """Return the standing of a memory, and its readable edges."""
    return _read_standing(row[:-1]), [
        nodes.from_row(model.HeldEdge, edge) for edge in row[-1] if edge[-1] in _RELIABILITIES
    ]


def _read_standing(row: Sequence[Any]) -> model.Standing:
    with nodes.readable("Memory", row[0]):
        return nodes.from_row(model.Standing, row)


async def find_by_ids(
    graph: Graph, who: model.Who, ids: Sequence[str], session: model.Session | None
) -> list[model.Memory]:
    """Return some memories by id, in their order, opened where there is a session; `memory/find`.

    Unknown ids are left out, and so is what does not open.
    """
    rows = await _rows(graph, who, ids)
    return await only_intact(graph, who, rows, lambda each: _read_memory(*each, session))


async def _rows(graph: Graph, who: model.Who, ids: Sequence[str]) -> list[tuple[Row, str, list[str]]]:
    (row,) = await graph.run("memory/find", who, ids=list(dict.fromkeys(ids)))
    by_id = {memory["id"]: (memory, label, refs) for memory, label, refs in row["memories"]}
    return [by_id[memory_id] for memory_id in ids if memory_id in by_id]


async def list_memory_page(
    graph: Graph,
    who: model.Who,
    wanted: Filter,
    now: datetime,
    limit: int,
    after: tuple[datetime, str] | None,
    session: model.Session | None,
) -> list[model.Memory]:
    """List the memories that a filter lets through, newest first, after a time and id; `memory/list_page`.

    What does not open is left out, and the page is filled up.
    """
    before_time, before_id = after or (nodes.LAST, "")
    found: list[model.Memory] = []
    while len(found) < limit:
        missing = limit - len(found)
        (row,) = await graph.run(
            "memory/list_page",
            who,
            before_time=before_time,
            before_id=before_id,
            limit=missing,
            **_filtered(wanted, now),
        )
        rows = await _rows(graph, who, row["ids"]) if row["ids"] else []
        found += await only_intact(graph, who, rows, lambda each: _read_memory(*each, session))
        if len(row["ids"]) < missing or not rows:
            break
        before_time, before_id = nodes.from_ms(rows[-1][0]["timestamp"]), rows[-1][0]["id"]
    return found


async def count_of_student(graph: Graph, who: model.Who, wanted: Filter, now: datetime) -> int:
    """Count the memories that match a filter; `memory/count`."""
    return await graph.value(int, "memory/count", who, **_filtered(wanted, now)) or 0


def _filtered(wanted: Filter, now: datetime) -> dict[str, Any]:
    return {
        "label": None if wanted.modality is None else label_of(wanted.modality),
        **{name: value for name, value in asdict(wanted).items() if name != "modality"},
        **forgetting_curve(now),
    }


async def list_around(
    graph: Graph, who: model.Who, centre: Mapping[str, Any], session: model.Session | None
) -> tuple[list[model.Memory], list[model.Edge]] | None:
    """Return a memory's neighbourhood, nearest first, and its edges; `memory/list_around`. None without the memory.

    centre : `id` of the memory, `hops` around it, `min_weight` of an edge, `limit` of memories, `as_of` as of `Filter`
    """
    rows = await graph.run("memory/list_around", who, **centre)
    if not rows:
        return None
    found = await find_by_ids(graph, who, rows[0]["ids"], session)
    return found, await only_intact(graph, who, rows[0]["edges"], opened_edge)


async def list_edges(graph: Graph, who: model.Who, ids: Sequence[str]) -> dict[str, list[model.Edge]]:
    """Return the edges of some memories by the memory's id, strongest first; `memory/list_edges`.

    Every id asked for is a key; one that is not known has no edges.
    """
    return await _by_memory(graph, who, "memory/list_edges", ids, opened_edge)


async def list_sources(graph: Graph, who: model.Who, ids: Sequence[str]) -> dict[str, list[model.Source]]:
    """Return the sources of some memories by the memory's id, oldest first; `memory/list_sources`.

    Every id asked for is a key; one that is not known has no sources.
    """
    return await _by_memory(graph, who, "memory/list_sources", ids, lambda each: opened_source(*each))


async def list_entities(
    graph: Graph, who: model.Who, ids: Sequence[str], session: model.Session | None
) -> dict[str, list[model.NamedEntity]]:
    """Return the entities that some memories speak of, by the memory's id; `memory/list_entities`.

    Every id asked for is a key. Names are opened where there is a session.
    """

    def entity(row: Sequence[Any]) -> model.NamedEntity:
        return nodes.opened(model.NamedEntity, "Entity", dict(zip(("id", "kind", "name"), row, strict=True)), session)

    return await _by_memory(graph, who, "memory/list_entities", ids, entity)


async def _by_memory(
    graph: Graph, who: model.Who, name: str, ids: Sequence[str], read: Callable[[Sequence[Any]], T]
) -> dict[str, list[T]]:
    """Return the rows of a statement about some memories, by the memory's id, the first column of each."""
    (row,) = await graph.run(name, who, ids=list(dict.fromkeys(ids)))
    (rows,), found = row.values(), dict[str, list[T]]((memory_id, []) for memory_id in ids)
    for memory_id, value in await only_intact(graph, who, rows, lambda each: (each[0], read(each[1:]))):
        found[memory_id].append(value)
    return found


async def set_vectors(
    graph: Graph, session: model.Session, embedded: Sequence[tuple[model.Memory, model.Vector]]
) -> None:
    """Give memories their embeddings again after the model was changed; `memory/set_vectors`."""
    sealed = [
        {"id": m.id, "embedding": sealed_embedding(nodes.NodeSealer(session.keys, session, "Memory", m.id), m, v)}
        for m, v in embedded
    ]
    await graph.run("memory/set_vectors", session, vectors=sealed)


async def save_decay(graph: Graph, who: model.Who, now: datetime) -> tuple[int, int]:
    """Materialise every gravity and delete faded memories that nothing relies on; `memory/decay`.

    How many memories there were and how many were deleted.
    """
    rows = await graph.run("memory/decay", who, **forgetting_curve(now))
    return (rows[0]["decayed"], rows[0]["deleted"]) if rows else (0, 0)


def stored_value(name: str, value: Any) -> Any:
    """Return a value of a clear field of `Memory` as its property has it.

    Raises
    ------
    ValueError      there is no such property
    """
    if name not in nodes.MEMORY_NODE.clear:
        raise ValueError(f"{name} is no property of a memory")
    return nodes.storable_value(value)


def reinforced_properties(memory: model.Memory) -> dict[str, Any]:
    """Return the properties that reinforcement changes; the rest may have changed in the graph since it was read."""
    return nodes.clear_properties(memory, *REINFORCED)


def sealed_memory(session: model.Session, memory: model.Memory, vector: model.Vector | None) -> dict[str, Any]:
    """Return the properties that depend on a memory's text, sealed; without a vector no embedding."""
    place = nodes.NodeSealer(session.keys, session, "Memory", memory.id)
    embedding = {} if vector is None else {"embedding": sealed_embedding(place, memory, vector)}
    return nodes.sealed_properties(place, memory) | embedding


def sealed_embedding(place: nodes.NodeSealer, memory: model.Memory, vector: model.Vector) -> bytes | list[float]:
    """Return a memory's embedding as stored, followed by those of a summary's statements in half precision.

    Raises
    ------
    ValueError      a statement has no vector
    """
    parts = [each.vector for each in memory.statements if each.vector is not None]
    if len(parts) != len(memory.statements):
        raise ValueError("a statement of a summary needs its embedding")
    return place.seal_vector("embedding", vector, parts)


def _held(session: model.Session, row: Row, label: str, refs: list[str]) -> LoadedMemory:
    """Return a memory with its embedding, and its statements with theirs."""
    memory, sealed = _read_memory(row, label, refs, session), row.get("embedding")
    if sealed is None:
        return LoadedMemory(memory, None)
    place = nodes.NodeSealer(session.keys, session, "Memory", row["id"])
    vector, parts = place.vectors("embedding", sealed, len(memory.statements))
    statements = tuple(replace(each, vector=part) for each, part in zip(memory.statements, parts, strict=True))
    return LoadedMemory(replace(memory, statements=statements) if parts else memory, vector)


def _read_memory(row: Row, label: str, refs: list[str], session: model.Session | None) -> model.Memory:
    with nodes.readable("Memory", row["id"]):
        return nodes.opened(
            model.Memory, "Memory", row, session, modality=model.Modality(label.lower()), source_refs=tuple(refs)
        )


def opened_edge(row: Sequence[Any]) -> model.Edge:
    """Return a relationship as statements list it, in the order of its fields.

    Raises
    ------
    Tampered        a value of it is missing or of another type
    """
    with nodes.readable(row[0], f"{row[2]} {row[3]}"):
        return nodes.from_row(model.Edge, row)


@dataclass(frozen=True)
class MemoryStanding:
    """A memory as it stands, as far as events tell of it."""

    reinforcements: int
    reliability: model.Reliability
    ended: bool
    flashbulb: bool


async def find_marks(graph: Graph, session: model.Session, now: datetime) -> Row | None:
    """Return the versions `written` and `removed` of a student's memories, and counts of `compressions` and `concerns`.

    Equal marks: nothing has changed. None when the session has ended; `event/get_marks`.
    """
    return next(iter(await graph.run("event/get_marks", session, now=now)), None)


async def list_standings(graph: Graph, who: model.Who, since: int) -> dict[str, MemoryStanding]:
    """Return memories written after a version of the student's, as they stand, by id; `event/list_standings`."""
    rows = await graph.run("event/list_standings", who, since=since)
    return {row["id"]: nodes.from_row(MemoryStanding, row) for row in rows}


async def list_event_ids(graph: Graph, who: model.Who) -> tuple[Iterable[str], Iterable[str]]:
    """Return ids of all memories and of all concerns of a student; `event/list_ids`."""
    (row,) = await graph.run("event/list_ids", who)
    return row["memories"], row["concerns"]


async def list_all_edges(graph: Graph, session: model.Session, now: datetime) -> list[model.Edge] | None:
    """Return the edges between a student's memories; `compression/list_edges`. None when the session has ended."""
    rows = await graph.run("compression/list_edges", session, now=now)
    if not rows:
        return None
    return await only_intact(graph, session, rows[0]["edges"], opened_edge)


async def find_compressions(graph: Graph, who: model.Who, limit: int) -> list[model.Compression]:
    """Return compressions, newest first; `compression/list`."""
    rows = await graph.run("compression/list", who, limit=limit)
    return await only_intact(graph, who, rows[0]["compressions"], _compression) if rows else []


def stored_compression(compression: model.Compression) -> dict[str, Any]:
    """The properties of a compression's node; the losses as one list for each measure, in the order of modalities."""
    losses = ("nodes", "entropy", "gravity", "edge_weight")
    return (
        nodes.clear_properties(compression)
        | {"loss_modalities": [loss.modality for loss in compression.loss]}
        | {f"loss_{name}": [getattr(loss, name) for loss in compression.loss] for name in losses}
    )


def _compression(row: Row) -> model.Compression:
    with nodes.readable("Compression", str(row.get("id"))):
        measures = (row["loss_nodes"], row["loss_entropy"], row["loss_gravity"], row["loss_edge_weight"])
        lost = zip(row["loss_modalities"], *measures, strict=True)
        loss = tuple(model.ModalityLoss(model.Modality(name), *numbers) for name, *numbers in lost)
        return nodes.opened(model.Compression, "Compression", row, None, loss=loss)


@dataclass(frozen=True)
class UnconsolidatedMemory:
    """Features of a memory for consolidation: numbers only.

    activity : messages a minute up to the one it is of
    features : of its importance, as of then, in the order of `graphmem.maths.importance.Features`
    salience, importance : as of then
    """

    id: str
    at: datetime
    surprise: float
    activity: float
    features: tuple[float, ...]
    strength: float
    salience: float
    importance: float


async def list_waiting(
    graph: Graph, who: model.Who, limit: int, until: datetime | None
) -> tuple[list[UnconsolidatedMemory], list[float]]:
    """Thoughts nobody has considered yet, said until a moment if one is given, oldest first; `thought/list`.

    Beside them the seconds at which the student spoke around them, in order.
    """
    (row,) = await graph.run(
        "thought/list", who, limit=limit, until=until, seconds_before=RATE_WINDOW, seconds_after=SEGMENT_GAP
    )
    found = await only_intact(graph, who, row["thoughts"], _unconsolidated)
    # The turns of a session that nobody closed are gone before its memories are considered.
    return found, sorted({at / 1000 for at in row["said"]} | {thought.at.timestamp() for thought in found})


@dataclass(frozen=True)
class ConsolidationVerdict:
    """Decision of consolidation on a thought: the properties that it has from now on.

    activity : messages a minute of the time it is judged by
    """

    id: str
    consolidated: bool
    activity: float
    importance: float
    salience: float
    strength: float


async def save_verdicts(graph: Graph, who: model.Who, verdicts: Sequence[ConsolidationVerdict], now: datetime) -> int:
    """Write verdicts, once; `thought/consolidate`. Returns how many thoughts had not been considered before."""
    rows = list(map(asdict, verdicts))
    return await graph.value(int, "thought/consolidate", who, verdicts=rows, now=now) or 0


async def list_kept(graph: Graph, who: model.Who, turn_ids: Sequence[str]) -> dict[str, bool]:
    """Of turns whose memories were all judged, by id: whether one of them was consolidated; `thought/list_kept`."""
    rows = await graph.run("thought/list_kept", who, turn_ids=turn_ids)
    return {row["turn_id"]: row["consolidated"] > 0 for row in rows if not row["waiting"]}


def _unconsolidated(values: Sequence[Any]) -> UnconsolidatedMemory:
    with nodes.readable("Memory", values[0]):
        return nodes.from_row(UnconsolidatedMemory, values)


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
    rewritten: tuple[tuple[model.Memory, model.Vector | None], ...] = field(default=(), repr=False)
    payloads: tuple[WaitingWork, ...] = ()
    prediction: bool = False


async def find_traces(graph: Graph, session: model.Session, lock: StudentLock, now: datetime) -> Traces | None:
    """Read and open texts that may repeat a memory; `memory/list_traces`. None when the session has ended."""
    rows = await graph.run("memory/list_traces", session, now=now)
    if not rows:
        return None
    (row,) = rows
    damage, questions = Damage(), dict[str, str]()
    for label, i, sealed in row["questions"]:
        place = nodes.NodeSealer(session.keys, session, label, i)
        if (text := damage.opened(partial(place.text, "text", sealed))) is not None:
            questions[i] = text
    jobs = []
    for i, kind, sealed in row["jobs"]:
        # A tampered payload is reported when its job runs; it must not keep others from being forgotten.
        with suppress(Tampered):
            place, box = nodes.NodeSealer(session.keys, session, "Job", i), lock if kind == Kind.OBSERVE else None
            jobs.append(WaitingWork(i, kind, nodes.unsealed(place, nodes.SealedForm.WORK, "payload", sealed, box)))
    prediction = ""
    if row["prediction"] is not None:
        place = nodes.NodeSealer(session.keys, session, "Companion", f"companion@{row['turns']}")
        told = damage.opened(partial(place.json, "prediction", row["prediction"]))
        prediction = "" if told is None else str(told["text"])
    await report(graph, session, damage)
    return Traces(row["version"], questions, tuple(jobs), prediction)


async def delete_with_traces(
    graph: Graph, session: model.Session, lock: StudentLock, memory_id: str, forgetting: Forgetting, now: datetime
) -> tuple[bool, model.Erased] | None:
    """Delete a memory, its derivatives and its repetitions in one transaction; `memory/forget`, `memory/rewrite`.

    Returns
    -------
    whether it was decided on the newest version (else nothing was written), and how much was deleted; None without
    such a memory, or when the session has ended
    """

    async def work(tx: Transaction) -> tuple[bool, model.Erased] | None:
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
        return current, model.Erased(**counts)

    return await graph.transact(session, work)


def _resealed_job(session: model.Session, lock: StudentLock, job: WaitingWork) -> dict[str, Any]:
    place, box = nodes.NodeSealer(session.keys, session, "Job", job.id), lock if job.kind == Kind.OBSERVE else None
    return {"id": job.id, "payload": nodes.resealed(place, nodes.SealedForm.WORK, "payload", job.payload, box)}
