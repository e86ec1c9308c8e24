"""Changes of a student's memories: planned as one value, written in one transaction (spec 2, 5, 7)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar

from graphmem import model
from graphmem.model.conversation import FACT
from graphmem.sealing import keyed_hash
from graphmem.store.graph import Graph, Transaction
from graphmem.store.jobs import Finished, add_usage
from graphmem.store.ledger import sealed_ledger_entry
from graphmem.store.memories import label_of, reinforced_properties, sealed_memory, stored_compression, stored_value
from graphmem.store.nodes import NodeSealer, clear_properties, stored
from graphmem.store.sources import kind_in_graph
from graphmem.store.uncertainties import RESPONSE, Recorded, stored_standing, stored_uncertainty

RELIABLE = model.Reliability.RELIABLE
COMPRESSING = "compress"
"""Usage kind of a language model's summaries."""


WriteStep = tuple[str, dict[str, Any]]
"""A statement's name and parameters; one with `rows` is run only where there are some."""


@dataclass(frozen=True)
class Origin:
    """The source that changes come from; `at`, `id` where it may have to be created."""

    kind: model.SourceKind
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
    """A memory to be created.

    span : None of a summary, which takes over the sources of its memories
    origin : where it does not come from the source of all changes
    """

    memory: model.Memory
    vector: model.Vector = field(repr=False)
    span: Span | None = None
    origin: Origin | None = None


@dataclass(frozen=True)
class Reinforced:
    """A memory that was said again, as it is from now on."""

    memory: model.Memory
    span: Span


@dataclass(frozen=True)
class Update:
    """New values of some fields of a memory that exists, by their names in `Memory`."""

    memory_id: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class NewEdge:
    """A relationship between two memories that is made; one that exists keeps the greater weight."""

    from_id: str
    to_id: str
    type: model.EdgeType
    weight: float


@dataclass(frozen=True)
class ChangedEdge:
    """A relationship between two memories about which something is settled, or that is gone.

    reliability : from now on; None takes back what was settled
    """

    from_id: str
    to_id: str
    type: model.EdgeType
    reliability: model.Reliability | None = None
    gone: bool = False


@dataclass(frozen=True)
class Mention:
    """A memory that speaks of an entity."""

    memory_id: str
    entity: model.Entity
    type: model.EdgeType
    weight: float


@dataclass(frozen=True)
class Promotion:
    """A ledger entry and the memory it rests on."""

    entry: model.LedgerEntry
    vector: model.Vector = field(repr=False)
    memory_id: str


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
    correction: model.Correction
    note: str = field(repr=False)


@dataclass(frozen=True)
class Rewritten:
    """A memory that says something else: a summary that statements leave, a lesson that has grown."""

    memory: model.Memory
    vector: model.Vector = field(repr=False)


@dataclass(frozen=True)
class Restored:
    """A statement of a summary that is a memory again, since something has become of it alone."""

    memory: model.Memory
    vector: model.Vector = field(repr=False)
    summary_id: str


@dataclass(frozen=True)
class Absorbed:
    """A memory that is deleted, and the one that takes over its sources and topics."""

    gone: str
    into: str


@dataclass(frozen=True)
class Topic:
    """A concept of the world that a memory is about; weight 0 to 1, the chance that it is meant."""

    memory_id: str
    concept_id: str
    weight: float


@dataclass(frozen=True)
class End:
    """Id of a memory that holds no longer, whose ledger entries close, or of such an entry or a fact itself."""

    id: str


@dataclass(frozen=True)
class Revival:
    """Id of a memory that holds again; entries closed with it are reopened."""

    id: str


@dataclass(frozen=True)
class NewQuestion:
    """A question to the student, or a reflection, and the memory that it hangs on."""

    question: model.Question
    raised_by: str
    is_reflection: bool = False


@dataclass(frozen=True)
class Tolerance:
    """How much inconsistency the companion tolerates from now on."""

    value: float


@dataclass(frozen=True)
class Deleted:
    """Id of a memory that goes."""

    id: str


@dataclass(frozen=True)
class Compressed:
    """The record of a compression, and the usage of its summaries."""

    record: model.Compression
    usage: model.Usage


ChangeRow = (
    New
    | Restored
    | Reinforced
    | Rewritten
    | Update
    | NewEdge
    | ChangedEdge
    | Mention
    | Topic
    | Promotion
    | End
    | Revival
    | model.Fact
    | NewQuestion
    | Corrected
    | Recorded
    | Tolerance
    | Absorbed
    | Deleted
    | Compressed
)
"""One change of a student's stored data. The `seq` of a fact is given when it is written."""
RowT = TypeVar("RowT", bound=ChangeRow)


@dataclass(frozen=True)
class Changes:
    """Everything that follows one source, surprise or verdict, decided before anything is written.

    known : version of the student's memories that it was decided on; None where that does not matter
    inferred_by : the mind that read the source
    rows : in their order, where two set the same field
    formed : the source is formed by this
    response : to a surprise; kept on the first of the new memories, which is the episode where one begins
    """

    known: int | None
    inferred_by: str
    rows: tuple[ChangeRow, ...] = ()
    origin: Origin | None = None
    formed: FormedSource | None = None
    response: model.SurpriseResponse | None = field(default=None, repr=False)

    def of(self, kind: type[RowT]) -> tuple[RowT, ...]:
        """Return the rows of one kind."""
        return tuple(row for row in self.rows if isinstance(row, kind))

    def plus(self, *rows: ChangeRow) -> "Changes":
        """Return the same with more rows."""
        return replace(self, rows=(*self.rows, *rows))

    @property
    def responded_id(self) -> str | None:
        """The memory that keeps the response to a surprise; None without one."""
        return None if self.response is None else self.of(New)[0].memory.id

    @property
    def episode_id(self) -> str | None:
        """The episode that begins with a surprise; None without one."""
        first = self.of(New)[:1]
        return self.responded_id if first and first[0].memory.role is model.MemoryRole.EPISODE else None

    @property
    def ended(self) -> tuple[str, ...]:
        """Ids of what ends."""
        return tuple(dict.fromkeys(row.id for row in self.of(End)))

    @property
    def doubts(self) -> tuple[Recorded, ...]:
        """Uncertainties that are new."""
        return tuple(row for row in self.of(Recorded) if row.new)

    @property
    def questions(self) -> tuple[model.Question, ...]:
        """Questions to the student that are new."""
        return tuple(row.question for row in self.of(NewQuestion) if not row.is_reflection)

    @property
    def touches_turns(self) -> bool:
        """True if something that a turn depends on changes: facts, questions or corrections."""
        return any((self.response, self.of(Corrected), self.of(model.Fact), self.questions, self.ends_facts))

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
    graph: Graph, session: model.Session, changes: Changes, now: datetime, finished: Finished | None = None
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
            turns=changes.touches_turns,
            now=now,
        )
        if not begun:
            return None
        written = Written(begun[0]["current"], begun[0]["version"], begun[0]["facts"])
        if not written.current:
            return written
        for corrected in changes.of(Corrected):
            if not await _correct(tx, session, corrected):
                return None
        for name, params in _write_steps(session, changes, begun[0]["written"], now):
            if params.get("rows", True):
                await tx.run(name, **params)
        facts = written.facts
        if finished is not None and changes.of(model.Fact):
            facts = await _add_facts(tx, session, changes, finished.facts_kept)
        await _finish(tx, changes, begun[0]["written"], now)
        if finished is None:
            return written
        await add_usage(tx, finished.job.kind, finished.usage, now)
        return Written(True, written.version, facts)

    return await graph.transact(session, work)


def _write_steps(session: model.Session, changes: Changes, written: int, now: datetime) -> Iterator[WriteStep]:
    """Yield the statements of some changes with their parameters, in the order that one rests on another."""
    made = {"written": written}
    yield from _of_memories(session, changes, written, now)
    made_by = changes.inferred_by, now
    edges = [_edge_ends(e) | {"properties": _edge_properties(e.weight, *made_by)} for e in changes.of(NewEdge)]
    yield "changes/link:Memory-Memory", {"rows": edges, **made}
    rated = [update.memory_id for update in changes.of(Update) if "reliability" in update.values]
    yield "changes/rate_edges", {"rows": rated, **made}
    changed = changes.of(ChangedEdge)
    settled = [
        _edge_ends(e) | {"properties": {"settled": e.reliability, "reliability": e.reliability or RELIABLE}}
        for e in changed
        if not e.gone
    ]
    yield "changes/set_edges", {"rows": settled, **made}
    yield "changes/unlink", {"rows": [_edge_ends(edge) for edge in changed if edge.gone], **made}
    yield from _of_doubts(session, changes, written)
    yield from _of_mentions(session, changes, written, now)
    if promoted := changes.of(Promotion):
        entries = [
            {"properties": sealed_ledger_entry(session, p.entry, p.vector), "memory_id": p.memory_id} for p in promoted
        ]
        yield "changes/promote_entries", {"rows": entries, **made, **_source_key(changes.origin)}
    if changes.episode_id is not None:
        begun = {"episode_id": changes.episode_id, "now": now}
        yield "changes/start_episode", begun | made | _source_key(changes.origin)
    at = now if changes.origin is None or changes.origin.at is None else changes.origin.at
    stems = [*changes.ended, *(row.id for row in changes.of(Revival))]
    yield "changes/close_entries", {"rows": stems, "ended": changes.ended, "now": at}
    for label in ("Question", "Reflection"):
        asked = [row for row in changes.of(NewQuestion) if row.is_reflection is (label == "Reflection")]
        hung = [
            _link(row.raised_by, "RAISES", row.question.id) | {"made": stored(session, label, row.question)}
            for row in asked
        ]
        yield f"changes/link_new:Memory-{label}", {"rows": hung}
    yield "changes/take_over", {"rows": [asdict(each) for each in changes.of(Absorbed)], **made}
    yield "changes/delete", {"rows": [row.id for row in changes.of(Deleted)]}
    records = [stored_compression(each.record) for each in changes.of(Compressed)]
    done = [_link("student", "COMPRESSED", each["id"]) | {"made": each} for each in records]
    yield "changes/link_new:Student-Compression", {"rows": done}


def _of_memories(session: model.Session, changes: Changes, written: int, now: datetime) -> Iterator[WriteStep]:
    """Yield the statements that create memories, link them to their sources, and set properties of others."""
    new, restored, reinforced = changes.of(New), changes.of(Restored), changes.of(Reinforced)
    created = [_memory_row(each.memory, _created(session, changes, each), written) for each in new]
    created += [
        _memory_row(each.memory, _sealed_properties(session, each.memory, each.vector), written) for each in restored
    ]
    yield "changes/create:Memory", {"rows": created}
    spans = [_sourced(each.memory.id, each.span, each.origin or changes.origin, now) for each in new if each.span]
    spans += [_sourced(each.memory.id, each.span, changes.origin, now) for each in reinforced]
    yield "changes/link_sources", {"rows": spans}
    leaving = [{"into": r.memory.id, "gone": r.summary_id, "ref": r.memory.source_refs[0]} for r in restored]
    yield "changes/take_over", {"rows": leaving, "written": written}
    values = [
        *((each.memory.id, _rewritten(session, each)) for each in changes.of(Rewritten)),
        *((each.memory.id, reinforced_properties(each.memory)) for each in reinforced),
        *(
            (u.memory_id, {name: stored_value(name, value) for name, value in u.values.items()})
            for u in changes.of(Update)
        ),
    ]
    yield "changes/set:Memory", {"rows": [_node(i, properties | {"written": written}) for i, properties in values]}


def _of_doubts(session: model.Session, changes: Changes, written: int) -> Iterator[WriteStep]:
    """Yield the statements that create uncertainties, and set how they stand and how much the companion tolerates."""
    doubts = [stored_uncertainty(session, each) for each in changes.doubts]
    properties = [each["properties"] for each in doubts]
    yield "changes/create:Uncertainty", {"rows": [_node(own["id"], own) for own in properties]}
    sides = [
        _link(each["properties"]["id"], "CONCERNS", side["memory_id"], {"type": side["type"], "to_id": side["to_id"]})
        | {"side": side["side"]}
        for each in doubts
        for side in each["sides"]
    ]
    yield "changes/link:Uncertainty-Memory", {"rows": sides, "written": written}
    # A new one that is settled already may be there, too, since an earlier resolution was undone.
    standing = [e for e in changes.of(Recorded) if not e.new or e.uncertainty.state is model.UncertaintyState.RESOLVED]
    yield "changes/set:Uncertainty", {"rows": [_node(e.uncertainty.id, stored_standing(session, e)) for e in standing]}
    tolerance = [_node("companion", {"tolerance": row.value}) for row in changes.of(Tolerance)]
    yield "changes/set:Companion", {"rows": tolerance}


def _of_mentions(session: model.Session, changes: Changes, written: int, now: datetime) -> Iterator[WriteStep]:
    """Yield the statements that link memories to entities, which they create, and to concepts of the world."""
    inferred_by, links = changes.inferred_by, list[dict[str, Any]]()
    for each in changes.of(Mention):
        key, entity_id = entity_key(session.keys, each.entity.kind, each.entity.name)
        name = NodeSealer(session.keys, session, "Entity", entity_id).seal("name", each.entity.name)
        link = _link(each.memory_id, each.type, key, _edge_properties(each.weight, inferred_by, now))
        links.append(link | {"made": {"id": entity_id, "kind": each.entity.kind, "name": name}})
    yield "changes/link_new:Memory-Entity", {"rows": links}
    about = [
        _link(each.memory_id, "ABOUT", each.concept_id, _edge_properties(each.weight, inferred_by, now))
        for each in changes.of(Topic)
    ]
    yield "changes/link:Memory-Concept", {"rows": about, "written": written}


async def _finish(tx: Transaction, changes: Changes, written: int, now: datetime) -> None:
    """Pass topics on to facts and doubts once all of them are written, mark the source as formed, count the cost."""
    doubted = [side for each in changes.doubts for side in (each.uncertainty.a_id, each.uncertainty.b_id) if side]
    memory_ids = list(dict.fromkeys([*(topic.memory_id for topic in changes.of(Topic)), *doubted]))
    fact_ids = [fact.id for fact in changes.of(model.Fact)]
    if memory_ids or fact_ids:
        await tx.run("changes/pass_on_topics", memory_ids=memory_ids, fact_ids=fact_ids, now=now)
    for compressed in changes.of(Compressed):
        await add_usage(tx, COMPRESSING, compressed.usage, now)
    if changes.formed is not None:
        ids = [new.memory.id for new in changes.of(New) if new.memory.id != changes.episode_id]
        source = _source_key(changes.origin)
        await tx.run("changes/form_source", snr=changes.formed.snr, ids=ids, written=written, now=now, **source)


async def _add_facts(tx: Transaction, session: model.Session, changes: Changes, kept: int) -> int:
    source = _source_key(changes.origin)
    facts = [stored(session, "Fact", fact) for fact in changes.of(model.Fact)]
    surprised = changes.response is not None
    (row,) = await tx.run("changes/add_facts", facts=facts, kept=kept, surprised=surprised, **source)
    return int(row["facts"])


async def _correct(tx: Transaction, session: model.Session, corrected: Corrected) -> bool:
    correction = corrected.correction
    rows = await tx.run(
        "changes/add_correction",
        memory_id=corrected.memory_id,
        verdict=correction.verdict,
        note=NodeSealer(session.keys, session, "Memory", corrected.memory_id).seal("verdict_note", corrected.note),
        signal=correction.signal,
        level=correction.level,
    )
    return bool(rows)


def _source_key(origin: Origin | None) -> dict[str, Any]:
    if origin is None:
        raise ValueError("these changes need a source")
    kinds = [origin.kind] if origin.id is None else [origin.kind, kind_in_graph(origin.kind)]
    return {"source_id": origin.id, "source_kinds": kinds, "source_ref": origin.ref}


def _node(node_id: str, properties: Mapping[str, Any], *labels: str) -> dict[str, Any]:
    return {"id": node_id, "labels": labels, "properties": properties}


def _link(from_id: str, kind: str, to_id: str, properties: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"from": from_id, "type": kind, "to": to_id, "properties": properties or {}}


def _edge_ends(edge: NewEdge | ChangedEdge) -> dict[str, Any]:
    return {"from": edge.from_id, "type": edge.type, "to": edge.to_id}


def _memory_row(memory: model.Memory, properties: dict[str, Any], written: int) -> dict[str, Any]:
    return _node(memory.id, properties | {"written": written}, label_of(memory.modality))


def _sealed_properties(session: model.Session, memory: model.Memory, vector: model.Vector) -> dict[str, Any]:
    """Return a memory's properties, its texts and embedding sealed."""
    return clear_properties(memory) | {"considered": True} | sealed_memory(session, memory, vector)


def _rewritten(session: model.Session, row: Rewritten) -> dict[str, Any]:
    return sealed_memory(session, row.memory, row.vector) | clear_properties(row.memory, "content_hash")


def _created(session: model.Session, changes: Changes, new: New) -> dict[str, Any]:
    """Return the properties of a new memory; of an episode with the response to its surprise."""
    memory, formed = new.memory, changes.formed
    properties = _sealed_properties(session, memory, new.vector)
    if new.span is not None:
        properties["considered"] = formed is None or formed.activity is None or memory.consolidated
        properties["activity"] = None if formed is None else formed.activity
        properties["features"] = [] if formed is None else list(formed.features)
    if changes.response is not None and memory.id == changes.responded_id:
        properties["surprise_response"] = NodeSealer(session.keys, session, "Memory", memory.id).seal(
            "surprise_response", RESPONSE.dump_json(changes.response).decode()
        )
    return properties


def _sourced(memory_id: str, span: Span, origin: Origin | None, now: datetime) -> dict[str, Any]:
    """Return a memory with the source that it comes from, and where in it."""
    if origin is None:
        raise ValueError("a memory needs a source")
    source = {"kind": origin.kind, "ref": origin.ref, "id": origin.id, "at": origin.at, "formed_at": now}
    return {"id": memory_id, **asdict(span), "source": source, "remark": kind_in_graph(origin.kind)}


def _edge_properties(weight: float, inferred_by: str, now: datetime) -> dict[str, Any]:
    own = {"weight": weight, "reliability": RELIABLE}
    return own | {"created_at": now, "inferred_by": inferred_by}


def entity_key(keys: model.Keys, kind: model.EntityKind, name: str) -> tuple[str, str]:
    """Return the keyed hash by which an entity is found again, and the id that is made of it."""
    key = keyed_hash(keys, "entity", f"{kind}:{name.casefold()}")
    return key, f"entity-{key[:16]}"


def renewed(memory_ids: Sequence[str], **values: Any) -> tuple[Update, ...]:
    """Return the same new values for several memories.

    Examples
    --------
    >>> renewed(["memory-1-1"], flashbulb=True)
    (Update(memory_id='memory-1-1', values={'flashbulb': True}),)
    """
    return tuple(Update(memory_id, values) for memory_id in memory_ids)


def merged(updates: Iterable[Update]) -> tuple[Update, ...]:
    """Return one update for each memory; of a field that is set twice the later value.

    Examples
    --------
    >>> merged([*renewed(["memory-1-1"], flashbulb=True), *renewed(["memory-1-1"], strength=0.7)])
    (Update(memory_id='memory-1-1', values={'flashbulb': True, 'strength': 0.7}),)
    """
    values: dict[str, dict[str, Any]] = {}
    for each in updates:
        values[each.memory_id] = values.get(each.memory_id, {}) | dict(each.values)
    return tuple(Update(memory_id, changed) for memory_id, changed in values.items())
