"""Composition root: the components of a running graphmem, assembled in one place."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, MutableMapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import time
from typing import TypeVar

import numpy as np
from cachetools import TTLCache
from nacl.encoding import RawEncoder
from nacl.hash import blake2b
from threadpoolctl import threadpool_limits

from graphmem.background import Background
from graphmem.bearer import Caller, caller
from graphmem.cache import OpenMemories, SessionCache, WorldCache
from graphmem.errors import Locked, SetupError, Unauthenticated
from graphmem.language.analysis import MessageAnalysis
from graphmem.language.encoder import Encoder
from graphmem.limits import PasswordChecks, Rates
from graphmem.llm.fallback import make_mind
from graphmem.model import Matrix, Session, Unlocked, Who
from graphmem.notifier import JobNotifier
from graphmem.offline.mind import make_offline_mind
from graphmem.ports import Embedder, Mind
from graphmem.sealing import Argon2, new_secret, opened_token
from graphmem.settings import Settings
from graphmem.store import schema
from graphmem.store.graph import Graph, open_driver
from graphmem.store.tampering import mend
from graphmem.text.affect import AffectModel, load_affect
from graphmem.text.embedder import EMBEDDER_THREADS, SHIPPED, make_embedder
from graphmem.text.matching import MatchModel, load_match
from graphmem.text.topic_boundaries import TopicBoundaryModel, load_topic_boundaries

T = TypeVar("T")

SERVICE_TOKEN_SECONDS = 5.0
"""Seconds for which a process trusts that a service token was not revoked."""

SESSIONS_HELD = 100_000
"""Most sessions of which a process holds when it last renewed them."""
TOKENS_HELD = 10_000
"""Most service tokens that a process holds as valid."""
LOADED_AT_ONCE = 4
"""Most students whose memories a process reads at once: when a class begins the others wait in turn, not in Neo4j."""
WORLDS_HELD = 32
"""Most institutions whose concepts a process holds."""


@dataclass(frozen=True)
class Graphmem:
    """Application context passed to every flow: settings, components, and the state of this process.

    mind : the configured mind; `offline` is always available
    cache : in-memory state of students whose sessions are open
    background : background jobs of this process: their notifier, when they run, and running tasks
    rates : limits of requests, turns, observations a minute
    passwords : limits of the password checks of this process
    renewals : by session id, when this process last renewed it
    valid_tokens : ids of the service tokens that were found valid a moment ago
    loading : limits how many students' memories are read at once
    worlds : names of the concepts of institutions
    """

    settings: Settings
    graph: Graph
    embedder: Embedder
    reader: Encoder
    mind: Mind
    offline: Mind
    affect: AffectModel
    matches: MatchModel
    episodes: TopicBoundaryModel
    secret: bytes = field(repr=False)
    secret_before: bytes | None = field(repr=False)
    cache: SessionCache = field(repr=False)
    background: Background = field(repr=False)
    rates: Rates = field(repr=False)
    passwords: PasswordChecks = field(repr=False)
    renewals: TTLCache[str, datetime] = field(default_factory=lambda: TTLCache(SESSIONS_HELD, 3600.0), repr=False)
    valid_tokens: MutableMapping[str, bool] = field(default_factory=dict, repr=False)
    loading: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(LOADED_AT_ONCE), repr=False)
    worlds: WorldCache = field(default_factory=lambda: WorldCache(WORLDS_HELD), repr=False)
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))

    @property
    def secrets(self) -> tuple[bytes, ...]:
        """The server secret, and the one before where there is one."""
        return (self.secret,) if self.secret_before is None else (self.secret, self.secret_before)

    @property
    def is_shipped(self) -> bool:
        """True if embeddings are of the shipped model, which the small models were made for."""
        return self.embedder.name == f"onnx:{SHIPPED}"

    async def read(
        self, texts: Sequence[str], known: Mapping[str, object] | None = None
    ) -> tuple[list[MessageAnalysis], Matrix]:
        """The readings of texts, and their embeddings, which the encoder gives where they are the shipped model's.

        What is `known`, by text, is not read again.
        """
        readings = await self.reader.read(texts, known)
        if not self.is_shipped:
            return readings, await self.embedder.embed(texts)
        rows = [reading.vector for reading in readings]
        return readings, np.stack(rows) if rows else np.empty((0, self.embedder.dimension), dtype=np.float32)

    def opened_session(self, token: str) -> Session:
        """The session of a token, sealed with the server secret or with the one before.

        Raises
        ------
        Locked      it is neither's, or it has expired
        """
        return self._by_any(lambda secret: opened_token(secret, token, self.clock()))

    def caller_of(self, token: str) -> Caller:
        """Whom a bearer token speaks for, signed with the server secret or with the one before.

        Raises
        ------
        Unauthenticated    it is neither's, or it has expired
        """
        return self._by_any(lambda secret: caller(token, secret))

    def _by_any(self, opened: Callable[[bytes], T]) -> T:
        """Return what the server secret opens, or else the one before."""
        *newer, last = self.secrets
        for secret in newer:
            with suppress(Locked, Unauthenticated):
                return opened(secret)
        return opened(last)

    @property
    def argon2(self) -> Argon2:
        """Argon2 cost parameters for new passwords."""
        return Argon2(self.settings.argon2_ops, self.settings.argon2_mib * 2**20)

    @asynccontextmanager
    async def lock(self, who: Who) -> AsyncIterator[None]:
        """Let one student's turns in this process through one after the other."""
        state = self.cache.state(who)
        async with state.turn_lock:
            yield

    @asynccontextmanager
    async def job_lock(self, who: Who) -> AsyncIterator[None]:
        """Let this process do one student's jobs one after the other."""
        state = self.cache.state(who)
        async with state.job_lock:
            yield

    @asynccontextmanager
    async def memory_lock(self, who: Who) -> AsyncIterator[None]:
        """Let this process read or change what it holds of one student's memories, one after the other."""
        state = self.cache.state(who)
        async with state.index_lock:
            yield

    def turn_state(self, who: Who) -> Unlocked | None:
        """In-memory state of a student's current conversation; None if there is none."""
        return self.cache.turn(who, self.clock())

    def memories(self, who: Who) -> OpenMemories | None:
        """In-memory cache of a student's memories; None if there is none."""
        return self.cache.memories(who, self.clock())

    def until(self, session: Session) -> datetime:
        """End of a session that is used now and not again."""
        return min(self.clock() + timedelta(minutes=self.settings.session_minutes), session.expires_at)

    def admit(self, session: Session) -> None:
        """Let a session use what this process holds of its student: it was found running in the graph."""
        self.cache.admit(session, self.until(session))

    def admits(self, session: Session) -> bool:
        """True if a session may use what this process holds of its student, without looking into the graph."""
        return self.cache.admits(session, self.clock())

    def dismiss(self, session: Session) -> None:
        """Let a session that has ended use nothing more; with the student's last one all in-memory state goes."""
        self.cache.dismiss(session)

    def drop(self, who: Who) -> None:
        """Drop the in-memory state of a student's current conversation."""
        self.cache.drop_turn(who)

    def lock_up(self, who: Who) -> None:
        """Drop all in-memory state of a student, memories included."""
        self.cache.drop(who)


@asynccontextmanager
async def open_with_neo4j(settings: Settings, uri: str, user: str, password: str) -> AsyncIterator[Graphmem]:
    """Open the components, check the database, and close everything on exit.

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
    secret, before, timeout = server_secret(settings), secret_before(settings), settings.neo4j_timeout
    secrets = (secret,) if before is None else (secret, before)
    graph = Graph(open_driver(uri, user, password, timeout), timeout, secrets, uri=uri, mend=mend)
    embedder, reader = make_embedder(settings), Encoder(EMBEDDER_THREADS)
    async with AsyncExitStack() as opened:
        # Closed in the opposite order.
        for each in (graph, reader, embedder):
            opened.push_async_callback(each.aclose)
        await schema.prepare(graph, embedder.name, embedder.dimension, datetime.now(UTC))
        offline = await make_offline_mind(embedder, reader)
        mind, background = make_mind(settings, offline), Background(JobNotifier(settings))
        opened.push_async_callback(mind.aclose)
        opened.push_async_callback(background.aclose)
        yield Graphmem(
            settings=settings,
            graph=graph,
            embedder=embedder,
            reader=reader,
            mind=mind,
            offline=offline,
            affect=load_affect(),
            matches=load_match(),
            episodes=load_topic_boundaries(),
            secret=secret,
            secret_before=before,
            cache=SessionCache(settings.cache_mib * 2**20),
            background=background,
            rates=Rates(settings),
            passwords=PasswordChecks(),
            valid_tokens=TTLCache(TOKENS_HELD, SERVICE_TOKEN_SECONDS),
        )


def server_secret(settings: Settings) -> bytes:
    """The server secret as 32 bytes: configured, or made once and kept in the home with mode 0600.

    Raises
    ------
    SetupError      it is too short, or the home cannot be written
    """
    text = settings.secret.get_secret_value() if settings.secret else _kept_secret(settings.home / "secret")
    return _secret_bytes("GRAPHMEM_SECRET", text)


def secret_before(settings: Settings) -> bytes | None:
    """The server secret before it was changed, as 32 bytes; None where none is given.

    Raises
    ------
    SetupError      it is too short
    """
    if settings.secret_before is None:
        return None
    return _secret_bytes("GRAPHMEM_SECRET_BEFORE", settings.secret_before.get_secret_value())


def _secret_bytes(name: str, text: str) -> bytes:
    if len(text) < 32:
        raise SetupError(f"{name} is too short: use at least 32 random characters.")
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
