"""One running graphmem: everything that flows need, put together in one place."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, time
from weakref import WeakValueDictionary

from cachetools import TLRUCache
from nacl.encoding import RawEncoder
from nacl.hash import blake2b
from threadpoolctl import threadpool_limits

from graphmem.errors import SetupError
from graphmem.llm.fallback import make_mind
from graphmem.model import Unlocked, Who
from graphmem.notifier import Carrier
from graphmem.offline.mind import make_offline_mind
from graphmem.ports import Embedder, Mind
from graphmem.sealing import Argon2, new_secret
from graphmem.search.index import MemoryIndex
from graphmem.settings import Settings
from graphmem.store import schema
from graphmem.store.graph import Graph, open_driver
from graphmem.store.ledger import Kept
from graphmem.text.affect import Affect, load_affect
from graphmem.text.embedder import make_embedder
from graphmem.text.topic_boundaries import Episodes, load_episodes

STUDENTS_AT_ONCE = 4
"""Students whose jobs a process runs side by side."""
FINISH_SECONDS = 10.0
"""Seconds that a process which ends waits for its jobs under way."""


@dataclass
class OpenMemories:
    """A student's memories in clear while the session is open, as of one version of them.

    ledger : every entry, settled ones too
    """

    session_id: str
    expires_at: datetime
    version: int
    index: MemoryIndex = field(repr=False)
    ledger: tuple[Kept, ...] = field(default=(), repr=False)


class Calm:
    """Whether turns are under way in this process; background work waits until there have been none for a while."""

    def __init__(self) -> None:
        self._turns = 0
        self._since = -math.inf
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """While it lasts, a turn is under way."""
        self._turns += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._turns -= 1
            if not self._turns:
                self._since = monotonic()
                self._idle.set()

    async def wait(self, quiet: float, patience: float) -> None:
        """Wait until no turn has been under way for `quiet` seconds, but no longer than `patience` seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._idle.wait()
                while (rest := self._since + quiet - monotonic()) > 0:
                    await asyncio.sleep(rest)
                    await self._idle.wait()


UnlockedCache = TLRUCache[tuple[str, str], Unlocked]
MemoriesCache = TLRUCache[tuple[str, str], OpenMemories]


def unlocked_cache(most: int) -> UnlockedCache:
    """A bounded cache that drops each student at the end of the session."""
    return TLRUCache(most, ttu=lambda _key, unlocked, _now: unlocked.expires_at.timestamp(), timer=time)


def memories_cache(most: int) -> MemoriesCache:
    """The same for memories; one that is dropped frees what it holds as soon as nobody searches it any more."""
    return TLRUCache(most, ttu=lambda _key, memories, _now: memories.expires_at.timestamp(), timer=time)


@dataclass(frozen=True)
class Graphmem:
    """What flows are handed first: settings, rooms, and the state of this process.

    mind : who is asked; `offline` is there whatever happens
    carrier : tells whoever runs jobs that a student has some
    worker : this process is there to run jobs
    stopping : set when this process ends; jobs under way are finished, and no more are begun
    job_slots : how many students' jobs this process runs side by side
    """

    settings: Settings
    graph: Graph
    embedder: Embedder
    mind: Mind
    offline: Mind
    affect: Affect
    episodes: Episodes
    secret: bytes = field(repr=False)
    unlocked: UnlockedCache = field(repr=False)
    memories: MemoriesCache = field(repr=False)
    carrier: Carrier = field(repr=False)
    worker: bool = False
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    locks: WeakValueDictionary[Who, asyncio.Lock] = field(default_factory=WeakValueDictionary, repr=False)
    background: set[asyncio.Task[None]] = field(default_factory=set, repr=False)
    starting: set[str] = field(default_factory=set, repr=False)
    calm: Calm = field(default_factory=Calm, repr=False)
    stopping: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    job_slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(STUDENTS_AT_ONCE), repr=False)
    job_locks: WeakValueDictionary[Who, asyncio.Lock] = field(default_factory=WeakValueDictionary, repr=False)
    memory_locks: WeakValueDictionary[Who, asyncio.Lock] = field(default_factory=WeakValueDictionary, repr=False)
    argon2_slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2), repr=False)

    @property
    def argon2(self) -> Argon2:
        """How slow a new password is made."""
        return Argon2(self.settings.argon2_ops, self.settings.argon2_mib * 2**20)

    def lock(self, who: Who) -> asyncio.Lock:
        """The lock that lets one student's turns in this process through one after the other."""
        return _lock(self.locks, who)

    def job_lock(self, who: Who) -> asyncio.Lock:
        """The lock that lets this process do one student's jobs one after the other."""
        return _lock(self.job_locks, who)

    def memory_lock(self, who: Who) -> asyncio.Lock:
        """The lock under which this process reads or changes what it holds of one student's memories."""
        return _lock(self.memory_locks, who)

    @property
    def runs_jobs(self) -> bool:
        """Whether this process runs jobs, or leaves them to workers."""
        return self.worker or self.carrier.here

    async def stops_within(self, seconds: float) -> bool:
        """Wait for some time; whether this process begins to end meanwhile, which ends the waiting."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stopping.wait(), seconds)
        return self.stopping.is_set()

    def reply(self) -> AbstractContextManager[None]:
        """While it lasts, a turn is under way, and background work holds back."""
        return self.calm.turn()

    def drop(self, who: Who) -> None:
        """Forget what is held in memory of a student's running talk."""
        self.unlocked.pop((who.institution, who.student_id), None)

    def lock_up(self, who: Who) -> None:
        """Forget all that is held in memory of a student, memories too."""
        self.drop(who)
        self.memories.pop((who.institution, who.student_id), None)


def _lock(locks: WeakValueDictionary[Who, asyncio.Lock], who: Who) -> asyncio.Lock:
    key = Who(who.institution, who.student_id)
    lock = locks.get(key)
    if lock is None:
        lock = locks[key] = asyncio.Lock()
    return lock


@asynccontextmanager
async def open_with_neo4j(settings: Settings, uri: str, user: str, password: str) -> AsyncIterator[Graphmem]:
    """Open the rooms, check the database and close everything again.

    Parameters
    ----------
    settings : Settings
    uri, user, password : str, the Neo4j to use

    Raises
    ------
    SetupError      something is not ready; the message says what to do
    Unavailable     Neo4j does not answer
    """
    # Our matrices are small: a second thread of the linear algebra would mostly wait for a free processor.
    threadpool_limits(1, user_api="blas")
    graph = Graph(open_driver(uri, user, password, settings.neo4j_timeout), settings.neo4j_timeout)
    embedder = make_embedder(settings)
    mind: Mind | None = None
    carrier, opened = Carrier(settings), None
    try:
        await schema.prepare(graph, embedder.name, embedder.dimension, datetime.now(UTC))
        offline = await make_offline_mind(embedder)
        mind = make_mind(settings, offline)
        opened = Graphmem(
            settings=settings,
            graph=graph,
            embedder=embedder,
            mind=mind,
            offline=offline,
            affect=load_affect(),
            episodes=load_episodes(),
            secret=server_secret(settings),
            unlocked=unlocked_cache(settings.unlocked_students),
            memories=memories_cache(settings.unlocked_students),
            carrier=carrier,
        )
        yield opened
    finally:
        if opened is not None:
            await _finish_background(opened)
        await carrier.aclose()
        if mind is not None:
            await mind.aclose()
        await embedder.aclose()
        await graph.aclose()


async def _finish_background(gm: Graphmem) -> None:
    """Let what is under way come to its end; what takes too long is taken up again when its lease runs out."""
    gm.stopping.set()
    if gm.background:
        await asyncio.wait(gm.background, timeout=FINISH_SECONDS)
    for task in gm.background:
        task.cancel()
    await asyncio.gather(*gm.background, return_exceptions=True)


def server_secret(settings: Settings) -> bytes:
    """The server secret as 32 bytes: configured, or made once and kept in the home with mode 0600.

    Raises
    ------
    SetupError      it is too short, or the home cannot be written
    """
    text = settings.secret.get_secret_value() if settings.secret else _kept_secret(settings.home / "secret")
    if len(text) < 32:
        raise SetupError("GRAPHMEM_SECRET is too short: use at least 32 random characters.")
    return bytes(blake2b(text.encode(), digest_size=32, encoder=RawEncoder))


def _kept_secret(path: Path) -> str:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            # Written aside and linked into place, so that two first starts agree on one secret.
            aside = path.with_name(f".secret-{id(path)}-{time()}")
            aside.touch(mode=0o600)
            aside.write_text(new_secret())
            try:
                path.hardlink_to(aside)
            except FileExistsError:
                pass
            finally:
                aside.unlink()
        return path.read_text().strip()
    except OSError as e:
        raise SetupError(f"The server secret cannot be kept in {path.parent}: {e.strerror}. Set GRAPHMEM_HOME.") from e
