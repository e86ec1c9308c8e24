"""Danger that a message tells of, as it is found wherever a text comes in (spec 20)."""

import asyncio
from collections.abc import Sequence

from graphmem.model import Danger, FalseAlarm
from graphmem.text.safety import find_danger, without_false_alarms


async def danger_in(text: str, asked: str = "") -> Danger | None:
    """Find the danger that a text tells of, in all of its length and off the event loop; None where it tells of none.

    Parameters
    ----------
    text : str
    asked : str, what was said just before
    """
    return await asyncio.to_thread(find_danger, text, asked)


async def heard_danger(text: str, asked: str, alarms: Sequence[FalseAlarm]) -> tuple[Danger | None, bool]:
    """Danger that a student's message tells of, and whether one was passed over as a known false alarm.

    A corrected alarm silences its own statements only, and never what a plain sign says.
    """
    danger = await danger_in(text, asked)
    if danger is None or danger.sign:
        return danger, False
    rest = without_false_alarms(text, alarms)
    if not alarms or rest == " ".join(text.split()):
        return danger, False
    danger = await danger_in(rest, asked) if rest else None
    return danger, danger is None
