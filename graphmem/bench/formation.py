"""Memory formation benchmark on real tutoring dialogues: junk, variety, cost, surprise, consolidation by load."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.progress import track

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.gold import gold_figures, is_gold
from graphmem.bench.harness import BENCH_INSTITUTION, PASSWORD, own_database
from graphmem.bench.voe import held_out
from graphmem.flows import students
from graphmem.flows.consolidation import consolidate
from graphmem.flows.gravity import CURVE
from graphmem.flows.junk import Junk, find_junk
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import Level, Modality, Session, Who
from graphmem.runtime import open_graphmem
from graphmem.samples import sample_dialogues
from graphmem.samples.dialogues import Dialogue, dialogue_turns, load_dialogues
from graphmem.settings import Settings
from graphmem.store import memories
from graphmem.store.memories import Cut, Filter, Moment

ACTIVITY = (0.5, 2.0, 5.0, 10.0, 60.0)
"""Messages of the student a minute; sittings take turns in how busy they are."""
SITTING = 12
"""Dialogues of one student in one sitting, so that busy times last long enough to be busy."""
FORMATION_PAGE = 200
JUNK_KINDS = ("exact", "near", "loops", "talk", "no_span")


@dataclass
class Seen:
    """Counts and timings collected in a run."""

    messages: Counter[float] = field(default_factory=Counter)
    thoughts: Counter[float] = field(default_factory=Counter)
    consolidated: Counter[float] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    levels: Counter[Level] = field(default_factory=Counter)
    junk: list[Junk] = field(default_factory=list)
    modalities: Counter[Modality] = field(default_factory=Counter)
    edges: Counter[str] = field(default_factory=Counter)
    dialogues: int = 0
    sittings: int = 0


def measure_formation(settings: Settings, file: Path | None) -> Figures:
    """Put dialogues through `handle_turn` and form memories after each turn, without a language model.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : dialogues instead of the shipped samples
    """
    dialogues = sample_dialogues() if file is None else load_dialogues(file)
    with own_database(settings) as own:
        # Passwords are not what is measured here, most dialogues have a student of their own, and quiet ones last long.
        quick = {
            "model": "offline",
            "argon2_ops": 1,
            "argon2_mib": 8,
            "session_minutes": 100_000.0,
            "session_hours": 2_000.0,
        }
        return asyncio.run(_measured(own.model_copy(update=quick), dialogues, file))


async def _measured(settings: Settings, dialogues: Sequence[Dialogue], file: Path | None) -> Figures:
    seen, console, everybody = Seen(), Console(stderr=True), _by_student(dialogues)
    async with (
        open_graphmem(settings, say=lambda _: None, background=False) as opened,
        held_out(opened, dialogues) as gm,
    ):
        gold = await gold_figures(gm, file) if file is not None and is_gold(file) else {}
        for name, held in track(everybody.items(), "Forming", console=console, disable=not console.is_terminal):
            await _live(gm, name, held, seen)
    return gold | _figures(seen)


def _by_student(dialogues: Sequence[Dialogue]) -> dict[str, list[Dialogue]]:
    """The dialogues of each student; of students who were met once, a sitting's worth counts as one student's."""
    students: dict[str, list[Dialogue]] = {}
    # Bridge has a line for each expert who judged a dialogue.
    for dialogue in {dialogue.id: dialogue for dialogue in dialogues}.values():
        students.setdefault(dialogue.student, []).append(dialogue)
    once = [held[0] for held in students.values() if len(held) == 1]
    together = {f"met-once-{i}": once[i : i + SITTING] for i in range(0, len(once), SITTING)}
    return {name: held for name, held in students.items() if len(held) > 1} | together


async def _live(gm: Graphmem, name: str, held: list[Dialogue], seen: Seen) -> None:
    """One student's dialogues, some of them in one sitting, and what became of them."""
    who = Who(BENCH_INSTITUTION, name)
    await students.enrol(gm, who, PASSWORD)
    sittings = [held[i : i + SITTING] for i in range(0, len(held), SITTING)]
    for day, sitting in enumerate(sittings):
        clock = _Clock(gm.clock() + timedelta(days=day))
        rate = ACTIVITY[seen.sittings % len(ACTIVITY)]
        seen.sittings += 1
        told = replace(gm, clock=clock)
        _, session = await students.open_session(told, who, PASSWORD)
        await _talk(told, clock, session, sitting, rate, seen)
        considered, kept = await consolidate(told, who)
        seen.thoughts[rate] += considered
        seen.consolidated[rate] += kept
        await close_session(told, session, wait=True)
    _, session = await students.open_session(gm, who, PASSWORD)
    seen.junk.append(await find_junk(gm, session))
    await _count(gm, who, seen)
    await close_session(gm, session, wait=True)


async def _count(gm: Graphmem, who: Who, seen: Seen) -> None:
    after = None
    while True:
        found = await memories.list_memory_page(
            gm.graph, who, Filter(), Moment(gm.clock(), CURVE), Cut(FORMATION_PAGE, after), None
        )
        seen.modalities.update(memory.modality for memory in found)
        edges = await memories.list_edges(gm.graph, who, [memory.id for memory in found])
        for memory_id, of_one in edges.items():
            seen.edges.update(edge.type for edge in of_one if edge.from_id == memory_id)
        if len(found) < FORMATION_PAGE:
            return
        after = (found[-1].timestamp, found[-1].id)


async def _talk(
    gm: Graphmem, clock: "_Clock", session: Session, sitting: list[Dialogue], rate: float, seen: Seen
) -> None:
    for dialogue in sitting:
        seen.dialogues += 1
        for i, turn in enumerate(dialogue_turns(dialogue)):
            clock.now += timedelta(minutes=1 / rate)
            outcome = await handle_turn(gm, session, Incoming(f"{dialogue.id}#{i}", turn.text, clock.now, turn.reply))
            seen.messages[rate] += 1
            seen.levels[outcome.level] += 1
            began = perf_counter()
            if await run_jobs(gm, session):
                seen.seconds.append(perf_counter() - began)


@dataclass
class _Clock:
    """The time of a recorded dialogue; it lies ahead, since what is held in memory expires by the real time."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now


def _figures(seen: Seen) -> Figures:
    count = sum(junk.memories for junk in seen.junk)
    messages = seen.messages.total()
    figures: Figures = {
        "dialogues": seen.dialogues,
        "messages": messages,
        "memories": count,
        "memories_per_dialogue": count / max(1, seen.dialogues),
        "memories_per_message": count / max(1, messages),
        "junk_rate": sum(junk.rate * junk.memories for junk in seen.junk) / max(1, count),
        **{
            f"junk_{kind}": sum(getattr(j, kind) for j in seen.junk)
            for kind in ("exact", "near", "loops", "talk", "no_span")
        },
        "form_p50_ms": 1000 * median(seen.seconds),
        "form_p95_ms": 1000 * float(np.percentile(seen.seconds, 95)),
    }
    for rate in ACTIVITY:
        figures[f"consolidated@{rate:g}"] = seen.consolidated[rate] / max(1, seen.messages[rate])
        figures[f"thoughts_consolidated@{rate:g}"] = seen.consolidated[rate] / max(1, seen.thoughts[rate])
    figures |= {f"level_{level}": seen.levels[level] / max(1, messages) for level in Level}
    figures |= {f"modality_{name}": share / max(1, count) for name, share in seen.modalities.most_common()}
    figures |= {f"edges_{name}": edges / max(1, count) for name, edges in seen.edges.most_common()}
    return figures
