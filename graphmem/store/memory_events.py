"""Reads by which changes of a student's memories are noticed, whichever process made them (spec 18)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from graphmem.model import Reliability, Session, Who
from graphmem.store.graph import Graph


@dataclass(frozen=True)
class Marks:
    """Versions of a student's memories, and counts of what is only ever added; equal marks: nothing has changed."""

    written: int
    removed: int
    compressions: int
    concerns: int


@dataclass(frozen=True)
class MemoryStanding:
    """A memory as it stands, as far as events tell of it."""

    reinforcements: int
    reliability: Reliability
    ended: bool
    flashbulb: bool


async def find_marks(graph: Graph, session: Session, now: datetime) -> Marks | None:
    """The marks of a student; None when the session has ended; `event/get_marks`."""
    rows = await graph.run("event/get_marks", session, session_id=session.session_id, now=now)
    return Marks(**rows[0]) if rows else None


async def list_standings(graph: Graph, who: Who, since: int) -> dict[str, MemoryStanding]:
    """Memories written after a version of the student's, as they stand, by id; `event/list_standings`."""
    rows = await graph.run("event/list_standings", who, since=since)
    return {
        row["id"]: MemoryStanding(
            row["reinforcements"], Reliability(row["reliability"]), row["ended"], row["flashbulb"]
        )
        for row in rows
    }


async def list_event_ids(graph: Graph, who: Who) -> tuple[Iterable[str], Iterable[str]]:
    """Ids of all memories and of all concerns of a student; `event/list_ids`."""
    (row,) = await graph.run("event/list_ids", who)
    return row["memories"], row["concerns"]
