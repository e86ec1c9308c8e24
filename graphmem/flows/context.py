"""Context retrieval for a question: search by meaning and words, expand along edges, weigh, fit (spec 10)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from graphmem.app import Graphmem
from graphmem.cache import OpenMemories
from graphmem.errors import InvalidInput, Locked
from graphmem.flows.context_plan import fitted, ranked, tentative_memories
from graphmem.flows.session_cache import ENDED, open_memories
from graphmem.flows.unformed import read_unformed
from graphmem.model import Fact, LedgerEntry, Matrix, Recalled, Remembered, Session, Vector
from graphmem.search.index import SearchIndex
from graphmem.search.query import Hit, LexicalScores, SearchQuery
from graphmem.store import memories, turns
from graphmem.store.memories import Expanding, Expansion
from graphmem.tasks import task_group
from graphmem.text import matching
from graphmem.text.doc import Doc
from graphmem.text.ledger_triggers import surfacing
from graphmem.text.memory_block import memory_block
from graphmem.text.query_parser import ParsedQuestion, query_words, read_question
from graphmem.text.time_ranges import time_ranges
from graphmem.text.tokens import count_tokens
from graphmem.validation import checked_as_of, checked_text

EXTRA_CANDIDATES = 10
"""Memories found by search that are weighed beyond those asked for."""
EXPANSION_SEEDS = 5
"""Best of them whose edges are followed."""
REACHED = 10
"""Most memories found along edges."""
MIN_WEIGHT = 0.5
"""Weight an edge needs to be followed."""
FEW_WORDS = 3
"""A question with fewer words of its own is read together with what was said before it."""
MAX_RECALLED = 100
"""Most memories recalled at once."""
MAX_BUDGET = 32_000
"""Greatest token budget."""
REFRESHES = 3


@dataclass(frozen=True)
class RecallRequest:
    """A question put to a student's memories.

    embedding : of it, as the first row, where somebody has it embedded already
    before : what was said just before it, and its embedding, where there is one: given, or as a row of `embedding`
    as_of : answer with what was held at that moment; None means now
    unformed : whether messages of which no memories are formed yet are searched, too; a turn has its own in sight
    """

    doc: Doc
    embedding: asyncio.Future[Matrix] | None = field(default=None, repr=False)
    before: str = ""
    before_vector: Vector | None = field(default=None, repr=False)
    before_row: int | None = None
    as_of: datetime | None = None
    limit: int = 20
    unformed: bool = False


@dataclass(frozen=True)
class SearchResult:
    """Memories that fit, best first, and ledger entries that surface, as of a version of the student."""

    memories: list[Recalled]
    ledger: list[LedgerEntry]
    student_version: int


@dataclass(frozen=True)
class Context:
    """Context of a message for a companion: the prompt block, its tokens, and what is in it."""

    prompt: str
    tokens: int
    memories: tuple[Recalled, ...]
    ledger: tuple[LedgerEntry, ...]
    facts: tuple[Fact, ...]


async def recall(
    gm: Graphmem, session: Session, text: str, limit: int = 20, as_of: datetime | None = None
) -> list[Recalled]:
    """The memories that fit a question, best first.

    Parameters
    ----------
    gm : Graphmem
    session : Session, open
    text : str
    limit : int, 1 to 100
    as_of : datetime, to be answered with what was held at that moment; None means now

    Raises
    ------
    InvalidInput    the question or the limit will not do
    Locked          the session has ended
    """
    if not 1 <= limit <= MAX_RECALLED:
        raise InvalidInput(f"limit must lie between 1 and {MAX_RECALLED}.")
    asking = _asked(gm, text, as_of, limit)
    return (await search(gm, session, asking)).memories


async def context(
    gm: Graphmem, session: Session, text: str, budget: int = 2_000, as_of: datetime | None = None
) -> Context:
    """Build the context of a message for a companion, within a token budget, as a block for its prompt.

    Parameters
    ----------
    gm : Graphmem
    session : Session, open
    text : str, the message
    budget : int, tokens, 1 to 32,000
    as_of : datetime, as in `recall`

    Raises
    ------
    InvalidInput    the message or the budget will not do
    Locked          the session has ended
    """
    if not 1 <= budget <= MAX_BUDGET:
        raise InvalidInput(f"tokenBudget must lie between 1 and {MAX_BUDGET}.")
    asking = _asked(gm, text, as_of, MAX_RECALLED)
    result = await search(gm, session, asking)
    facts = await _facts(gm, session, result.student_version)
    return await asyncio.to_thread(_block, gm, asking.doc, result, facts, budget)


async def _facts(gm: Graphmem, session: Session, student_version: int) -> Sequence[Fact]:
    """The student's facts: those this process holds, where they are of this version."""
    held = gm.turn_state(session)
    if held is not None and (held.session_id, held.state.version) == (session.session_id, student_version):
        return held.facts
    return await turns.list_ring(gm.graph, session, gm.settings.facts_kept)


def _block(gm: Graphmem, doc: Doc, result: SearchResult, facts: Sequence[Fact], budget: int) -> Context:
    """Fit what was found into a budget; off the event loop."""
    needed = matching.retrieve(facts, doc.key_phrases(), gm.settings.facts_recalled)
    remembered = Remembered(facts=tuple(needed), memories=tuple(result.memories), ledger=tuple(result.ledger))
    remembered = fitted(remembered, budget)
    prompt = memory_block(remembered)
    (tokens,) = count_tokens([prompt])
    return Context(prompt, tokens, remembered.memories, remembered.ledger, remembered.facts)


async def search(gm: Graphmem, session: Session, asking: RecallRequest) -> SearchResult:
    """Memories that fit, best first, and the ledger entries that surface."""
    async with task_group() as group:
        # Embedding takes longest: words are searched meanwhile.
        embedding = asking.embedding or group.create_task(gm.embedder.embed([asking.doc.text]))
        held = await open_memories(gm, session)
        unformed = await read_unformed(gm, session) if asking.unformed else None
        now = gm.clock()
        asked = read_question(asking.doc, (*held.index.speakers(), *(() if unformed is None else unformed.speakers())))
        nameless = group.create_task(gm.embedder.embed([asked.text])) if asked.names and asked.text else embedding
        lexical: LexicalScores | None
        lexical = await asyncio.to_thread(held.index.lexical, _words(asked, asking), now, asking.as_of)
        rows = await embedding
        vector, own = (await nameless)[0], rows[0]
    if asking.before_row is not None:
        asking = replace(asking, before_vector=rows[asking.before_row])
    query = _query(asked, asking, vector, now)
    for _ in range(REFRESHES):
        hits = await asyncio.to_thread(held.index.search, query, lexical)
        expansion = await _expansion(gm, session, hits)
        if expansion.version <= held.version:
            break
        held, lexical = await open_memories(gm, session, expansion.version), None
    found, entries = await asyncio.to_thread(_chosen, held, unformed, asking, query, hits, expansion, own)
    return SearchResult(found, entries, expansion.student_version)


def _chosen(
    held: OpenMemories,
    unformed: SearchIndex | None,
    asking: RecallRequest,
    query: SearchQuery,
    hits: Sequence[Hit],
    expansion: Expansion,
    own: Vector,
) -> tuple[list[Recalled], list[LedgerEntry]]:
    """Rank what was found, and see what surfaces; off the event loop."""
    tentative = () if unformed is None else tentative_memories(unformed.search(query), hits, unformed)
    moment, past = asking.as_of or query.now, asking.as_of is not None
    found = ranked(hits, expansion, held.index, moment, asking.limit, past=past, tentative=tentative)
    return found, _surfaced(held, asking, own, query.now)


def _words(asked: ParsedQuestion, asking: RecallRequest) -> tuple[str, ...]:
    return (*asked.words, *query_words(Doc(asking.before))) if len(asked.words) < FEW_WORDS else asked.words


def _query(asked: ParsedQuestion, asking: RecallRequest, vector: Vector, now: datetime) -> SearchQuery:
    """The question as the index takes it: names apart, times resolved, short ones with what was said before."""
    if len(asked.words) < FEW_WORDS and asking.before_vector is not None:
        both = vector + asking.before_vector / 2
        vector = both / np.linalg.norm(both)
    return SearchQuery(
        vector=vector,
        words=_words(asked, asking),
        now=now,
        names=asked.names,
        as_of=asking.as_of,
        ranges=tuple((r.start, r.end) for r in time_ranges(asking.doc.text, asking.as_of or now)),
        limit=EXTRA_CANDIDATES + asking.limit,
    )


async def _expansion(gm: Graphmem, session: Session, hits: Sequence[Hit]) -> Expansion:
    ids = tuple(hit.memory.id for hit in hits)
    wanted = Expanding(ids, ids[:EXPANSION_SEEDS], MIN_WEIGHT, REACHED)
    expansion = await memories.expand(gm.graph, session, wanted, gm.clock())
    if expansion is None:
        gm.lock_up(session)
        raise Locked(ENDED)
    return expansion


def _surfaced(held: OpenMemories, asking: RecallRequest, vector: Vector, now: datetime) -> list[LedgerEntry]:
    entries = [kept.entry for kept in held.ledger]
    vectors = [kept.embedding for kept in held.ledger]
    return [surfaced.entry for surfaced in surfacing(entries, asking.doc, vector, vectors, now.timestamp())]


def _asked(gm: Graphmem, text: str, as_of: datetime | None, limit: int) -> RecallRequest:
    checked_text("query", text, gm.settings.message_limit)
    return RecallRequest(Doc(text), as_of=checked_as_of(as_of), limit=limit, unformed=True)
