"""Session cache: what this process holds of students whose sessions are open, bounded by bytes (spec 14)."""

import asyncio
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from weakref import WeakValueDictionary
from zoneinfo import ZoneInfo

from cachetools import LRUCache

from graphmem.model import Message, Session, Uncertainty, Unlocked, Vector, Who
from graphmem.search.edges import EdgeTable
from graphmem.search.fog import Fog, OpenWorld
from graphmem.search.index import SearchIndex
from graphmem.store.ledger import StoredEntry
from graphmem.text.profile import ProfilePart

ENTRY_BYTES = 400
"""Bytes of one message, fact or ledger entry beside its texts and its vector."""
READING_BYTES = 8_000
"""Bytes of what the encoder tells of a message: a vector, what its heads look at, their scores."""

NEVER_READ = datetime.fromtimestamp(0, UTC)

Key = tuple[str, str]


@dataclass
class OpenMemories:
    """A student's memories in clear while the session is open, as of one version of them.

    edges : between them, those that are followed
    turns : how many there were; the memories stand as the last of these left them
    used_until : when that was read or written
    ledger : every entry, settled ones too
    parts : by id, the part of the standing profile that a memory surely belongs to, with its chance
    name : what the student is called, where it is known
    doubts : uncertainties that are not settled
    tolerance : of the companion, 0.2 to 0.8
    time_zone : IANA name of the student's time zone, where one was given
    """

    version: int
    index: SearchIndex = field(repr=False)
    edges: EdgeTable = field(default_factory=EdgeTable, repr=False)
    turns: int = 0
    used_until: datetime = NEVER_READ
    ledger: tuple[StoredEntry, ...] = field(default=(), repr=False)
    parts: dict[str, tuple[ProfilePart, float]] = field(default_factory=dict, repr=False)
    name: str | None = field(default=None, repr=False)
    doubts: tuple[Uncertainty, ...] = field(default=(), repr=False)
    tolerance: float = 0.5
    time_zone: str | None = None

    @property
    def zone(self) -> tzinfo:
        """Time zone in which the student reckons days: the one given, else the offset of what was said last."""
        if self.time_zone is not None:
            return ZoneInfo(self.time_zone)
        return next((memory.zone for memory in self.index.latest(1)), UTC)

    @property
    def nbytes(self) -> int:
        """About the bytes it takes."""
        searched = self.index.nbytes + self.edges.nbytes
        return searched + sum(map(_ledger_bytes, self.ledger)) + ENTRY_BYTES * len(self.doubts)


class StudentState:
    """One student in this process: sessions, locks, turn state, memories, and what is not formed yet.

    sessions : ids of sessions that were seen running here, each with the moment until which it is trusted to run
    turn_lock : lets the student's turns through one after the other
    job_lock : lets the student's jobs be done one after the other
    index_lock : held while memories are read or changed
    turn : messages of the running conversation, and facts
    fact_vectors : embeddings of facts, by their text
    memories : the search index and the ledger
    unformed : messages and observations of which no memories are formed yet, as far as they were read
    fog : what of the world is hidden from the student, as of `fog_seen` (monotonic seconds)
    """

    def __init__(self) -> None:
        self.sessions: dict[str, datetime] = {}
        self.turn_lock = asyncio.Lock()
        self.job_lock = asyncio.Lock()
        self.index_lock = asyncio.Lock()
        self.turn: Unlocked | None = None
        self.fact_vectors: dict[str, Vector] = {}
        self.memories: OpenMemories | None = None
        self.unformed: SearchIndex | None = None
        self.fog: Fog | None = None
        self.fog_seen = 0.0

    @property
    def nbytes(self) -> int:
        """About the bytes it takes."""
        turn = 0 if self.turn is None else _turn_bytes(self.turn)
        turn += sum(sys.getsizeof(text) + vector.nbytes for text, vector in self.fact_vectors.items())
        memories = 0 if self.memories is None else self.memories.nbytes
        return turn + memories + (0 if self.unformed is None else self.unformed.nbytes)

    @property
    def expires_at(self) -> datetime | None:
        """Latest expiry of the sessions that were seen running; None if it holds nothing or saw none."""
        holds = self.turn is not None or self.memories is not None
        return max(self.sessions.values(), default=None) if holds else None

    def clear(self) -> None:
        """Forget everything but the locks."""
        self.turn = self.memories = self.unformed = self.fog = None
        self.fact_vectors = {}
        self.sessions.clear()


class WorldCache(LRUCache[str, OpenWorld]):
    """The worlds of the institutions that were last asked for, of whatever version.

    Parameters
    ----------
    maxsize : int >= 1, worlds held at once; the one not asked for longest makes room

    Examples
    --------
    >>> WorldCache(2).get("school") is None
    True
    """

    def __init__(self, maxsize: int) -> None:
        super().__init__(maxsize)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, institution: str) -> asyncio.Lock:
        """Held while a world is read, so that it is read once."""
        return self._locks.setdefault(institution, asyncio.Lock())


class _HeldStates(LRUCache[Key, StudentState]):
    """States by the bytes they take; one that makes room is cleared. One larger than all of it counts as all of it."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(max_bytes, lambda state: min(state.nbytes, max_bytes))

    def popitem(self) -> tuple[Key, StudentState]:
        key, state = super().popitem()
        state.clear()
        return key, state


class SessionCache:
    """States of students, the least recently used cleared first; what a session held is gone when it ends.

    Parameters
    ----------
    max_bytes : int > 0, of all states together; the newest is kept even where it alone is larger

    Examples
    --------
    >>> cache = SessionCache(2**20)
    >>> ann = Who("school", "ann")
    >>> cache.turn(ann, datetime(2026, 1, 15)), len(cache), cache.nbytes
    (None, 0, 0)
    """

    def __init__(self, max_bytes: int) -> None:
        self._held = _HeldStates(max_bytes)
        # A state that holds nothing lives as long as somebody holds one of its locks.
        self._states: WeakValueDictionary[Key, StudentState] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self._held)

    @property
    def nbytes(self) -> int:
        """About the bytes that all states take."""
        return int(self._held.currsize)

    def students(self) -> list[Who]:
        """The students of whom something is held."""
        return [Who(*key) for key in self._held]

    def state(self, who: Who) -> StudentState:
        """The state of a student; an empty one where there is none."""
        return self._states.setdefault((who.institution, who.student_id), StudentState())

    def admit(self, session: Session, until: datetime) -> None:
        """Trust that a session runs until some moment: it was found running in the graph."""
        self.state(session).sessions[session.session_id] = until

    def admits(self, session: Session, now: datetime) -> bool:
        """True if a session was found running here before, and was not seen to end since."""
        until = self.state(session).sessions.get(session.session_id)
        return until is not None and until > now

    def dismiss(self, session: Session) -> None:
        """Trust a session no more; with the student's last one everything of the student is forgotten."""
        state = self.state(session)
        state.sessions.pop(session.session_id, None)
        if not state.sessions:
            self.drop(session)

    def turn(self, who: Who, now: datetime) -> Unlocked | None:
        """The turn state of a student of whom a session runs."""
        return self._current(who, now).turn

    def memories(self, who: Who, now: datetime) -> OpenMemories | None:
        """The memories of a student of whom a session runs."""
        return self._current(who, now).memories

    def put(self, who: Who, held: Unlocked | OpenMemories) -> None:
        """Keep the turn state or the memories of a student."""
        state = self.state(who)
        if isinstance(held, Unlocked):
            state.turn = held
        else:
            state.memories = held
        self.weigh(who)

    def weigh(self, who: Who) -> None:
        """Count a student's bytes again, and clear others where they are too many in all; one without them is out."""
        key, state = (who.institution, who.student_id), self.state(who)
        known = self._held.pop(key, None)
        if state.expires_at is not None:
            self._held[key] = state
        elif known is not None:
            known.clear()

    def drop_turn(self, who: Who) -> None:
        """Forget the turn state of a student."""
        self.state(who).turn = None
        self.weigh(who)

    def drop_memories(self, who: Who) -> None:
        """Forget the memories of a student."""
        self.state(who).memories = None
        self.weigh(who)

    def drop_fog(self, who: Who) -> None:
        """Forget what is hidden from a student."""
        self.state(who).fog = None

    def drop(self, who: Who) -> None:
        """Forget everything of a student."""
        self.state(who).clear()
        self.weigh(who)

    def expire(self, now: datetime) -> None:
        """Forget everything of students whose sessions are over."""
        for who in self.students():
            self._current(who, now)

    def _current(self, who: Who, now: datetime) -> StudentState:
        state = self.state(who)
        if state.expires_at is not None and state.expires_at <= now:
            self.drop(who)
        else:
            # Whoever is asked for is used.
            self._held.get((who.institution, who.student_id))
        return state


def _turn_bytes(turn: Unlocked) -> int:
    facts = sum(ENTRY_BYTES + sys.getsizeof(fact.text) for fact in turn.facts)
    task = 0 if turn.task is None else sys.getsizeof(turn.task.text) + turn.task.embedding.nbytes
    return facts + task + sum(map(_message_bytes, turn.messages))


def _message_bytes(message: Message) -> int:
    vector = 0 if message.embedding is None else message.embedding.nbytes
    reading = 0 if message.reading is None else READING_BYTES
    return ENTRY_BYTES + sys.getsizeof(message.text) + vector + reading


def _ledger_bytes(kept: StoredEntry) -> int:
    vector = 0 if kept.embedding is None else kept.embedding.nbytes
    return ENTRY_BYTES + 2 * sys.getsizeof(kept.entry.content or "") + vector
