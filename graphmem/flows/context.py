"""What comes back for a question: found by meaning and words, expanded along edges, weighed, fitted (spec 10)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from graphmem.app import Graphmem, OpenMemories
from graphmem.errors import InvalidInput, Locked
from graphmem.flows.context_plan import fitted, ranked
from graphmem.flows.session_cache import ENDED, open_memories
from graphmem.jobs.runner import run_jobs
from graphmem.llm.prompts import memory_block
from graphmem.maths import matching
from graphmem.model import Fact, LedgerEntry, Matrix, Recalled, Remembered, Session, Vector
from graphmem.search.query import Hit, Lexical, Query
from graphmem.store import jobs, memories, turns
from graphmem.store.memories import Expanding, Expansion
from graphmem.text.keyphrases import key_phrases
from graphmem.text.ledger_triggers import surfacing
from graphmem.text.query_parser import Asked, content_words, read_question
from graphmem.text.time_ranges import time_ranges
from graphmem.text.tokens import count_tokens
from graphmem.validation import checked_as_of, checked_text

CANDIDATES = 10
"""Memories found by search that are weighed beyond those asked for."""
SEEDS = 5
"""Best of them whose edges are followed."""
REACHED = 10
"""Most memories found along edges."""
MIN_WEIGHT = 0.5
"""Weight an edge needs to be followed."""
FEW_WORDS = 3
"""A question with fewer words of its own is read together with what was said before it."""
LIMIT = 100
"""Most memories recalled at once."""
BUDGET = 32_000
"""Greatest token budget."""
REFRESHES = 3


@dataclass(frozen=True)
class Asking:
    """A question put to a student's memories.

    embedding : of it, as the first row, where somebody has it embedded already
    before : what was said just before it, and its embedding, where there is one
    as_of : answer with what was held at that moment; None means now
    """

    text: str
    embedding: asyncio.Future[Matrix] | None = field(default=None, repr=False)
    before: str = ""
    before_vector: Vector | None = field(default=None, repr=False)
    as_of: datetime | None = None
    limit: int = 20


@dataclass(frozen=True)
class Context:
    """What a companion should know for a message: the prompt block, its tokens, and what is in it."""

    prompt: str
    tokens: int
    memories: tuple[Recalled, ...]
    ledger: tuple[LedgerEntry, ...]
    facts: tuple[Fact, ...]


async def recall(gm: Graphmem, session: Session, text: str, limit: int, as_of: datetime | None) -> list[Recalled]:
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
    if not 1 <= limit <= LIMIT:
        raise InvalidInput(f"limit must lie between 1 and {LIMIT}.")
    asking = _asked(gm, text, as_of, limit)
    await _formed(gm, session)
    found, _ = await search(gm, session, asking)
    return found


async def context(gm: Graphmem, session: Session, text: str, budget: int, as_of: datetime | None) -> Context:
    """What a companion should know for a message, within a token budget, as a block for its prompt.

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
    if not 1 <= budget <= BUDGET:
        raise InvalidInput(f"tokenBudget must lie between 1 and {BUDGET}.")
    asking = _asked(gm, text, as_of, LIMIT)
    await _formed(gm, session)
    (found, entries), facts = await asyncio.gather(
        search(gm, session, asking), turns.list_facts(gm.graph, session, gm.settings.facts_kept)
    )
    needed = matching.retrieve(facts, key_phrases(text), gm.settings.facts_recalled)
    remembered = await asyncio.to_thread(
        fitted, Remembered(facts=tuple(needed), memories=tuple(found), ledger=tuple(entries)), budget
    )
    prompt = memory_block(remembered)
    (tokens,) = count_tokens([prompt])
    return Context(prompt, tokens, remembered.memories, remembered.ledger, remembered.facts)


async def _formed(gm: Graphmem, session: Session) -> None:
    """What was said a moment ago shall be found: rules form it at once, a language model would take too long."""
    if gm.mind is gm.offline and await jobs.wait(gm.graph, session):
        await run_jobs(gm, session)


async def search(gm: Graphmem, session: Session, asking: Asking) -> tuple[list[Recalled], list[LedgerEntry]]:
    """Memories that fit, best first, and the ledger entries that surface."""
    # Embedding takes longest: words are searched meanwhile.
    embedding = asking.embedding or asyncio.ensure_future(gm.embedder.embed([asking.text]))
    held = await open_memories(gm, session)
    now = gm.clock()
    asked = read_question(asking.text, held.index.speakers())
    nameless = asyncio.ensure_future(gm.embedder.embed([asked.text])) if asked.names and asked.text else embedding
    lexical: Lexical | None = held.index.lexical(_words(asked, asking), now, asking.as_of)
    vector, own = (await nameless)[0], (await embedding)[0]
    query = _query(asked, asking, vector, now)
    for _ in range(REFRESHES):
        hits = held.index.search(query, lexical)
        expansion = await _expansion(gm, session, hits)
        if expansion.version <= held.version:
            break
        held, lexical = await open_memories(gm, session, expansion.version), None
    found = ranked(hits, expansion, held.index, asking.as_of or now, asking.limit, past=asking.as_of is not None)
    return found, _surfaced(held, asking, own, now)


def _words(asked: Asked, asking: Asking) -> tuple[str, ...]:
    return (*asked.words, *content_words(asking.before)) if len(asked.words) < FEW_WORDS else asked.words


def _query(asked: Asked, asking: Asking, vector: Vector, now: datetime) -> Query:
    """The question as the index takes it: names apart, times resolved, short ones with what was said before."""
    if len(asked.words) < FEW_WORDS and asking.before_vector is not None:
        both = vector + asking.before_vector / 2
        vector = both / np.linalg.norm(both)
    return Query(
        vector=vector,
        words=_words(asked, asking),
        now=now,
        names=asked.names,
        as_of=asking.as_of,
        ranges=tuple((r.start, r.end) for r in time_ranges(asking.text, asking.as_of or now)),
        limit=CANDIDATES + asking.limit,
    )


async def _expansion(gm: Graphmem, session: Session, hits: Sequence[Hit]) -> Expansion:
    ids = tuple(hit.memory.id for hit in hits)
    wanted = Expanding(ids, ids[:SEEDS], MIN_WEIGHT, REACHED)
    expansion = await memories.expand(gm.graph, session, wanted, gm.clock())
    if expansion is None:
        gm.lock_up(session)
        raise Locked(ENDED)
    return expansion


def _surfaced(held: OpenMemories, asking: Asking, vector: Vector, now: datetime) -> list[LedgerEntry]:
    entries = [kept.entry for kept in held.ledger]
    vectors = [kept.embedding for kept in held.ledger]
    return [surfaced.entry for surfaced in surfacing(entries, asking.text, vector, vectors, now.timestamp())]


def _asked(gm: Graphmem, text: str, as_of: datetime | None, limit: int) -> Asking:
    checked_text("query", text, gm.settings.message_limit)
    return Asking(text, as_of=checked_as_of(as_of), limit=limit)
