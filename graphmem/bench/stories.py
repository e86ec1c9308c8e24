"""Short stories told to the service itself: what becomes of the first statement when the last one is said (spec 12).

A file holds one story a line: `id`, `topic`, `says` (days from the beginning, and the text), `wanted`: `both` hold, the
first has `ended`, or there is a `doubt`.
"""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.harness import console, in_process, learner, tracked
from graphmem.bench.scores import share_true
from graphmem.bench.talks import parsed_rows
from graphmem.flows.reconciliation import reconcile
from graphmem.flows.session_cache import open_memories
from graphmem.flows.turn import Incoming
from graphmem.flows.uncertainty import list_uncertainties
from graphmem.model import UNSETTLED, Reliability, Session
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
    """Measure the share of stories that come out as wanted, and wrong endings; each has a student of its own.

    Raises
    ------
    InvalidInput    another format
    """
    stories = read_stories(file or STORIES)

    async def outcomes(gm: Graphmem) -> list[tuple[str, str]]:
        found = []
        for story in tracked(stories, "Telling"):
            found.append((await _outcome(gm, story), story.wanted))
            if found[-1][0] != story.wanted:
                console.print(f"{story.id}: {found[-1][0]}, wanted {story.wanted}: {story.says}")
        return found

    found = in_process(settings, outcomes)
    figures: Figures = {"right": share_true([outcome == wanted for outcome, wanted in found])}
    figures |= {kind: share_true([outcome == kind for outcome, wanted in found if wanted == kind]) for kind in OUTCOMES}
    wrongly = sum(outcome == "ended" for outcome, wanted in found if wanted == "both")
    return figures | {"wrongly_ended": float(wrongly), "stories": float(len(stories))}


def read_stories(path: Path) -> list[ShortStory]:
    """Read the stories of a file."""
    return parsed_rows(path, _story, f"id, says and wanted ({', '.join(OUTCOMES)}) are")


def _story(row: dict[str, Any]) -> ShortStory:
    if row["wanted"] not in OUTCOMES:
        raise ValueError(row["wanted"])
    return ShortStory(str(row["id"]), tuple((int(days), str(text)) for days, text in row["says"]), row["wanted"])


async def _outcome(gm: Graphmem, story: ShortStory) -> str:
    student, begun, outcome = await learner(gm, story.id), gm.clock(), ""
    for i, (days, text) in enumerate(story.says):
        student.clock.now = begun + timedelta(days=days)
        session = await student.begin()
        await student.say(Incoming(f"said-{i}", text, student.clock.now))
        if i + 1 == len(story.says):
            await reconcile(student.gm, session, by_hand=True)
            outcome = await _became(student.gm, session)
    await student.end()
    return outcome


async def _became(gm: Graphmem, session: Session) -> str:
    """What became of the first statement."""
    held = await open_memories(gm, session)
    first = [m for m in held.index.latest(len(held.index)) if "said-0" in m.source_refs]
    if any(m.reliability is Reliability.SUPERSEDED for m in first):
        return "ended"
    doubts = await list_uncertainties(gm, session, session)
    return "doubt" if any(doubt.state in UNSETTLED for doubt in doubts) else "both"
