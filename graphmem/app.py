"""One running graphmem: everything that flows need, put together in one place."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import time
from weakref import WeakValueDictionary

from cachetools import TLRUCache
from nacl.encoding import RawEncoder
from nacl.hash import blake2b
from threadpoolctl import threadpool_limits

from graphmem.errors import SetupError
from graphmem.index import MemoryIndex
from graphmem.mind.affect import Affect, load_affect
from graphmem.mind.embedder import make_embedder
from graphmem.mind.fallback import make_mind
from graphmem.mind.offline import make_offline_mind
from graphmem.mind.port import Embedder, Mind
from graphmem.model import Unlocked, Who
from graphmem.sealing import Argon2, new_secret
from graphmem.settings import Settings
from graphmem.store import schema
from graphmem.store.graph import Graph, open_driver
from graphmem.store.ledger import Kept


@dataclass
class OpenMemories:
    """A student's memories in clear while the session is open, as of one version of them.

    ledger : every entry, settled ones too
    names : whom and what the memories speak of
    """

    session_id: str
    expires_at: datetime
    version: int
    index: MemoryIndex = field(repr=False)
    ledger: tuple[Kept, ...] = field(default=(), repr=False)
    names: frozenset[str] = field(default=frozenset(), repr=False)


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
    """What flows are handed first: settings, rooms, and the state of this process."""

    settings: Settings
    graph: Graph
    embedder: Embedder
    mind: Mind
    offline: Mind
    affect: Affect
    secret: bytes = field(repr=False)
    unlocked: UnlockedCache = field(repr=False)
    memories: MemoriesCache = field(repr=False)
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    locks: WeakValueDictionary[Who, asyncio.Lock] = field(default_factory=WeakValueDictionary, repr=False)
    background: set[asyncio.Task[None]] = field(default_factory=set, repr=False)
    starting: set[str] = field(default_factory=set, repr=False)
    replying: set[object] = field(default_factory=set, repr=False)
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

    @contextmanager
    def reply(self) -> Iterator[None]:
        """While it lasts, a turn is under way, and background work holds back."""
        turn = object()
        self.replying.add(turn)
        try:
            yield
        finally:
            self.replying.discard(turn)

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
async def open_graphmem(settings: Settings, uri: str, user: str, password: str) -> AsyncIterator[Graphmem]:
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
    background: set[asyncio.Task[None]] = set()
    try:
        await schema.prepare(graph, embedder.name, embedder.dimension, datetime.now(UTC))
        offline = await make_offline_mind(embedder)
        mind = make_mind(settings, offline)
        yield Graphmem(
            settings=settings,
            graph=graph,
            embedder=embedder,
            mind=mind,
            offline=offline,
            affect=load_affect(),
            secret=server_secret(settings),
            unlocked=unlocked_cache(settings.unlocked_students),
            memories=memories_cache(settings.unlocked_students),
            background=background,
        )
    finally:
        # A job that is cut off here is taken up again when its lease runs out.
        for task in background:
            task.cancel()
        await asyncio.gather(*background, return_exceptions=True)
        if mind is not None:
            await mind.aclose()
        await embedder.aclose()
        await graph.aclose()


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
