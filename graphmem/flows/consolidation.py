"""Consolidation of a session: thoughts whose final score reaches the threshold of their time are kept (spec 6).

Thoughts are memories that were formed during the session and are tentative: they weigh half until they are
consolidated. Those that are not stay tentative, so that they fade and are pruned first; none is lost. Only
numbers decide, so that no key is needed.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from graphmem import metrics
from graphmem.app import Graphmem
from graphmem.errors import InvalidInput, NotFound
from graphmem.flows.formation_plan import TENTATIVE
from graphmem.maths import importance
from graphmem.maths.importance import reconsidered
from graphmem.model import Who
from graphmem.store import memories, students
from graphmem.store.memories import ConsolidationVerdict, UnconsolidatedMemory
from graphmem.validation import PAGE_SIZE, checked_id

THOUGHTS_AT_ONCE = 50
"""Thoughts considered at once."""


async def consolidate(gm: Graphmem, who: Who, until: datetime | None = None) -> tuple[int, int]:
    """Consider every thought of a student, at most fifty at once.

    Parameters
    ----------
    gm : Graphmem
    who : Who; the session need not be open
    until : later thoughts are left to another time; None considers all

    Returns
    -------
    how many thoughts were considered, and how many of them were kept

    Source: spec 6.
    """
    considered = kept = 0
    while (waiting := await memories.list_waiting(gm.graph, who, THOUGHTS_AT_ONCE, until))[0]:
        (thoughts, said), now = waiting, gm.clock()
        verdicts = [verdict(thought, said) for thought in thoughts]
        with metrics.measured_consolidation(len(verdicts), now.timestamp()):
            written = await memories.save_verdicts(gm.graph, who, verdicts, now)
        if not written:
            # Another process considers the same thoughts at this moment.
            break
        considered += written
        kept += (own := sum(each.consolidated for each in verdicts))
        metrics.consolidated.labels("kept").inc(own)
    return considered, kept


async def find_kept(gm: Graphmem, who: Who, turn_ids: Sequence[str]) -> tuple[bool | None, ...]:
    """Return, turn by turn, whether the thoughts of a message were kept, also after its session has ended.

    None where a memory of it waits to be considered, or the message has left none, and where there is no such turn.

    Raises
    ------
    InvalidInput    more ids than a page has, or one that is none

    Source: spec 6.
    """
    if len(turn_ids) > PAGE_SIZE:
        raise InvalidInput(f"turnIds has {len(turn_ids)} ids: at most {PAGE_SIZE} are taken.")
    for turn_id in turn_ids:
        checked_id("turnIds", turn_id)
    known = await memories.list_kept(gm.graph, who, list(dict.fromkeys(turn_ids)))
    return tuple(map(known.get, turn_ids))


def verdict(thought: UnconsolidatedMemory, said: Sequence[float]) -> ConsolidationVerdict:
    """Decide if a thought is kept, and how important it is when the talk has ended.

    Its age is counted from the last message of the talk, however long the session stayed open after it: what was said
    long before needs more in its favour. How busy the time was in which it was said, the messages of the ten minutes
    after it tell, or of so much of them as there was a talk: busy times keep less, the first message of one too.

    Parameters
    ----------
    thought : UnconsolidatedMemory
    said : seconds at which the student spoke, in order, that of the thought among them

    Examples
    --------
    >>> from datetime import UTC
    >>> at = datetime(2026, 1, 15, tzinfo=UTC)
    >>> plain = UnconsolidatedMemory("memory-1-1", at, 0.4, 1.0, (0, 1, 0.1, 0, 0.2, 0), 0.25, 0.3, 0.2)
    >>> times = [at.timestamp() + 120.0 * i for i in range(16)]
    >>> [verdict(plain, times[:n]).consolidated for n in (1, 2, 16)]
    [True, True, False]
    """
    talk = importance.sitting(said, at := thought.at.timestamp())
    # Later messages may no longer be known.
    rate = max(thought.activity, importance.messages_per_minute(talk, min(talk[-1], at + importance.RATE_WINDOW)))
    heat = importance.activity(rate)
    values = replace(importance.Features(*thought.features), recency=importance.recency(talk[-1] - at), heat=heat)
    score = importance.importance(values, importance.temperature(heat))
    final = importance.final(score, thought.surprise)
    keeps = final >= importance.threshold(rate)
    strength = min(1.0, thought.strength / TENTATIVE) if keeps else thought.strength
    before = importance.final(thought.importance, thought.surprise)
    return ConsolidationVerdict(thought.id, keeps, rate, score, reconsidered(thought.salience, before, final), strength)


async def decay(gm: Graphmem, who: Who) -> tuple[int, int]:
    """Materialise each memory's current gravity as `gravity_now`; its inputs stay unchanged.

    Superseded, contradicted and uncertain memories that have faded to their residue are deleted, and doubts
    about them count as decayed. Running it twice at one moment equals running it once.

    Returns
    -------
    how many memories the student had, and how many of them were deleted

    Raises
    ------
    NotFound        there is no such student
    """
    if await students.find_enrolled(gm.graph, who, gm.clock()) is None:
        raise NotFound("There is no such student.")
    return await memories.save_decay(gm.graph, who, gm.clock())
