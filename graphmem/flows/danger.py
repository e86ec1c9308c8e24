"""Danger that a message tells of, as it is found wherever a text comes in (spec 20)."""

import asyncio
from collections.abc import Mapping, Sequence

from graphmem.app import Graphmem
from graphmem.model import Danger, FalseAlarm
from graphmem.text.reader import MessageReading
from graphmem.text.safety import gravest, passages, without_false_alarms


async def danger_in(
    gm: Graphmem, text: str, asked: str = "", known: Mapping[str, MessageReading] | None = None
) -> Danger | None:
    """Find the danger that a text tells of, in all of its length; None where it tells of none.

    Parameters
    ----------
    gm : Graphmem
    text : str
    asked : str, what was said just before
    known : readings that there are already, by text

    Raises
    ------
    Unavailable     the reader has been closed
    """
    parts = await asyncio.to_thread(passages, text, asked)
    read = [part.text for part in parts if part.is_read]
    readings = dict(zip(read, await gm.reader.read(read, known), strict=True))
    return await asyncio.to_thread(gravest, parts, readings)


async def heard_danger(
    gm: Graphmem, text: str, asked: str, reading: MessageReading, alarms: Sequence[FalseAlarm]
) -> tuple[Danger | None, bool]:
    """Danger that a student's message tells of, and whether one was passed over as a known false alarm.

    A corrected alarm silences its own statements only, and never what a plain sign says.
    """
    known = {text: reading}
    danger = await danger_in(gm, text, asked, known)
    if danger is None or danger.sign:
        return danger, False
    rest = without_false_alarms(text, alarms)
    if not alarms or rest == " ".join(text.split()):
        return danger, False
    danger = await danger_in(gm, rest, asked, known) if rest else None
    return danger, danger is None
