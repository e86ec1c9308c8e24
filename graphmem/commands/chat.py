"""Talking with the companion on the command line."""

import asyncio
import sys
from collections.abc import Callable
from uuid import uuid4

from graphmem.app import Graphmem
from graphmem.commands.unlocked import unlocked
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.model import TurnOutcome, Who


async def talk(gm: Graphmem, who: Who, password: str, echo: Callable[[str], None]) -> None:
    """Answer each line of standard input; an empty line or the end of input ends the session.

    Raises
    ------
    Locked      the password is wrong or there is no such student
    """
    async with unlocked(gm, who, password) as session:
        while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
            outcome = await handle_turn(gm, session, Incoming(uuid4().hex, line, gm.clock()))
            for said in account(outcome):
                echo(said)


def account(outcome: TurnOutcome) -> list[str]:
    """Summarise the outcome of a turn in a few lines."""
    expected = "nothing was expected" if outcome.match is None else f"match {outcome.match:.2f}"
    lines = [f"  ({expected}, surprise {outcome.surprise:.2f} {outcome.level}, importance {outcome.importance:.2f})"]
    if outcome.fact is not None:
        lines.append(f"  (learned: {outcome.fact.text})")
    return [*lines, f"Companion: {outcome.reply}"]
