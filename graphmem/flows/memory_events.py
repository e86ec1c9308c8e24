"""Events of a student's memories, as a stream for the app that has the session (spec 18).

They are told apart by comparing the memories with what they were a moment ago, so that it does not matter which process
changed them, and none is lost while Neo4j or the broker is away.
"""

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from graphmem.app import Graphmem
from graphmem.errors import Locked, RateLimited, Unavailable
from graphmem.flows.session_cache import ENDED
from graphmem.model import MemoryEvent, MemoryEventKind, Reliability, Session
from graphmem.store.memory_events import Marks, MemoryStanding, find_marks, list_event_ids, list_standings

EVENTS_SECONDS = 1.0
"""Seconds after which `memoryEvents` tells of a change at the latest, by whichever process."""

MOST_STREAMS = 16
"""Most streams of one student that a process serves at once."""

Happened = tuple[MemoryEventKind, str]
"""What happened, and the id of the memory or concern."""


@dataclass
class _Watched:
    """A student's memories and concerns as they were when the marks were read."""

    marks: Marks
    standings: dict[str, MemoryStanding] = field(default_factory=dict)
    concerns: set[str] = field(default_factory=set)


async def memory_events(gm: Graphmem, session: Session) -> AsyncGenerator[MemoryEvent, None]:
    """Stream what happens to a student's memories from now on, at most `events_seconds` after it has happened.

    Ends without an error when this process ends.

    Raises
    ------
    Locked          the session has ended, or ends meanwhile
    RateLimited     too many streams of this student

    Source: spec 18.
    """
    with _counted(gm, session):
        watched = _Watched(await _marks(gm, session))
        watched.standings = await list_standings(gm.graph, session, -1)
        watched.concerns = set((await list_event_ids(gm.graph, session))[1])
        while not await gm.background.stops_within(EVENTS_SECONDS):
            try:
                found = await _changes(gm, session, watched)
            except Unavailable:
                # What happens meanwhile is seen as soon as Neo4j answers again.
                continue
            for kind, memory_id in found:
                yield MemoryEvent(kind, memory_id, gm.clock())


@contextmanager
def _counted(gm: Graphmem, session: Session) -> Iterator[None]:
    streams, who = gm.background.streams, (session.institution, session.student_id)
    if streams[who] >= MOST_STREAMS:
        raise RateLimited(f"At most {MOST_STREAMS} streams of a student run at once: end one of them first.")
    streams[who] += 1
    try:
        yield
    finally:
        streams[who] -= 1
        if not streams[who]:
            del streams[who]


async def _marks(gm: Graphmem, session: Session) -> Marks:
    marks = await find_marks(gm.graph, session, gm.clock())
    if marks is None:
        raise Locked(ENDED)
    return marks


async def _changes(gm: Graphmem, session: Session, watched: _Watched) -> list[Happened]:
    """What has happened since the last look; `watched` is brought up to date."""
    marks, before = await _marks(gm, session), watched.marks
    if marks == before:
        return []
    newer = await list_standings(gm.graph, session, before.written) if marks.written > before.written else {}
    gone: list[str] = []
    raised: list[str] = []
    if marks.removed > before.removed or marks.concerns != before.concerns:
        memories, concerns = await list_event_ids(gm.graph, session)
        gone = sorted(watched.standings.keys() - set(memories))
        raised = sorted(set(concerns) - watched.concerns)
        watched.concerns = set(concerns)
    found = [
        *((MemoryEventKind.CONCERN, each) for each in raised),
        *happened(watched.standings, newer, gone, compressed=marks.compressions > before.compressions),
    ]
    watched.marks = marks
    watched.standings |= newer
    for memory_id in gone:
        watched.standings.pop(memory_id, None)
    return found


def happened(
    before: Mapping[str, MemoryStanding], newer: Mapping[str, MemoryStanding], gone: Iterable[str], *, compressed: bool
) -> list[Happened]:
    """What happened to memories between two looks at them.

    Parameters
    ----------
    before : all memories at the first look, by id
    newer : those that were written since, by id
    gone : ids of those that are there no more
    compressed : a compression was done meanwhile, so that it took what is gone

    Examples
    --------
    >>> new = MemoryStanding(0, Reliability.RELIABLE, ended=False, flashbulb=False)
    >>> again = MemoryStanding(1, Reliability.RELIABLE, ended=False, flashbulb=True)
    >>> [kind.value for kind, _ in happened({}, {"memory-1-1": new}, [], compressed=False)]
    ['formed']
    >>> [kind.value for kind, _ in happened({"memory-1-1": new}, {"memory-1-1": again}, [], compressed=False)]
    ['reinforced', 'flashbulb']
    >>> happened({"memory-1-1": new}, {}, ["memory-1-1"], compressed=True)
    [(<MemoryEventKind.COMPRESSED: 'compressed'>, 'memory-1-1')]
    """
    found = [(kind, memory_id) for memory_id, now in newer.items() for kind in _kinds(before.get(memory_id), now)]
    end = MemoryEventKind.COMPRESSED if compressed else MemoryEventKind.FORGOTTEN
    return found + [(end, memory_id) for memory_id in gone]


def _kinds(was: MemoryStanding | None, now: MemoryStanding) -> Iterator[MemoryEventKind]:
    if was is None:
        yield MemoryEventKind.FORMED
    elif now.reinforcements > was.reinforcements:
        yield MemoryEventKind.REINFORCED
    if _is_superseded(now) and (was is None or not _is_superseded(was)):
        yield MemoryEventKind.SUPERSEDED
    elif _is_doubted(now) and (was is None or was.reliability is not now.reliability):
        yield MemoryEventKind.DOUBTED
    if now.flashbulb and (was is None or not was.flashbulb):
        yield MemoryEventKind.FLASHBULB


def _is_superseded(standing: MemoryStanding) -> bool:
    return standing.ended or standing.reliability is Reliability.SUPERSEDED


def _is_doubted(standing: MemoryStanding) -> bool:
    return standing.reliability in (Reliability.UNCERTAIN, Reliability.CONTRADICTED)
