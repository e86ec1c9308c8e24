"""Recorded dialogues put through the turn, as if they were happening."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.progress import track

from graphmem.app import Graphmem
from graphmem.bench.recorded import MatchBaselines, match_baselines, recorded_turn
from graphmem.commands.unlocked import unlocked
from graphmem.errors import Conflict
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.model import TurnOutcome, Who
from graphmem.samples.dialogues import Dialogue, dialogue_turns, load_dialogues

REPLAY_GAP = timedelta(seconds=40)
"""Time between two messages of a recording that does not tell."""


@dataclass(frozen=True)
class ReplayReport:
    """Counts of a replay; `expected`, `matched` and `facts` count this run's answered turns, repeated ones included."""

    dialogues: int
    answered: int
    repeated: int
    handled_before: int
    expected: int
    matched: int
    facts: int
    baselines: MatchBaselines

    def __str__(self) -> str:
        return (
            f"{self.dialogues} dialogues: {self.answered} turns answered, {self.repeated} had been answered in this "
            f"session, {self.handled_before} in an earlier one; {self.matched} of {self.expected} expectations came "
            f"true{f' ({self.baselines} would have)' if str(self.baselines) else ''}, {self.facts} facts learned."
        )


async def replay(gm: Graphmem, who: Who, password: str, file: Path) -> ReplayReport:
    """Put every dialogue of a file through `handle_turn`, the tutor's turns as replies.

    Each turn's id is made of its dialogue and place, so a replay that was cut short goes on where it stopped
    when it is run again, and a finished one changes nothing.

    Raises
    ------
    InvalidInput    the file is not one of dialogues
    Locked          the password is wrong or there is no such student
    """
    dialogues = load_dialogues(file)
    outcomes: list[TurnOutcome] = []
    handled = 0
    console = Console(stderr=True)
    async with unlocked(gm, who, password) as session:
        for dialogue in track(dialogues, "Replaying", console=console, disable=not console.is_terminal):
            for incoming in incoming_turns(dialogue, gm.clock()):
                try:
                    outcomes.append(await handle_turn(gm, session, incoming))
                except Conflict:
                    handled += 1
    return ReplayReport(
        dialogues=len(dialogues),
        answered=sum(not o.repeated for o in outcomes),
        repeated=sum(o.repeated for o in outcomes),
        handled_before=handled,
        expected=sum(o.matched is not None for o in outcomes),
        matched=sum(o.matched is True for o in outcomes),
        facts=sum(o.fact is not None for o in outcomes),
        baselines=await match_baselines(gm, dialogues, seed=1),
    )


def incoming_turns(dialogue: Dialogue, end: datetime) -> Iterator[Incoming]:
    """The student's messages of a dialogue that ends at `end`, with the tutor's real replies."""
    said = dialogue_turns(dialogue)
    for i, turn in enumerate(said):
        at = end - REPLAY_GAP * (len(said) - 1 - i)
        yield recorded_turn(dialogue, i, turn, at)
