"""Short stories told to the service itself: what becomes of the first statement when the last one is said (spec 12).

A file holds one story a line: `id`, `topic`, `says` (days from the beginning, and the text), `wanted`: `both` hold, the
first has `ended`, or there is a `doubt`.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.datasets import read_rows
from graphmem.bench.harness import BENCH_INSTITUTION, PASSWORD, own_database
from graphmem.errors import InvalidInput
from graphmem.flows import students
from graphmem.flows.reconciliation import reconcile
from graphmem.flows.session_cache import open_memories
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.flows.uncertainty import list_uncertainties
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import UNSETTLED, Reliability, Session, Who
from graphmem.runtime import open_graphmem
from graphmem.samples import SAMPLES
from graphmem.settings import Settings

STORIES = SAMPLES / "contradiction" / "stories.jsonl"
OUTCOMES = ("both", "ended", "doubt")


@dataclass(frozen=True)
class ShortStory:
    """Statements of one student with the days they were said, and what is wanted to become of the first."""

    id: str
    says: tuple[tuple[int, str], ...]
    wanted: str


def measure_stories(settings: Settings, file: Path | None) -> Figures:
    """Share of stories that come out as wanted, and of wrong endings: each story is told by a student of its own.

    Raises
    ------
    InvalidInput    another format
    """
    stories = read_stories(file or STORIES)
    with own_database(settings) as own:
        found = asyncio.run(_told(own, stories))
    console = Console(stderr=True)
    for story, outcome in zip(stories, found, strict=True):
        if outcome != story.wanted:
            console.print(f"{story.id}: {outcome}, wanted {story.wanted}: {story.says}", highlight=False)
    figures: Figures = {"right": _share([o == s.wanted for o, s in zip(found, stories, strict=True)])}
    for wanted in OUTCOMES:
        figures[wanted] = _share([o == wanted for o, s in zip(found, stories, strict=True) if s.wanted == wanted])
    kept = [o == "ended" for o, s in zip(found, stories, strict=True) if s.wanted == "both"]
    return figures | {"wrongly_ended": float(sum(kept)), "stories": float(len(stories))}


def read_stories(path: Path) -> list[ShortStory]:
    """The stories of a file."""
    try:
        return [_story(row) for _, row in read_rows(path)]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"{path} has no rows of id, says and wanted ({', '.join(OUTCOMES)}).") from error


def _story(row: dict[str, Any]) -> ShortStory:
    if row["wanted"] not in OUTCOMES:
        raise ValueError(row["wanted"])
    return ShortStory(str(row["id"]), tuple((int(days), str(text)) for days, text in row["says"]), row["wanted"])


async def _told(settings: Settings, stories: Sequence[ShortStory]) -> list[str]:
    console = Console(stderr=True)
    async with open_graphmem(settings, say=lambda _: None, background=False) as gm:
        shown = track(stories, "Telling", console=console, disable=not console.is_terminal)
        return [await _outcome(gm, story) for story in shown]


async def _outcome(gm: Graphmem, story: ShortStory) -> str:
    who, begun = Who(BENCH_INSTITUTION, story.id), gm.clock()
    await students.enrol(gm, who, PASSWORD)
    for i, (days, text) in enumerate(story.says):
        # The time lies ahead, since what is held in memory expires by the real time.
        then = _at(gm, begun + timedelta(days=days))
        _, session = await students.open_session(then, who, PASSWORD)
        await handle_turn(then, session, Incoming(f"said-{i}", text, then.clock()))
        await run_jobs(then, session)
        if i + 1 == len(story.says):
            await reconcile(then, session, by_hand=True)
            found = await _became(then, session)
        await close_session(then, session, wait=True)
    return found


def _at(gm: Graphmem, moment: datetime) -> Graphmem:
    return replace(gm, clock=lambda: moment)


async def _became(gm: Graphmem, session: Session) -> str:
    """What became of what was said first."""
    held = await open_memories(gm, session)
    first = [m for m in held.index.latest(len(held.index)) if "said-0" in m.source_refs]
    if any(m.reliability is Reliability.SUPERSEDED for m in first):
        return "ended"
    doubts = await list_uncertainties(gm, session, session)
    return "doubt" if any(doubt.state in UNSETTLED for doubt in doubts) else "both"


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits) if hits else 0.0
