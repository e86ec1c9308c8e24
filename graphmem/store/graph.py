"""The connection to Neo4j: the one place that opens the driver, runs statements and translates its errors."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from os import urandom
from time import monotonic, time
from typing import Any, TypeVar, cast

import neo4j
from neo4j import AsyncDriver, AsyncGraphDatabase, AsyncSession, AsyncTransaction
from neo4j import exceptions as ne

from graphmem.errors import Conflict, GraphmemError, InvalidInput, Mistyped, QueryError, SetupError, Unavailable
from graphmem.manifest import sealed_note
from graphmem.model import Session, Who
from graphmem.store import queries
from graphmem.store.nodes import COMPANION_NODE, NODE_KINDS, STUDENT_NODE

MOST_BOOKMARKS = 20
"""Most bookmarks that a caller may send at once."""
_FORM = re.compile(r"[A-Za-z0-9+/=:_-]{1,200}")


Row = dict[str, Any]
T = TypeVar("T")
SCHEMES = tuple(f"{kind}{security}" for kind in ("neo4j", "bolt") for security in ("", "+s", "+ssc"))
_EXPORTED = {name: field for name, field in {**STUDENT_NODE.clear, **COMPANION_NODE.clear}.items() if field.exported}
FIRST_PAUSE = 0.02
"""Seconds before a statement is run again; doubles each time."""


@dataclass
class BookmarkTrail:
    """Bookmarks of one request: the ones it was sent with, and the ones of its writes."""

    given: tuple[str, ...] = ()
    written: set[str] = field(default_factory=set)

    @property
    def text(self) -> str:
        """Bookmarks for the caller's next request, as text; empty where nothing was written or given."""
        return ",".join(sorted(self.written or self.given))


_trail: ContextVar[BookmarkTrail | None] = ContextVar("bookmark_trail", default=None)


def current_trail() -> BookmarkTrail | None:
    """Return the trail of the request that is being answered; None outside of one."""
    return _trail.get()


@contextmanager
def bookmarked(text: str) -> Iterator[BookmarkTrail]:
    """Read at least the state of some bookmarks, and gather the bookmarks of writes.

    Parameters
    ----------
    text : str, as `BookmarkTrail.text` was, empty for none

    Raises
    ------
    InvalidInput    it is not of that form

    Examples
    --------
    >>> with bookmarked("FB:a,FB:b") as trail:
    ...     trail.given
    ('FB:a', 'FB:b')
    >>> with bookmarked("no bookmark"):
    ...     pass
    Traceback (most recent call last):
    graphmem_client.errors.InvalidInput: X-Graphmem-Bookmark must be as the last response had it.
    """
    given = tuple(text.split(",")) if text else ()
    if len(given) > MOST_BOOKMARKS or not all(map(_FORM.fullmatch, given)):
        raise InvalidInput("X-Graphmem-Bookmark must be as the last response had it.")
    trail = BookmarkTrail(given)
    token = _trail.set(trail)
    try:
        yield trail
    finally:
        _trail.reset(token)


@dataclass
class Touched:
    """Nodes, properties and relationships that a write may have changed, by which the integrity hash is kept (spec 14).

    A statement returns them in the column `touched`, as maps of the parameters of `add`. Properties are named one by
    one, so that manual changes to other ones are not taken over.

    nodes : label and id, with the properties that were set; None stands for all of them
    made : nodes that may be new
    gone : nodes that may have been deleted
    edges : label and id of a node, and the type of its relationships
    """

    nodes: dict[tuple[str, str], set[str] | None] = field(default_factory=dict)
    made: set[tuple[str, str]] = field(default_factory=set)
    gone: set[tuple[str, str]] = field(default_factory=set)
    edges: set[tuple[str, str, str]] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.nodes or self.gone or self.edges)

    def places(self) -> int:
        """Return how many nodes and relationships are named."""
        return len(self.nodes) + len(self.gone) + len(self.edges)

    def add(
        self,
        label: str,
        id: str | None,
        *,
        set: Collection[str] | None = None,
        links: Collection[str] = (),
        made: bool = False,
        replaced: bool = False,
        gone: bool = False,
    ) -> None:
        """Add a node.

        Parameters
        ----------
        label, id : of the node; without an id nothing is added
        set : properties that were set, where it was there
        links : types of its relationships that were created, changed or deleted
        made : it was created, where it was not there
        replaced : it was created, or all its properties set anew
        gone : it was deleted with its relationships
        """
        if id is None:
            return
        place = (label, id)
        self.edges.update((label, id, kind) for kind in links)
        kind = NODE_KINDS.get(label)
        if kind is None or not kind.hashed:
            return
        if gone:
            self.gone.add(place)
        elif replaced or made or set is not None:
            self.made.update([place] if made or replaced else [])
            self._set(place, None if replaced else frozenset(set or ()) - kind.unhashed)

    def _set(self, place: tuple[str, str], names: Collection[str] | None) -> None:
        known = self.nodes.setdefault(place, set())
        self.nodes[place] = None if known is None or names is None else known.union(names)

    def to_json(self) -> dict[str, Any]:
        """Return the content of its note."""
        return {
            "nodes": [[*place, None if names is None else sorted(names)] for place, names in self.nodes.items()],
            "made": sorted(self.made),
            "gone": sorted(self.gone),
            "edges": sorted(self.edges),
        }

    def add_json(self, told: Mapping[str, Any]) -> None:
        """Add the content of a note.

        Examples
        --------
        >>> one, other = Touched(), Touched()
        >>> one.add("Fact", "fact-1", set=["text"], links=["FORMED_FROM"], made=True)
        >>> other.add_json(one.to_json())
        >>> one == other
        True
        """
        for label, node_id, names in told["nodes"]:
            self._set((label, node_id), names)
        self.made.update((label, node_id) for label, node_id in told["made"])
        self.gone.update((label, node_id) for label, node_id in told["gone"])
        self.edges.update((label, node_id, kind) for label, node_id, kind in told["edges"])


class Transaction:
    """A transaction of one student that is under way: runs statements of `cypher/` by name."""

    def __init__(self, tx: AsyncTransaction, who: Who, known: Mapping[str, queries.CypherStatement]) -> None:
        self._tx, self.who, self._queries = tx, who, known
        self.touched = Touched()

    async def run(self, name: str, **params: Any) -> list[Row]:
        """Run one statement; parameters as for `Graph.run`."""
        query = self._queries[name]
        rows = await self._sent(query.text, {queries.GIVEN: _scoped(query, self.who, params)})
        for each in (each for row in rows for each in row.pop("touched", ()) if each is not None):
            self.touched.add(**each)
        return rows

    async def _sent(self, text: str, params: dict[str, Any]) -> list[Row]:
        result = await self._tx.run(cast(Any, text), params)
        return [dict(record) async for record in result]


class Graph:
    """An open Neo4j: runs the statements of `cypher/` by name.

    Every statement is one transaction, and every write may safely run twice, so a statement that a lost connection
    or a deadlock ended is run again, for as long as `timeout` seconds. `uri` is the address of the driver.

    A write to data that the integrity hash covers leaves a note of it, sealed with the first of `secrets`;
    `noted` are the students of whom this process wrote since somebody took them out. `unreachable` tells whether the
    latest statement that ended found no Neo4j, or none that answered in time.

    Where a value of another type than declared is in a statement's way, `mend` takes it away, and the statement is run
    again.
    """

    def __init__(
        self,
        driver: AsyncDriver,
        timeout: float,
        secrets: tuple[bytes, ...] = (),
        *,
        uri: str = "",
        mend: Callable[["Graph", Who], Awaitable[object]] | None = None,
    ) -> None:
        self._driver = driver
        self._uri, self._routed = uri, is_routed(uri)
        self._timeout, self._mend = timeout, mend
        self.secrets = secrets
        self.noted: set[Who] = set()
        self.unreachable = False
        self._queries = queries.load()

    async def run(self, name: str, who: Who | None = None, **params: Any) -> list[Row]:
        """Run one statement.

        Parameters
        ----------
        name : str, a file of `cypher/` without its ending
        who : Who, the tenant; None only for statements that are not of one student
        params : exactly the other declared parameters

        Returns
        -------
        list of dict, a row each

        Raises
        ------
        QueryError      name or parameters do not fit the file: a bug
        Conflict        a uniqueness constraint was in the way
        Unavailable     Neo4j does not answer
        """
        return await self._mended(who, lambda: self._run(name, who, dict(params)))

    async def value(self, read: Callable[[Any], T], name: str, who: Who | None = None, **params: Any) -> T | None:
        """Run one statement, and read the one column of its one row; None where there is none, or nothing in it."""
        for row in await self.run(name, who, **params):
            (value,) = row.values()
            return None if value is None else read(value)
        return None

    async def read_counts(self, name: str, who: Who, **params: Any) -> list[Row]:
        """Run one statement as `run` does, and mend the student where a count or setting of it is of another type."""

        async def read() -> list[Row]:
            rows = await self._run(name, who, dict(params))
            if any(not _counts_fit(row) for row in rows):
                raise Mistyped
            return rows

        return await self._mended(who, read)

    async def _mended(self, who: Who | None, work: Callable[[], Awaitable[T]]) -> T:
        try:
            return await work()
        except Mistyped:
            if who is None:
                raise
            # Somebody else may have mended it meanwhile.
            await self.mend(who)
        return await work()

    async def pages(self, name: str, limit: int, **params: Any) -> AsyncIterator[Row]:
        """Yield the rows of a statement that lists by `id`, read `limit` at once."""
        after = ""
        while rows := await self.run(name, after=after, limit=limit, **params):
            for row in rows:
                yield row
            after = rows[-1]["id"]

    async def student_pages(self, name: str, limit: int) -> AsyncIterator[list[Row]]:
        """Yield the pages of a statement that lists students of all institutions, `limit` at once."""
        institution = student_id = ""
        while rows := await self.run(name, after_institution=institution, after_id=student_id, limit=limit):
            yield rows
            institution, student_id = rows[-1]["institution"], rows[-1]["student_id"]

    async def mend(self, who: Who) -> None:
        """Take a student's values of another type than declared away, so that statements can compute."""
        if self._mend is not None:
            await self._mend(self, who)

    async def _run(self, name: str, who: Who | None, params: dict[str, Any]) -> list[Row]:
        query = self._queries[name]
        params = _scoped(query, who, params)
        if who is None or "touched" not in query.returns:
            return await self.execute(query.text, {queries.GIVEN: params}, reads=query.reads)
        own = {each: value for each, value in params.items() if each not in ("institution", "student_id")}

        async def work(tx: Transaction) -> list[Row] | None:
            return await tx.run(name, **own) or None

        return await self._repeated(lambda: self._transacted(who, work)) or []

    def note(self, who: Who, touched: Touched) -> dict[str, Any]:
        """Return the parameters of the note of a write."""
        if not self.secrets:
            raise QueryError("What students keep is not written without the server secret.")
        note_id = urandom(16).hex()
        told = {"at": time(), "touched": touched.to_json()}
        self.noted.add(Who(who.institution, who.student_id))
        return {"manifest_note_id": note_id, "manifest_note": sealed_note(self.secrets[0], who, note_id, told)}

    async def execute(
        self, text: str, params: Mapping[str, Any], *, reads: bool, seconds: float | None = None
    ) -> list[Row]:
        """Run a statement that is not a file of its own name, such as a schema command.

        One statement in an auto-commit transaction takes one round trip, half of what a managed
        transaction takes; in exchange the repetition after a passing failure is written here. An answer that does
        not come within `seconds`, by default the timeout, is given up with its connection.
        """
        return await self._repeated(lambda: self._once(text, params, reads), seconds)

    async def transact(
        self, who: Who, work: Callable[[Transaction], Awaitable[T | None]], seconds: float | None = None
    ) -> T | None:
        """Run several statements of one student in one transaction; nothing is written where `work` returns None.

        Parameters
        ----------
        who : Who, the tenant
        work : runs the statements; it may be called again after a passing failure, so it changes nothing else
        seconds : how long it may take, by default the timeout

        Raises
        ------
        QueryError, Conflict, Unavailable    as for `run`
        """
        return await self._mended(who, lambda: self._repeated(lambda: self._transacted(who, work), seconds))

    async def _repeated(self, attempt: Callable[[], Awaitable[T]], seconds: float | None = None) -> T:
        deadline = monotonic() + (self._timeout if seconds is None else seconds)
        pause = FIRST_PAUSE
        while True:
            try:
                # The driver closes a connection whose caller stops waiting: a late answer is lost.
                async with asyncio.timeout(deadline - monotonic()):
                    answer = await attempt()
                self.unreachable = False
                return answer
            except (ne.Neo4jError, ne.DriverError, OSError) as e:
                self.unreachable = isinstance(e, ne.DriverError | OSError)
                if not _passing(e) or monotonic() + pause > deadline:
                    raise translate(e) from e
            await asyncio.sleep(pause)
            pause *= 2

    async def _once(self, text: str, params: Mapping[str, Any], reads: bool) -> list[Row]:
        trail = current_trail()
        # Of a cluster the leader alone has read whatever others wrote; a caller's own bookmarks let followers serve.
        follows = reads and (not self._routed or (trail is not None and bool(trail.given)))
        async with self._session(trail, neo4j.READ_ACCESS if follows else neo4j.WRITE_ACCESS) as session:
            result = await session.run(cast(Any, text), dict(params))
            rows = [dict(record) async for record in result]
            if trail is not None and not reads:
                trail.written |= (await session.last_bookmarks()).raw_values
            return rows

    def _session(self, trail: BookmarkTrail | None, access: str) -> AsyncSession:
        """Return a driver session that reads at least this process's writes and the request's bookmarks."""
        return self._driver.session(
            default_access_mode=access,
            bookmark_manager=self._driver.execute_query_bookmark_manager,
            bookmarks=neo4j.Bookmarks.from_raw_values(trail.given if trail is not None else ()),
        )

    async def _transacted(self, who: Who, work: Callable[[Transaction], Awaitable[T | None]]) -> T | None:
        trail = current_trail()
        async with self._session(trail, neo4j.WRITE_ACCESS) as session:
            async with await session.begin_transaction() as tx:
                transaction = Transaction(tx, who, self._queries)
                done = await work(transaction)
                if done is not None and transaction.touched:
                    await transaction.run("integrity/note", **self.note(who, transaction.touched))
                # Left alone, the driver commits a transaction that ends without an error.
                await (tx.rollback() if done is None else tx.commit())
            if trail is not None and done is not None:
                trail.written |= (await session.last_bookmarks()).raw_values
            return done

    async def plan_ahead(self, stopping: asyncio.Event) -> None:
        """Have Neo4j plan the planned statements, one after the other, until `stopping` is set; none is run.

        Raises
        ------
        Unavailable     Neo4j does not answer
        """
        planned = [each.text for each in self._queries.values() if each.planned]
        for text in planned:
            if stopping.is_set():
                return
            await self.execute(queries.explained(text), {queries.GIVEN: {}}, reads=True)

    async def server_agent(self) -> str:
        """Name that the server gives itself, e.g. `Neo4j/2026.08.1`; asked without any Cypher.

        Raises
        ------
        Unavailable     Neo4j does not answer; the message names its address, for whoever starts graphmem
        """
        try:
            async with asyncio.timeout(self._timeout):
                agent = (await self._driver.get_server_info()).agent
            self.unreachable = False
            return agent
        except (ne.Neo4jError, ne.DriverError, OSError) as e:
            self.unreachable = isinstance(e, ne.DriverError | OSError)
            error = translate(e)
            if isinstance(error, Unavailable):
                raise Unavailable(
                    f"No Neo4j answers at {self._uri}: start it or correct GRAPHMEM_NEO4J_URI (see `graphmem doctor`)."
                ) from e
            raise error from e

    async def aclose(self) -> None:
        """Close every connection."""
        await self._driver.close()


def _scoped(query: queries.CypherStatement, who: Who | None, params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a statement with the student's, and where it declares one with the session's id."""
    if isinstance(who, Session) and "session_id" in query.params:
        params = {"session_id": who.session_id} | params
    if who is not None:
        params = params | {"institution": who.institution, "student_id": who.student_id}
    query.check(params)
    return params


def open_driver(uri: str, user: str, password: str, timeout: float) -> AsyncDriver:
    """Return a driver for one Neo4j; connects on first use.

    Parameters
    ----------
    uri : str, e.g. `bolt://127.0.0.1:7687` or `neo4j://cluster`
    user, password : str
    timeout : float > 0, seconds until a call that finds nobody gives up

    Raises
    ------
    SetupError      the address is not one of a Neo4j
    """
    scheme = uri.partition("://")[0]
    if scheme not in SCHEMES:
        raise SetupError(f"GRAPHMEM_NEO4J_URI must begin with one of {', '.join(SCHEMES)}, not with {scheme}.")
    try:
        return AsyncGraphDatabase.driver(
            uri,
            auth=(user, password),
            connection_timeout=timeout,
            connection_acquisition_timeout=timeout,
            notifications_min_severity="OFF",
            telemetry_disabled=True,
            user_agent="graphmem",
        )
    except (ne.ConfigurationError, ValueError) as e:
        raise SetupError(f"GRAPHMEM_NEO4J_URI is not an address of Neo4j: {e}") from e


def _counts_fit(row: Row) -> bool:
    """Return whether the student and companion properties in a row have the declared types."""
    values = row | row.get("student", {}) | row.get("companion", {})
    return all(field.fits(values[name], required=True) for name, field in _EXPORTED.items() if name in values)


def is_routed(uri: str) -> bool:
    """True for an address by which the driver finds the members of a cluster.

    Examples
    --------
    >>> is_routed("neo4j+s://cluster.example"), is_routed("bolt://127.0.0.1:7687")
    (True, False)
    """
    return uri.startswith("neo4j")


def translate(error: Exception) -> GraphmemError:
    """Our error for one of the driver's.

    Examples
    --------
    >>> type(translate(ne.ServiceUnavailable("gone"))).__name__
    'Unavailable'
    """
    if isinstance(error, ne.ConstraintError) or _is_made_twice(error):
        return Conflict()
    if isinstance(error, ne.ClientError) and "Bookmark" in (error.code or ""):
        return InvalidInput("X-Graphmem-Bookmark is of another database: leave it out.")
    if isinstance(error, ne.CypherTypeError):
        return Mistyped()
    if isinstance(error, (ne.AuthError, ne.Forbidden)):
        return SetupError("Neo4j refuses user or password: check GRAPHMEM_NEO4J_USER and GRAPHMEM_NEO4J_PASSWORD.")
    if isinstance(error, (ne.TransientError, ne.DriverError, ne.DatabaseError, OSError)):
        return Unavailable()
    return QueryError(f"Neo4j refuses a statement: {type(error).__name__}.")


def _passing(error: Exception) -> bool:
    """Return whether the same statement may succeed in a moment."""
    return isinstance(error, OSError) or (isinstance(error, (ne.Neo4jError, ne.DriverError)) and error.is_retryable())


def _is_made_twice(error: Exception) -> bool:
    """Return whether two processes made an index or constraint at once; `IF NOT EXISTS` does not keep them apart."""
    code = (isinstance(error, ne.Neo4jError) and error.code) or ""
    return code.startswith("Neo.ClientError.Schema.") and code.endswith("AlreadyExists")
