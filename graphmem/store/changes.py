"""Changes of a student's memories: planned as one value, written in one transaction (spec 2, 5, 7)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from graphmem.model import (
    Compression,
    Correction,
    EdgeType,
    Entity,
    EntityKind,
    Fact,
    Keys,
    LedgerEntry,
    Memory,
    MemoryRole,
    Question,
    Reliability,
    Session,
    SourceKind,
    SurpriseResponse,
    Usage,
    Vector,
)
from graphmem.model.conversation import FACT
from graphmem.sealing import keyed_hash
from graphmem.store import usage as usages
from graphmem.store.compressions import stored_compression
from graphmem.store.graph import Graph, Transaction
from graphmem.store.jobs import Finished
from graphmem.store.ledger import sealed_ledger_entry
from graphmem.store.memories import (
    label_of,
    reinforced_properties,
    sealed_memory,
    stored,
)
from graphmem.store.nodes import MEMORY_NODE, QUESTION_NODE, clear_properties, sealed_properties
from graphmem.store.rows import NodeSealer
from graphmem.store.sources import kind_in_graph
from graphmem.store.surprises import RESPONSE
from graphmem.store.turns import sealed_fact
from graphmem.store.uncertainties import Recorded, stored_standing, stored_uncertainty

COMPRESSING = "compress"
"""What the usage of a language model for summaries is counted as."""


@dataclass(frozen=True)
class Origin:
    """The source that changes come from; `at`, `id` where it may have to be created."""

    kind: SourceKind
    ref: str
    id: str | None = None
    at: datetime | None = None


@dataclass(frozen=True)
class Span:
    """Which characters of its source a memory comes from."""

    start: int
    end: int


@dataclass(frozen=True)
class New:
    """A memory to be created; `origin` where it does not come from the source of all changes."""

    memory: Memory
    vector: Vector = field(repr=False)
    span: Span
    origin: Origin | None = None


@dataclass(frozen=True)
class Reinforced:
    """A memory that was said again, as it is from now on."""

    memory: Memory
    span: Span


@dataclass(frozen=True)
class Update:
    """New values of some fields of a memory that exists, by their names in `Memory`."""

    memory_id: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class NewEdge:
    """A relationship between two memories; one that exists keeps the greater weight."""

    from_id: str
    to_id: str
    type: EdgeType
    weight: float


@dataclass(frozen=True)
class SettledEdge:
    """A relationship about which something is settled: its reliability from now on; None takes that back."""

    from_id: str
    to_id: str
    type: EdgeType
    reliability: Reliability | None


@dataclass(frozen=True)
class Mention:
    """A memory that speaks of an entity."""

    memory_id: str
    entity: Entity
    type: EdgeType
    weight: float


@dataclass(frozen=True)
class Promotion:
    """A ledger entry and the memory it rests on; None where only the ledger keeps what was said."""

    entry: LedgerEntry
    vector: Vector = field(repr=False)
    memory_id: str | None


@dataclass(frozen=True)
class FormedSource:
    """A source that was read: its score, and of a message how it is to be considered when it is consolidated.

    activity : messages a minute; None of what is not said
    features : of its importance
    """

    snr: int
    activity: float | None = None
    features: tuple[float, ...] = ()


@dataclass(frozen=True)
class Corrected:
    """A verdict on the surprise of a memory, with a note."""

    memory_id: str
    correction: Correction
    note: str = field(repr=False)


@dataclass(frozen=True)
class Summary:
    """A memory that stands for others, whose sources it takes over."""

    memory: Memory
    vector: Vector = field(repr=False)


@dataclass(frozen=True)
class Restored:
    """A statement of a summary that is a memory again, since something has become of it alone."""

    memory: Memory
    vector: Vector = field(repr=False)
    summary_id: str


@dataclass(frozen=True)
class Absorbed:
    """A memory that goes, and the one that takes over what it comes from and speaks of."""

    gone: str
    into: str


@dataclass(frozen=True)
class Topic:
    """A concept of the world that a memory is about; weight 0 to 1, the chance that it is meant."""

    memory_id: str
    concept_id: str
    weight: float


@dataclass(frozen=True)
class Changes:
    """Everything that follows one source, surprise or verdict, decided before anything is written.

    known : version of the student's memories that it was decided on; None where that does not matter
    inferred_by : the mind that read the source
    formed : the source is formed by this
    response : to a surprise; kept on the first of the new memories, which is the episode where one begins
    ended : ids of memories that hold no longer, whose ledger entries close, and of such entries and facts themselves
    revived : ids of memories that hold again; what had closed with them opens again
    facts : their `seq` is given when they are written
    raised_by : id of the memory that the questions hang on; an episode's own without it
    doubts : uncertainties that are new
    settled : uncertainties that exist, as they stand from now on
    tolerance : of the companion from now on; None leaves it as it is
    topics : concepts that memories are about
    removed : edges that are taken away; their weight does not matter
    settled_edges : relationships about which something is settled
    summaries, absorbed, deleted : memories that stand for others, what they and others take over, ids of those that go
    restored : statements that leave their summaries
    rewritten : those summaries without them, and lessons that have grown
    passed : edges that summaries and heirs take over from memories that go
    compression : the record of it
    usage : what the summaries cost
    """

    known: int | None
    inferred_by: str
    origin: Origin | None = None
    formed: FormedSource | None = None
    new: tuple[New, ...] = ()
    reinforced: tuple[Reinforced, ...] = ()
    updated: tuple[Update, ...] = ()
    edges: tuple[NewEdge, ...] = ()
    mentions: tuple[Mention, ...] = ()
    ledger: tuple[Promotion, ...] = ()
    ended: tuple[str, ...] = ()
    revived: tuple[str, ...] = ()
    response: SurpriseResponse | None = field(default=None, repr=False)
    facts: tuple[Fact, ...] = ()
    questions: tuple[Question, ...] = ()
    raised_by: str | None = None
    reflections: tuple[Question, ...] = ()
    corrected: Corrected | None = None
    doubts: tuple[Recorded, ...] = ()
    settled: tuple[Recorded, ...] = ()
    tolerance: float | None = None
    topics: tuple[Topic, ...] = ()
    removed: tuple[NewEdge, ...] = ()
    settled_edges: tuple[SettledEdge, ...] = ()
    summaries: tuple[Summary, ...] = ()
    absorbed: tuple[Absorbed, ...] = ()
    restored: tuple[Restored, ...] = ()
    rewritten: tuple[Summary, ...] = ()
    passed: tuple[NewEdge, ...] = ()
    deleted: tuple[str, ...] = ()
    compression: Compression | None = None
    usage: Usage = field(default_factory=Usage)

    @property
    def responded_id(self) -> str | None:
        """The memory that keeps the response to a surprise; None without one."""
        return None if self.response is None else self.new[0].memory.id

    @property
    def episode_id(self) -> str | None:
        """The episode that begins with a surprise; None without one."""
        return self.responded_id if self.new and self.new[0].memory.role is MemoryRole.EPISODE else None

    @property
    def touches_turns(self) -> bool:
        """True if something that a turn depends on changes: facts, questions or corrections."""
        own = (self.response, self.corrected, self.facts, self.questions, self.ends_facts)
        return any(own)

    @property
    def ends_facts(self) -> bool:
        """True if a fact is named among what ends."""
        return any(each.startswith(FACT) for each in self.ended)


@dataclass(frozen=True)
class Written:
    """The student after a write: version, and how many facts there ever were; not `current`: nothing was written."""

    current: bool
    version: int
    facts: int


async def write(
    graph: Graph, session: Session, changes: Changes, now: datetime, finished: Finished | None = None
) -> Written | None:
    """Write changes and finish their job, in one transaction; the statements are those of `changes/`.

    Writing twice changes nothing: the job is done after the first time, and the memories have another version.

    Returns
    -------
    Written, not `current` when memories changed since the changes were planned; None when the job is another
    worker's by now, or there is no such memory to correct

    Raises
    ------
    Conflict        a memory of another id has the same `content_hash`
    Unavailable     Neo4j does not answer
    """

    async def work(tx: Transaction) -> Written | None:
        begun = await tx.run(
            "changes/begin",
            job_id=None if finished is None else finished.job.id,
            lease=None if finished is None else finished.job.lease,
            known=changes.known,
            memories=True,
            turns=changes.touches_turns,
            now=now,
        )
        if not begun:
            return None
        written = Written(begun[0]["current"], begun[0]["version"], begun[0]["facts"])
        if not written.current:
            return written
        if changes.corrected is not None and not await _correct(tx, session, changes.corrected):
            return None
        await _write_memories(tx, session, changes, begun[0]["written"], now)
        await _write_surprise(tx, session, changes, begun[0]["written"], now)
        await _write_compression(tx, session, changes, begun[0]["written"], now)
        facts = written.facts
        if finished is not None and changes.facts:
            facts = await _add_facts(tx, session, changes, finished.facts_kept)
        await _pass_on_topics(tx, changes, now)
        await _form_source(tx, changes, begun[0]["written"], now)
        if finished is None:
            return written
        await usages.add_usage(tx, finished.job.kind, finished.usage, now)
        return Written(True, written.version, facts)

    return await graph.transact(session, work)


async def _write_memories(tx: Transaction, session: Session, changes: Changes, written: int, now: datetime) -> None:
    source = {} if changes.origin is None else _source_key(changes.origin)
    if changes.new:
        rows = [_created(session, changes, new, now) for new in changes.new]
        await tx.run("changes/create_memories", memories=rows, written=written)
    await _write_statements(tx, session, changes, written)
    if changes.reinforced:
        again = [
            {"id": r.memory.id, "start": r.span.start, "end": r.span.end, "properties": reinforced_properties(r.memory)}
            for r in changes.reinforced
        ]
        await tx.run("changes/reinforce_memories", memories=again, written=written, **source)
    if changes.updated:
        updates = [
            {"id": u.memory_id, "properties": {name: stored(name, value) for name, value in u.values.items()}}
            for u in changes.updated
        ]
        await tx.run("changes/update_memories", memories=updates, written=written)
    if changes.edges:
        edges = [_new_edge_row(edge, changes.inferred_by, now) for edge in changes.edges]
        await tx.run("changes/merge_edges", edges=edges, written=written)
    await _write_doubts(tx, session, changes, written)
    if changes.mentions:
        mentions = [_mention(session, mention, changes.inferred_by, now) for mention in changes.mentions]
        await tx.run("changes/merge_mentions", mentions=mentions)
    if changes.topics:
        inferred = {"reliability": Reliability.RELIABLE.value, "created_at": now, "inferred_by": changes.inferred_by}
        topics = [
            {"memory_id": t.memory_id, "concept_id": t.concept_id, "properties": inferred | {"weight": t.weight}}
            for t in changes.topics
        ]
        await tx.run("changes/merge_topics", topics=topics)
    if changes.ledger:
        entries = [
            {"properties": sealed_ledger_entry(session, p.entry, p.vector), "memory_id": p.memory_id}
            for p in changes.ledger
        ]
        await tx.run("changes/promote_entries", entries=entries, written=written, **source)
    if changes.ended or changes.revived:
        at = now if changes.origin is None or changes.origin.at is None else changes.origin.at
        await tx.run("changes/close_entries", ended=list(changes.ended), revived=list(changes.revived), now=at)


async def _form_source(tx: Transaction, changes: Changes, written: int, now: datetime) -> None:
    if changes.formed is not None:
        source = {} if changes.origin is None else _source_key(changes.origin)
        ids = [new.memory.id for new in changes.new]
        await tx.run("changes/form_source", snr=changes.formed.snr, ids=ids, written=written, now=now, **source)


async def _pass_on_topics(tx: Transaction, changes: Changes, now: datetime) -> None:
    """What the facts and doubts of some changes are about, once all of them are written."""
    doubted = [side for each in changes.doubts for side in (each.uncertainty.a_id, each.uncertainty.b_id) if side]
    memory_ids = list(dict.fromkeys([*(topic.memory_id for topic in changes.topics), *doubted]))
    fact_ids = [fact.id for fact in changes.facts]
    if memory_ids or fact_ids:
        await tx.run("changes/pass_on_topics", memory_ids=memory_ids, fact_ids=fact_ids, now=now)


async def _write_statements(tx: Transaction, session: Session, changes: Changes, written: int) -> None:
    """Statements that leave their summaries, and those summaries."""
    if changes.restored:
        rows = [
            {
                "label": label_of(each.memory.modality),
                "properties": _sealed_properties(session, each.memory, each.vector),
                "summary_id": each.summary_id,
                "ref": each.memory.source_refs[0],
            }
            for each in changes.restored
        ]
        await tx.run("changes/restore_statements", statements=rows, written=written)
    if changes.rewritten:
        rows = [
            {
                "id": each.memory.id,
                "properties": sealed_memory(session, each.memory, each.vector)
                | clear_properties(MEMORY_NODE, each.memory, "content_hash"),
            }
            for each in changes.rewritten
        ]
        await tx.run("changes/update_memories", memories=rows, written=written)


async def _write_doubts(tx: Transaction, session: Session, changes: Changes, written: int) -> None:
    rated = [update.memory_id for update in changes.updated if "reliability" in update.values]
    if rated:
        await tx.run("changes/rate_edges", ids=rated, written=written)
    if changes.settled_edges:
        settled = [
            {"from_id": e.from_id, "to_id": e.to_id, "type": e.type.value, "settled": e.reliability}
            for e in changes.settled_edges
        ]
        await tx.run("changes/settle_edges", edges=settled, written=written)
    if changes.removed:
        edges = [{"from_id": e.from_id, "to_id": e.to_id, "type": e.type.value} for e in changes.removed]
        await tx.run("changes/remove_edges", edges=edges, written=written)
    if changes.doubts:
        doubts = [stored_uncertainty(session, each) for each in changes.doubts]
        await tx.run("changes/merge_uncertainties", uncertainties=doubts)
    if changes.settled:
        standing = [{"id": e.uncertainty.id, "properties": stored_standing(session, e)} for e in changes.settled]
        await tx.run("changes/settle_uncertainties", uncertainties=standing)
    if changes.tolerance is not None:
        await tx.run("changes/set_tolerance", tolerance=changes.tolerance)


async def _write_surprise(tx: Transaction, session: Session, changes: Changes, written: int, now: datetime) -> None:
    if changes.episode_id is not None and changes.origin is not None:
        source = _source_key(changes.origin)
        await tx.run("changes/start_episode", episode_id=changes.episode_id, written=written, now=now, **source)
    raised = [
        {"label": label, "properties": _sealed_question(session, label, each)}
        for label, questions in (("Question", changes.questions), ("Reflection", changes.reflections))
        for each in questions
    ]
    if raised:
        by = changes.raised_by or changes.episode_id
        await tx.run("changes/raise_questions", memory_id=by, raised=raised)


async def _write_compression(tx: Transaction, session: Session, changes: Changes, written: int, now: datetime) -> None:
    if changes.compression is None:
        return
    rows = [
        {"label": label_of(each.memory.modality), "properties": _sealed_properties(session, each.memory, each.vector)}
        for each in changes.summaries
    ]
    await tx.run("changes/create_summaries", memories=rows, written=written)
    absorbed = [asdict(each) for each in changes.absorbed]
    await tx.run("changes/absorb_memories", absorbed=absorbed, written=written)
    passed = [_new_edge_row(edge, changes.inferred_by, now) for edge in changes.passed]
    await tx.run("changes/merge_edges", edges=passed, written=written)
    await tx.run("changes/delete_memories", ids=list(changes.deleted))
    await tx.run("changes/record_compression", compression=stored_compression(changes.compression))
    await usages.add_usage(tx, COMPRESSING, changes.usage, now)


async def _add_facts(tx: Transaction, session: Session, changes: Changes, kept: int) -> int:
    source = {} if changes.origin is None else _source_key(changes.origin)
    facts = [sealed_fact(session, fact) for fact in changes.facts]
    surprised = changes.episode_id is not None
    (row,) = await tx.run("changes/add_facts", facts=facts, kept=kept, surprised=surprised, **source)
    return int(row["facts"])


async def _correct(tx: Transaction, session: Session, corrected: Corrected) -> bool:
    correction = corrected.correction
    rows = await tx.run(
        "changes/add_correction",
        memory_id=corrected.memory_id,
        verdict=correction.verdict.value,
        note=NodeSealer(session.keys, session, "Memory", corrected.memory_id).seal("verdict_note", corrected.note),
        signal=correction.signal,
        level=correction.level.value,
    )
    return bool(rows)


def _source_key(origin: Origin) -> dict[str, Any]:
    kinds = [origin.kind.value] if origin.id is None else [origin.kind.value, kind_in_graph(origin.kind)]
    return {"source_id": origin.id, "source_kinds": kinds, "source_ref": origin.ref}


def _sealed_properties(session: Session, memory: Memory, vector: Vector) -> dict[str, Any]:
    """A memory's properties, its texts and embedding sealed."""
    return clear_properties(MEMORY_NODE, memory) | {"considered": True} | sealed_memory(session, memory, vector)


def _created(session: Session, changes: Changes, new: New, now: datetime) -> dict[str, Any]:
    """A new memory as its statement takes it: label, span, source and sealed properties."""
    memory, origin = new.memory, new.origin or changes.origin
    if origin is None:
        raise ValueError("a new memory needs a source")
    formed = changes.formed
    properties = _sealed_properties(session, memory, new.vector) | {
        "considered": formed is None or formed.activity is None or memory.consolidated,
        "activity": None if formed is None else formed.activity,
        "features": [] if formed is None else list(formed.features),
    }
    if changes.response is not None and memory.id == changes.responded_id:
        properties["surprise_response"] = NodeSealer(session.keys, session, "Memory", memory.id).seal(
            "surprise_response", RESPONSE.dump_json(changes.response).decode()
        )
    source = {"kind": origin.kind.value, "ref": origin.ref, "id": origin.id, "at": origin.at, "formed_at": now}
    return {
        "label": label_of(memory.modality),
        "start": new.span.start,
        "end": new.span.end,
        "source": source,
        "remark": kind_in_graph(origin.kind),
        "properties": properties,
    }


def _new_edge_row(edge: NewEdge, inferred_by: str, now: datetime) -> dict[str, Any]:
    return {
        "from_id": edge.from_id,
        "to_id": edge.to_id,
        "type": edge.type.value,
        "properties": _edge_properties(edge.weight, inferred_by, now),
    }


def _edge_properties(weight: float, inferred_by: str, now: datetime) -> dict[str, Any]:
    return {
        "weight": weight,
        "reliability": Reliability.RELIABLE.value,
        "created_at": now,
        "inferred_by": inferred_by,
    }


def _mention(session: Session, mention: Mention, inferred_by: str, now: datetime) -> dict[str, Any]:
    key, entity_id = entity_key(session.keys, mention.entity.kind, mention.entity.name)
    return {
        "memory_id": mention.memory_id,
        "key": key,
        "type": mention.type.value,
        "entity": {
            "id": entity_id,
            "kind": mention.entity.kind.value,
            "name": NodeSealer(session.keys, session, "Entity", entity_id).seal("name", mention.entity.name),
        },
        "properties": _edge_properties(mention.weight, inferred_by, now),
    }


def entity_key(keys: Keys, kind: EntityKind, name: str) -> tuple[str, str]:
    """The keyed hash by which an entity is found again, and the id that is made of it."""
    key = keyed_hash(keys, "entity", f"{kind}:{name.casefold()}")
    return key, f"entity-{key[:16]}"


def _sealed_question(session: Session, label: str, question: Question) -> dict[str, Any]:
    place = NodeSealer(session.keys, session, label, question.id)
    return clear_properties(QUESTION_NODE, question) | sealed_properties(place, QUESTION_NODE, question)


def renewed(memory_ids: Sequence[str], **values: Any) -> tuple[Update, ...]:
    """The same new values for several memories.

    Examples
    --------
    >>> renewed(["memory-1-1"], flashbulb=True)
    (Update(memory_id='memory-1-1', values={'flashbulb': True}),)
    """
    return tuple(Update(memory_id, values) for memory_id in memory_ids)


def merged(updates: Iterable[Update]) -> tuple[Update, ...]:
    """One update for each memory; of a field that is set twice the later value.

    Examples
    --------
    >>> merged([*renewed(["memory-1-1"], flashbulb=True), *renewed(["memory-1-1"], strength=0.7)])
    (Update(memory_id='memory-1-1', values={'flashbulb': True, 'strength': 0.7}),)
    """
    values: dict[str, dict[str, Any]] = {}
    for each in updates:
        values[each.memory_id] = values.get(each.memory_id, {}) | dict(each.values)
    return tuple(Update(memory_id, changed) for memory_id, changed in values.items())
