"""Facts: lessons of violated expectations, compared with known ones, and matched to messages (spec 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import monotonic

from graphmem.app import Graphmem
from graphmem.flows.ending import standing_facts
from graphmem.flows.session_cache import check_running, open_memories
from graphmem.model import Fact, Lesson, Memory, Session, Vector, Who
from graphmem.store import turns
from graphmem.text import matching
from graphmem.text.pairs import Gist, contradicts, gist, is_said_by
from graphmem.validation import PAGE_SIZE, checked_as_of, checked_count

NEAREST = 5
"""Known memories that a lesson is compared with."""
SAID_ALIKE = 0.78
"""Cosine from which on a memory states the same as a lesson, where numbers and negation agree."""
FACTS_BATCH = 16
"""Facts that are embedded at once."""
FACTS_SECONDS = 0.1
"""Seconds for embedding facts that have no vector yet: what takes longer is found by its words until the next time."""


@dataclass(frozen=True)
class FittingFacts:
    """Matching facts, best first; reasons, by id, of facts that match by embedding."""

    facts: tuple[Fact, ...] = ()
    why: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


async def list_facts(gm: Graphmem, session: Session, first: int, as_of: datetime | None = None) -> list[Fact]:
    """Return a student's facts that hold, newest first.

    Parameters
    ----------
    gm : Graphmem
    session : Session, open
    first : int, 1 to PAGE_SIZE
    as_of : only facts learned by then; a fact replaced since is gone

    Raises
    ------
    InvalidInput    `first` or `as_of` is out of range
    Locked          the session has ended
    """
    checked_count("first", first, PAGE_SIZE)
    await check_running(gm, session)
    ring = await turns.list_ring(gm.graph, session, gm.settings.facts_kept, checked_as_of(as_of))
    return standing_facts(ring, (await open_memories(gm, session)).index, as_of or gm.clock())[:first]


async def fact_vectors(gm: Graphmem, who: Who, facts: Sequence[Fact]) -> Mapping[str, Vector]:
    """Embeddings of facts by their text, kept as long as this process holds the student; newest first as far as the
    time goes.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    facts : newest first
    """
    state = gm.cache.state(who)
    texts = [fact.text for fact in facts]
    missing, until = [text for text in texts if text not in state.fact_vectors], monotonic() + FACTS_SECONDS
    found = dict[str, Vector]()
    for start in range(0, len(missing), FACTS_BATCH):
        if monotonic() >= until:
            break
        some = missing[start : start + FACTS_BATCH]
        found |= zip(some, await gm.embedder.embed(some), strict=True)
    if found or len(state.fact_vectors) > len(texts):
        known = state.fact_vectors | found
        state.fact_vectors = {text: known[text] for text in texts if text in known}
        gm.cache.weigh(who)
    return state.fact_vectors


def fitting_facts(
    facts: Sequence[Fact],
    needed: Sequence[str],
    limit: int,
    *,
    meant: Mapping[str, float] | None = None,
) -> FittingFacts:
    """Return facts that keywords ask for, best first.

    Parameters
    ----------
    facts : newest first
    needed : keywords
    limit : int >= 0, most facts
    meant : ids of facts that match by embedding, with their cosines
    """
    meant = meant or {}
    kept = matching.retrieve(facts, needed, limit, meant=meant)
    return FittingFacts(tuple(kept), {fact.id: (f"dense {meant[fact.id]:.2f}",) for fact in kept if fact.id in meant})


def learned(
    lesson: Lesson, fact_id: str, at: datetime, facts: Sequence[Fact], memories: Sequence[tuple[Memory, float]]
) -> Fact | None:
    """Return the fact of a lesson, new or repeated; None where a memory states it, or a contradicting fact is newer.

    Parameters
    ----------
    lesson : Lesson
    fact_id : str, for a new fact
    at : datetime, of the message it comes from
    facts : known ones; one that says the same is said anew, by whichever says more; the opposite of one takes its place
    memories : the nearest known ones, each with its cosine to the lesson

    Notes
    -----
    The `seq` of the fact is given when it is written.

    Source: spec 4.

    Examples
    --------
    >>> from datetime import UTC
    >>> at = datetime(2026, 1, 5, tzinfo=UTC)
    >>> known = [Fact("fact-t1", 1, "Mo loves drawing comics.", ("comics",), at)]
    >>> again = Lesson("Mo really loves drawing comics at home.", ("comics",))
    >>> learned(again, "fact-t2", at, known, [])
    Fact(id='fact-t1', seq=0, text='Mo really loves drawing comics at home.', tags=('comics',), created_at=...)
    """
    own = gist(lesson.text)
    for fact in facts:
        known = gist(fact.text)
        if is_said_by(own, known):
            return replace(fact, seq=0, created_at=at)
        if contradicts(own, known) and fact.created_at > at:
            # It arrives late: the known fact is of a later time.
            return None
        if is_said_by(known, own) or contradicts(own, known):
            return Fact(fact.id, 0, lesson.text, lesson.tags, at)
    told = (m.invalid_at is None and _says(gist(m.content or ""), cosine, own) for m, cosine in memories)
    return None if any(told) else Fact(fact_id, 0, lesson.text, lesson.tags, at)


def _says(known: Gist, cosine: float, own: Gist) -> bool:
    """Return whether a memory states the same as a lesson, in its words or in others."""
    agrees = known.negates == own.negates and set(own.numbers) <= set(known.numbers)
    return is_said_by(own, known) or (agrees and cosine >= SAID_ALIKE)


async def known_facts(gm: Graphmem, session: Session, version: int | None = None) -> Sequence[Fact]:
    """Return the ring of a student's facts, newest first: those this process holds, where they are of a version."""
    held = gm.turn_state(session)
    if held is not None and (gm.admits(session) if version is None else held.state.version == version):
        return held.facts
    return await turns.list_ring(gm.graph, session, gm.settings.facts_kept)
