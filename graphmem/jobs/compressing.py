"""Compression within the day's budget for language models (spec 5, 13)."""

from contextlib import suppress
from dataclasses import replace

from graphmem.app import Graphmem
from graphmem.errors import Conflict
from graphmem.flows.budget import within_budget
from graphmem.flows.session_cache import open_memories
from graphmem.llm.summary import SHOWN_STATEMENT
from graphmem.model import Compression, CompressionTrigger, Session


async def compress_within_budget(
    gm: Graphmem,
    session: Session,
    *,
    trigger: CompressionTrigger = CompressionTrigger.MANUAL,
    to: int | None = None,
    preview: bool = False,
) -> Compression:
    """Compress a student's memories, see `graphmem.flows.compression`; where the budget is spent rules summarise."""
    # It needs scipy, which takes most of a second to import: a command that compresses nothing should not wait for it.
    from graphmem.flows import compression
    from graphmem.flows.compression import MOST_TOGETHER

    # About the bytes of statements that one question is about.
    asked = compression.GROUPS_AT_ONCE * MOST_TOGETHER * SHOWN_STATEMENT
    async with within_budget(gm, session, "compress", asked, compression.MODEL_QUESTIONS) as able:
        return await compression.compress(able, session, trigger=trigger, to=to, preview=preview)


async def compress_beyond_limit(gm: Graphmem, session: Session, trigger: CompressionTrigger) -> Compression | None:
    """Compress where the student has more memories than the limit; None where that need not be, or has to wait.

    At the end of a session, which takes a limited time, rules summarise: a language model would not be done.
    """
    if trigger is CompressionTrigger.SESSION_END:
        gm = replace(gm, mind=gm.offline)
    held = await open_memories(gm, session)
    if len(held.index) > gm.settings.memories_limit:
        with suppress(Conflict):
            return await compress_within_budget(gm, session, trigger=trigger)
    return None
