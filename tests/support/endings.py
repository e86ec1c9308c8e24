"""Pairs of messages of which the second ends the first, or does not, played on the real service (spec 7)."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from graphmem.app import Graphmem
from graphmem.flows.context import context
from graphmem.flows.facts import list_facts
from graphmem.flows.ledger import list_entries
from graphmem.flows.session_cache import open_memories
from graphmem.jobs.runner import run_jobs
from graphmem.model import OF_A_SITTING, Reliability
from tests.conftest import Pupil, say

ENDINGS = Path(__file__).parents[1] / "data" / "endings.jsonl"


@dataclass(frozen=True)
class Case:
    """One pair: `half` is `seen`, `unseen`, `fresh`, or `stays` where nothing ends.

    `stale` is what the first message alone says.
    """

    half: str
    family: str
    told: str
    then: str
    stale: str
    ask: str


def cases(half: str) -> list[Case]:
    rows = map(json.loads, ENDINGS.read_text().splitlines())
    return [Case(**row) for row in rows if row["half"] == half]


async def played(gm: Graphmem, pupil: Pupil, case: Case) -> tuple[set[str], set[str]]:
    """Where the first message stood as current before the second one and after it."""
    first = gm.clock() - timedelta(days=3)
    await say(gm, pupil, case.told, "first", at=first)
    await run_jobs(gm, pupil.session)
    before = {place async for place in standing(gm, pupil, case)}
    await say(gm, pupil, case.then, "then", at=gm.clock())
    await run_jobs(gm, pupil.session)
    return before, {place async for place in standing(gm, pupil, case)}


async def standing(gm: Graphmem, pupil: Pupil, case: Case) -> AsyncIterator[str]:
    """Places where what the first message says stands as current; a doubt about it is named `doubt`."""
    held = await open_memories(gm, pupil.session)
    for memory in held.index.latest(50):
        if "first" in memory.source_refs and _tells(case, memory.words) and memory.invalid_at is None:
            doubted = memory.reliability is not Reliability.RELIABLE
            yield "doubt" if doubted else "episodes" if memory.role in OF_A_SITTING else "memories"
    first = min((m.timestamp for m in held.index.latest(50)), default=gm.clock())
    entries = await list_entries(gm, pupil.session, active=True)
    facts = await list_facts(gm, pupil.session, 50)
    for place, told in (
        ("ledger", [(e.created_at, e.content) for e in entries]),
        ("facts", [(f.created_at, f.text) for f in facts]),
    ):
        if any(at == first and _tells(case, text) for at, text in told):
            yield place
    shown = await context(gm, pupil.session, case.ask)
    later = {each.memory.content for each in shown.memories if "first" not in each.memory.source_refs}
    later |= {each.content for each in shown.ledger if each.created_at > first}
    later |= {each.text for each in shown.facts if each.created_at > first}
    for line in shown.prompt.splitlines():
        if _tells(case, line) and "until " not in line and not any(each and each in line for each in later):
            yield "block"


def _tells(case: Case, text: str | None) -> bool:
    return case.stale.casefold() in (text or "").casefold()
