"""Context retrieval for a question: search by meaning and words, expand along edges, weigh, fit (spec 10)."""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from itertools import compress
from time import monotonic

import numpy as np

from graphmem.app import Graphmem
from graphmem.cache import OpenMemories
from graphmem.errors import InvalidInput, Tampered
from graphmem.flows.ending import says, standing_facts
from graphmem.flows.facts import fact_vectors, fitting_facts, known_facts
from graphmem.flows.overlay import fog_of, hidden_in
from graphmem.flows.session_cache import memories_now, open_memories
from graphmem.flows.uncertainty_plan import sides_of, woven
from graphmem.model import (
    OF_A_SITTING,
    AskedFor,
    Fact,
    LedgerCategory,
    LedgerEntry,
    Matrix,
    Memory,
    MemoryRole,
    Observation,
    Recalled,
    Remembered,
    Session,
    SourceKind,
    StoredTurn,
    Uncertainty,
    Vector,
    Woven,
)
from graphmem.model.memory import blank_memory
from graphmem.sealing import StudentLock
from graphmem.search.edges import Reach
from graphmem.search.fog import Fog
from graphmem.search.index import SearchIndex
from graphmem.search.ranking import (
    NO_LONGER,
    Candidate,
    as_asked_for,
    fitting_lines,
    judged,
    nearest_memories,
    ranked,
    secret_ids,
    shown,
    standing_profile,
    tentative_memories,
    with_threads,
)
from graphmem.search.scoring import LEAST_FACTOR, RELIABILITY_FACTORS, Hit, SearchQuery
from graphmem.store import jobs, students, turns
from graphmem.store.jobs import Claimed, Kind
from graphmem.store.ledger import StoredEntry
from graphmem.store.turns import WORKING_MEMORY
from graphmem.tasks import task_group
from graphmem.text.doc import Doc, ParsedQuestion, only_asks, query_words, question_in, read_question, with_pronoun
from graphmem.text.matching import meant_facts
from graphmem.text.memory_block import count_tokens, memory_block
from graphmem.text.profile import ProfilePart, load_profile_model
from graphmem.text.reminders import Surfaced, active_at, is_active, surfacing
from graphmem.text.time_ranges import time_ranges
from graphmem.validation import MESSAGE_LIMIT, checked_as_of, checked_text

MAX_UNFORMED = 200
"""Newest messages and observations that a read searches."""
EMBED_SECONDS = 0.25
"""Seconds after which a read embeds no more of them: the rest is found by its words, and embedded by later reads."""
EMBED_BATCH = 4
SNR = 500
"""Signal-to-noise ratio of a message that nothing has scored yet."""
ASKS_MEMORY = 0.5
"""Chance from which on a message asks for memories."""
SURELY_OTHER = 0.9
"""Chance from which on its question is surely about something else."""
PART_ASKED_FOR = 0.6
"""Chance from which on it asks for a part of the memories, and not for one thing: of 191 held-out questions for a part
123 have it (135 are read so without a bound), of 1,718 for one thing 34 (65). Chosen on them."""
EXTRA_CANDIDATES = 10
"""Memories found by search that are weighed beyond those asked for."""
EXPANSION_SEEDS = 5
"""Best of them whose edges are followed."""
FEW_WORDS = 3
"""A question with fewer words of its own is read together with the message before it."""
MAX_RECALLED = 100
"""Most memories recalled at once."""
MAX_BUDGET = 32_000
"""Greatest token budget."""
REACH = Reach(10, {each: max(LEAST_FACTOR, factor) for each, factor in RELIABILITY_FACTORS.items()})
"""Most memories found along edges, and the share of an edge's weight that counts, as for memories."""
STANDING = {LedgerCategory.THREAT: 1, LedgerCategory.FACT: 4}
"""Ledger categories whose newest entries are always added after the surfaced ones, with the most of each; of critical
facts only needs count."""
STANDING_IMPORTANCE = 0.6
"""Importance from which on an entry of these does; that of a doubted concern is less."""


async def read_unformed(gm: Graphmem, session: Session) -> SearchIndex | None:
    """An index of the newest messages and observations of which no memories are formed yet, None where there are none.

    Parameters
    ----------
    gm : Graphmem
    session : Session, open

    Raises
    ------
    Unavailable     Neo4j does not answer
    """
    state = gm.cache.state(session)
    index = state.unformed
    held = [] if index is None else [memory.id for memory in index.latest(len(index))]
    waiting, fresh = await jobs.list_unformed(gm.graph, session, held, MAX_UNFORMED)
    if not waiting:
        state.unformed = None
        return None
    # Kept from read to read, so that nothing is read, opened and embedded twice.
    index = state.unformed = SearchIndex(gm.embedder.dimension) if index is None else index
    ids = set(waiting)
    lock = await _lock(gm, session) if any(job.kind is Kind.OBSERVE for job in fresh) else None
    turn_state = gm.turn_state(session)
    said = () if turn_state is None else turn_state.messages
    known = {each.text: each.embedding for each in said if each.embedding is not None}
    await asyncio.to_thread(_refresh, index, ids, _tentative_memories(session, lock, fresh), known)
    await _embed(gm, index)
    gm.cache.weigh(session)
    return index


async def _lock(gm: Graphmem, session: Session) -> StudentLock | None:
    enrolled = await students.find_enrolled(gm.graph, session, gm.clock())
    return None if enrolled is None else enrolled.lock


def _refresh(index: SearchIndex, ids: set[str], fresh: Iterator[Memory], known: Mapping[str, Vector]) -> None:
    """Remove messages whose memories were formed, and add new ones with the vectors that turns computed."""
    index.remove([memory.id for memory in index.latest(len(index)) if memory.id not in ids])
    memories, nothing = list(fresh), np.zeros(index.dimension, dtype=np.float32)
    vectors = [known.get(memory.content or "", nothing) for memory in memories]
    index.put_many(memories, np.stack(vectors) if vectors else np.zeros((0, index.dimension), dtype=np.float32))


def _tentative_memories(session: Session, lock: StudentLock | None, waiting: Sequence[Claimed]) -> Iterator[Memory]:
    for job in waiting:
        # A tampered payload is reported when its job runs; it must not keep the rest from being read.
        with suppress(Tampered):
            if job.kind is Kind.FORM:
                said = jobs.opened_payload(session, job)
                # A question is no memory: it would stand before the statement that answers the same question again.
                if said.tells and not all(only_asks(each.text.lower()) for each in Doc(said.text).sentences):
                    before = said.before
                    yield tentative_memory(
                        job.id, Observation(SourceKind.CHAT, said.turn_id, said.text, said.at, None, before)
                    )
            elif lock is not None:
                yield tentative_memory(job.id, jobs.opened_observation(session, lock, job))


def tentative_memory(job_id: str, said: Observation) -> Memory:
    """Return a tentative memory of a message as it was said."""
    return replace(
        blank_memory(said.at),
        id=job_id,
        content=said.text,
        speaker=said.speaker,
        before=said.before,
        source_kind=said.kind,
        source_refs=(said.ref,),
        snr=SNR,
    )


async def _embed(gm: Graphmem, index: SearchIndex) -> None:
    """Embed messages without a vector, newest first, as far as the time goes."""
    until = monotonic() + EMBED_SECONDS
    missing = [memory for memory in index.latest(len(index)) if not np.any(index.vector(memory.id))]
    for start in range(0, len(missing), EMBED_BATCH):
        if monotonic() >= until:
            return
        some = missing[start : start + EMBED_BATCH]
        vectors = await gm.embedder.embed([memory.content or "" for memory in some])
        await asyncio.to_thread(index.put_many, some, vectors)


@dataclass(frozen=True)
class RecallRequest:
    """A question put to a student's memories.

    embedding : of it, as the first row, where somebody has it embedded already
    before : the message just before it, and its embedding, where there is one: given, or as a row of `embedding`
    as_of : answer with the memories valid at that moment; None means now
    limit : most memories; with 0 nothing comes of any memory
    unformed : whether messages of which no memories are formed yet are searched, too; a turn has its own in sight
    roles : of the memories that are wanted; empty: all
    zone : in which the asker reckons days; None where that is the student's
    """

    doc: Doc
    embedding: asyncio.Future[Matrix] | None = field(default=None, repr=False)
    before: str = ""
    before_vector: Vector | None = field(default=None, repr=False)
    before_row: int | None = None
    as_of: datetime | None = None
    limit: int = 20
    unformed: bool = False
    roles: frozenset[MemoryRole] = frozenset()
    zone: tzinfo | None = None


@dataclass(frozen=True)
class SearchResult:
    """Search result for a question, as of a version of the student.

    found : memories, best first, whether they have to do with the question or not; ledger entries that surface and
        the standing profile; nothing that names a hidden concept
    fog : the concepts hidden from the student
    vector : embedding of the question
    as_of : the moment that was asked about; None means now
    """

    found: Remembered
    student_version: int
    fog: Fog
    vector: Vector = field(repr=False)
    as_of: datetime | None = None


@dataclass(frozen=True)
class ContextMessage:
    """A message of a conversation as frameworks for language models take it."""

    role: str
    """`system`, `user` or `assistant`."""
    content: str = field(repr=False)
    """The text."""


@dataclass(frozen=True)
class Context:
    """Context for answering a message: a block for the companion's prompt, and the items in it.

    why : by id, why a ledger entry or a fact is there
    """

    prompt: str
    """Block for a companion's prompt; empty where nothing is remembered that fits."""
    tokens: int
    """Tokens of the prompt, 0 to tokenBudget, estimated."""
    memories: tuple[Recalled, ...]
    """Memories in the prompt, best first."""
    ledger: tuple[LedgerEntry, ...]
    """Ledger entries in the prompt."""
    facts: tuple[Fact, ...]
    """Facts in the prompt."""
    weave: tuple[Uncertainty, ...] = ()
    """Uncertainties in the prompt that may be raised in passing."""
    messages: tuple[ContextMessage, ...] = ()
    """The same for a framework's message list: the latest turns asked for, then the block as a `system` message; the
    student's message is put after it."""
    why: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


async def recall(
    gm: Graphmem,
    session: Session,
    text: str,
    limit: int = 20,
    as_of: datetime | None = None,
    roles: Collection[MemoryRole] = (),
) -> list[Recalled]:
    """Return the memories that fit a question, best first.

    Parameters
    ----------
    gm : Graphmem
    session : Session, open
    text : str
    limit : int, 1 to 100
    as_of : datetime, to be answered with the memories valid at that moment; None means now
    roles : only memories of these, such as lessons; all where it is empty

    Raises
    ------
    InvalidInput    the question or the limit will not do
    Locked          the session has ended
    """
    if not 1 <= limit <= MAX_RECALLED:
        raise InvalidInput(f"limit must lie between 1 and {MAX_RECALLED}.")
    asking = replace(await asyncio.to_thread(_asked, text, as_of, limit), roles=frozenset(roles))
    # The memories that a question for a whole adds come on top of the search limit.
    found = (await search(gm, session, asking)).found.memories
    wanted = (each for each in found if not roles or each.memory.role in roles)
    return [each for each in wanted if NO_LONGER not in each.why][:limit]


async def context(
    gm: Graphmem,
    session: Session,
    text: str,
    budget: int = 2_000,
    as_of: datetime | None = None,
    history: int = 0,
) -> Context:
    """Build the context of a message for a companion, within a token budget, as a block for its prompt.

    Parameters
    ----------
    gm : Graphmem
    session : Session, open
    text : str, the message
    budget : int, tokens, 1 to 32,000
    as_of : datetime, as in `recall`
    history : int, 0 to 50, latest turns of the session that stand before the block in `messages`; memories of these
        turns are left out of the block

    Raises
    ------
    InvalidInput    the message, the budget or the history will not do
    Locked          the session has ended
    """
    if not 1 <= budget <= MAX_BUDGET:
        raise InvalidInput(f"tokenBudget must lie between 1 and {MAX_BUDGET}.")
    if not 0 <= history <= WORKING_MEMORY:
        raise InvalidInput(f"history must lie between 0 and {WORKING_MEMORY}.")
    asking = await asyncio.to_thread(_asked, text, as_of, MAX_RECALLED)
    result = await search(gm, session, asking)
    ring = await known_facts(gm, session, result.student_version)
    index = (await open_memories(gm, session)).index
    standing = standing_facts(ring, index, result.as_of or gm.clock())
    # A fact that a memory states is found as that memory.
    untold = [fact for fact in standing if not any(says(m, fact.text) for m in index.told_at(fact.created_at))]
    facts = await clear_facts(gm, result.fog, untold)
    visible = (await turns.list_turns(gm.graph, session))[-history:] if history else []
    meant = meant_facts(facts, await fact_vectors(gm, session, ring), [result.vector])
    return await asyncio.to_thread(_block, gm, asking.doc, result, facts, meant, budget, visible)


def _block(
    gm: Graphmem,
    doc: Doc,
    result: SearchResult,
    facts: Sequence[Fact],
    meant: Mapping[str, float],
    budget: int,
    visible: Sequence[StoredTurn],
) -> Context:
    """Fit search results into a token budget; off the event loop."""
    held = [fact for fact in facts if fact.created_at <= moment] if (moment := result.as_of) else facts
    fitting = fitting_facts(held, doc.key_phrases(), gm.settings.facts_recalled, meant=meant)
    said = {turn.turn_id: turn.text for turn in visible}
    found = replace(result.found, facts=fitting.facts, why=dict(result.found.why) | dict(fitting.why))
    remembered = shown(found, said, budget)
    prompt = memory_block(remembered)
    (tokens,) = count_tokens([prompt])
    messages = [
        ContextMessage(role, text)
        for turn in visible
        for role, text in (("user", turn.text), ("assistant", turn.reply or ""))
    ]
    return Context(
        prompt=prompt,
        tokens=tokens,
        memories=(*remembered.profile, *remembered.memories),
        ledger=remembered.ledger,
        facts=remembered.facts,
        weave=tuple(each.doubt for each in remembered.weave),
        messages=(*messages, *([ContextMessage("system", prompt)] if prompt else [])),
        why=remembered.why,
    )


async def search(gm: Graphmem, session: Session, asking: RecallRequest) -> SearchResult:
    """Return memories that fit, best first, and the ledger entries that surface."""
    async with task_group() as group:
        # Embedding takes longest: memories are read meanwhile.
        embedding = asking.embedding or group.create_task(gm.embedder.embed([asking.doc.text]))
        held = await open_memories(gm, session)
        # Messages first: one whose memories are formed meanwhile is found twice rather than not at all.
        unformed = await read_unformed(gm, session) if asking.unformed else None
        reading = group.create_task(memories_now(gm, session))
        zone = asking.zone or held.zone
        now = gm.clock().astimezone(zone)
        asking = replace(asking, as_of=None if asking.as_of is None else asking.as_of.astimezone(zone))
        speakers = (*held.index.speakers(), *(() if unformed is None else unformed.speakers()))
        asked = read_question(asking.doc, speakers, held.name)
        # The text around a question is context for it, and is not searched for itself.
        question = question_in(asking.doc).text
        # The asked-for classifier reads the shipped embeddings only.
        unnamed = with_pronoun(question, held.name) if gm.is_shipped else question
        forms = group.create_task(_embedded_forms(gm, asking.doc.text, (asked.text, question, unnamed)))
        held, state = await reading
        fog = await fog_of(gm, session, state.fog_versions)
        rows = await embedding
    others = forms.result()
    vector, of_question, of_part = (others.get(text, rows[0]) for text in (asked.text, question, unnamed))
    own = rows[0]
    if question != asking.doc.text.strip():
        vector, own = _combined(vector, of_question), _combined(own, of_question)
    if asking.before_row is not None:
        asking = replace(asking, before_vector=rows[asking.before_row])
    asked_for = _asked_for(gm, asking.doc, of_part)
    query = _query(asked, asking, vector, now)
    wanted = _Search(held, asking, query, own, asked_for, fog, gm.is_shipped)
    found = await asyncio.to_thread(_selected, wanted, unformed)
    return SearchResult(await _without_hidden(gm, fog, found), state.student_version, fog, own, asking.as_of)


async def _embedded_forms(gm: Graphmem, text: str, forms: Sequence[str]) -> dict[str, Vector]:
    """Return embeddings of other forms of a text, by form; the text itself is embedded already."""
    new = [form for form in dict.fromkeys(forms) if form and form not in (text, text.strip())]
    return dict(zip(new, await gm.embedder.embed(new), strict=True)) if new else {}


def _clear_hits(index: SearchIndex, query: SearchQuery, fog: Fog) -> list[Hit]:
    """Return the best memories of a question that name nothing hidden; off the event loop."""
    while True:
        hits = index.search(query)
        clear = [hit for hit in hits if not _is_hidden(hit.memory, index, fog)]
        if len(clear) == len(hits) or len(clear) >= query.limit or len(hits) < query.limit:
            return clear
        query = replace(query, limit=2 * query.limit)


def _is_hidden(memory: Memory, index: SearchIndex, fog: Fog) -> bool:
    """True of a memory that names a hidden concept, and of the heading of such memories."""
    headed = index.told_at(memory.timestamp) if fog and memory.role is MemoryRole.EPISODE else ()
    return any(fog.hides(each, index.vector(each.id)) for each in (memory, *headed))


async def _without_hidden(gm: Graphmem, fog: Fog, found: Remembered) -> Remembered:
    """Return the search result without the ledger entries and doubts that name a hidden concept."""
    if not fog:
        return found
    entries = [f"{entry.content or ''}\n{entry.summary or ''}" for entry in found.ledger]
    doubts = [f"{each.a}\n{each.b or ''}\n{each.question}" for each in found.weave]
    clear = [not hidden for hidden in await hidden_in(gm, fog, [*entries, *doubts])]
    ledger, weave = compress(found.ledger, clear), compress(found.weave, clear[len(entries) :])
    return replace(found, ledger=tuple(ledger), weave=tuple(weave))


async def clear_facts(gm: Graphmem, fog: Fog, facts: Sequence[Fact]) -> list[Fact]:
    """Return which of some facts name no hidden concept."""
    hidden = await hidden_in(gm, fog, ["\n".join((fact.text, *fact.tags)) for fact in facts])
    return [fact for fact, mentions in zip(facts, hidden, strict=True) if not mentions]


@dataclass(frozen=True)
class _Search:
    """A search: the query and the memories it runs on.

    own : embedding of the message, or of the question in it
    shipped : whether embeddings are of the shipped model, which the small models were made for
    """

    held: OpenMemories
    asking: RecallRequest
    query: SearchQuery
    own: Vector
    asked_for: AskedFor
    fog: Fog
    shipped: bool

    @property
    def moment(self) -> datetime:
        return self.asking.as_of or self.query.now

    @property
    def of_past(self) -> bool:
        return self.asking.as_of is not None

    def leads_on(self, memory_id: str) -> bool:
        """True of a memory whose edges are followed; statements of one session alone need not be related."""
        memory = self.held.index.get(memory_id)
        return memory is not None and memory.role not in OF_A_SITTING

    def is_clear(self, memory_id: str) -> bool:
        """True of a memory that is held and names no hidden concept; an episode holds memories, and is none to show."""
        memory = self.held.index.get(memory_id)
        if memory is None or (memory.role is MemoryRole.EPISODE and MemoryRole.EPISODE not in self.asking.roles):
            return False
        return not self.fog.hides(memory, self.held.index.vector(memory_id))


def _selected(wanted: _Search, unformed: SearchIndex | None) -> Remembered:
    """Search, follow edges, rank the hits and add surfacing ledger entries; off the event loop."""
    held, asking, query, own, fog = wanted.held, wanted.asking, wanted.query, wanted.own, wanted.fog
    moment, past = wanted.moment, wanted.of_past
    hits = _clear_hits(held.index, query, fog)
    ids = [hit.memory.id for hit in hits]
    reached = held.edges.reached(ids[:EXPANSION_SEEDS], set(ids), wanted.leads_on, REACH)
    # An episode holds memories together; these stand by themselves.
    hits = [hit for hit in hits if hit.memory.role is not MemoryRole.EPISODE or MemoryRole.EPISODE in asking.roles]
    clear = [each for each in reached if wanted.is_clear(each.id)]
    tentative = () if unformed is None else _tentative(unformed, hits, query, fog)
    found = ranked(hits, clear, held.index, moment, asking.limit, past=past, tentative=tentative, asked=query.vector)
    entries = [kept for kept in held.ledger if is_active(kept.entry, query.now.timestamp())]
    if past:
        then = [(kept, active_at(kept.entry, moment)) for kept in held.ledger]
        entries = [replace(kept, entry=entry) for kept, entry in then if entry is not None]
    surfaced = _surfaced(entries, asking, own, moment, shipped=wanted.shipped)
    profile: list[Recalled] = []
    if asking.limit:
        parts = {memory_id: part for memory_id, part in held.parts.items() if not fog or wanted.is_clear(memory_id)}
        standing = standing_profile(held.index, parts, moment, query.vector, past=past)
        whole = wanted.asked_for is AskedFor.OVERVIEW
        profile = [each for each in standing if whole or parts[each.memory.id][0] is ProfilePart.NEED]
        found = _with_others(wanted, found, standing)
    return Remembered(
        memories=tuple(found),
        ledger=tuple(each.entry for each in surfaced),
        profile=tuple(profile),
        name=held.name,
        today=moment,
        asked_for=wanted.asked_for,
        secrets=secret_ids([each.memory for each in (*profile, *found)], [kept.entry for kept in entries]),
        why={each.entry.id: each.why for each in surfaced},
        weave=() if past else _weave(held, entries, asking.doc, own),
        similarity={e.entry.id: float(e.embedding @ own) for e in entries if e.embedding is not None},
    )


def _with_others(wanted: _Search, found: Sequence[Recalled], standing: Sequence[Recalled]) -> list[Recalled]:
    """Return hits, then profile, near and superseded memories, with their chances, in the order asked for.

    A turn that asks for no memories uses the hits alone.
    """
    index, moment, asks = wanted.held.index, wanted.moment, wanted.asked_for is not AskedFor.OTHER
    others = list[Recalled]()
    if wanted.asking.unformed or asks:
        near = [] if wanted.of_past else nearest_memories(index, wanted.held.edges, wanted.query.vector, moment)
        clear = (each for each in near if wanted.is_clear(each.memory.id))
        others = [*standing, *(each for each in clear if asks or NO_LONGER not in each.why)]
    lines: dict[str, Recalled] = {}
    for each in (*found, *others):
        lines.setdefault(each.memory.id, each)
    judged_lines = judged(list(lines.values()), wanted.asking.doc, wanted.held.name)
    found = as_asked_for(judged_lines, index, moment, wanted.asked_for, wanted.is_clear)
    if wanted.of_past or not asks:
        return found
    return with_threads(found, fitting_lines(found), index, wanted.held.edges, moment, wanted.is_clear)


def _tentative(unformed: SearchIndex, hits: Sequence[Hit], query: SearchQuery, fog: Fog) -> Sequence[Candidate]:
    """Return messages that fit, of which no memories are formed yet; none that names a hidden concept."""
    found = tentative_memories(unformed.search(query), hits, unformed)
    return [each for each in found if not fog.hides(each.memory, each.vector)]


def _weave(held: OpenMemories, entries: Sequence[StoredEntry], doc: Doc, vector: Vector) -> tuple[Woven, ...]:
    """Return doubts that may be raised; none of which a side gives away a secret."""
    if not held.doubts:
        return ()
    sides = [memory for doubt in held.doubts for memory in sides_of(doubt, held.index)]
    hidden = secret_ids(sides, [kept.entry for kept in entries])
    return woven(held.doubts, held.index, doc, vector, held.tolerance, hidden)


def _combined(one: Vector, other: Vector) -> Vector:
    """Return the direction of two embeddings together, the longer one counting more."""
    both = one + other
    length = float(np.linalg.norm(both))
    return both / length if length else both


def _asked_for(gm: Graphmem, doc: Doc, vector: Vector) -> AskedFor:
    """Return the part of memory that a message asks for; OTHER where the classifier is unsure.

    Parameters
    ----------
    doc : the message
    vector : of the question in it
    """
    if not gm.is_shipped:
        return AskedFor.OTHER
    model = load_profile_model()
    asked_for, chance = model.of_question(vector)
    surely_other = asked_for is AskedFor.OTHER and chance >= SURELY_OTHER
    if surely_other or model.asks_memory(doc, vector) < ASKS_MEMORY:
        return AskedFor.OTHER
    return AskedFor.OWN if asked_for is AskedFor.OTHER or chance < PART_ASKED_FOR else asked_for


def _query(asked: ParsedQuestion, asking: RecallRequest, vector: Vector, now: datetime) -> SearchQuery:
    """Return the index query of a question: names apart, times resolved, short ones with the message before."""
    words, few = asked.words, len(asked.words) < FEW_WORDS
    if few and asking.before_vector is not None:
        vector = _combined(vector, asking.before_vector * np.float32(0.5))
    return SearchQuery(
        vector=vector,
        words=(*words, *query_words(Doc(asking.before))) if few else words,
        now=now,
        names=asked.names,
        as_of=asking.as_of,
        ranges=tuple((r.start, r.end) for r in time_ranges(asking.doc.text, asking.as_of or now)),
        limit=EXTRA_CANDIDATES + asking.limit,
        roles=asking.roles,
    )


def _surfaced(
    kept: Sequence[StoredEntry], asking: RecallRequest, vector: Vector, now: datetime, *, shipped: bool
) -> list[Surfaced]:
    """Return entries that the question surfaces, then the standing ones: a reported danger, critical facts."""
    entries, vectors = [each.entry for each in kept], [each.embedding for each in kept]
    found = surfacing(entries, asking.doc, vector, vectors, now.timestamp())
    known = {each.entry.id for each in found}
    for category, most in STANDING.items():
        of_it = [e for e in kept if e.entry.category is category and e.entry.importance >= STANDING_IMPORTANCE]
        able = _needs(of_it) if category is LedgerCategory.FACT and shipped else of_it
        others = (e.entry for e in able if e.entry.id not in known)
        newest = sorted(others, key=lambda entry: entry.created_at, reverse=True)[:most]
        found += [Surfaced(entry, ("standing",)) for entry in newest]
    return found


def _needs(kept: Sequence[StoredEntry]) -> list[StoredEntry]:
    """Return entries that state a need, such as an allergy; an entry without an embedding counts as one."""
    vectors = [each.embedding for each in kept if each.embedding is not None]
    parts = iter(load_profile_model().of_statements(np.stack(vectors)) if vectors else ())
    return [each for each in kept if each.embedding is None or next(parts)[0] is ProfilePart.NEED]


def _asked(text: str, as_of: datetime | None, limit: int) -> RecallRequest:
    checked_text("query", text, MESSAGE_LIMIT)
    return RecallRequest(Doc(text), as_of=checked_as_of(as_of), limit=limit, unformed=True)
