"""Authentication and authorisation (spec 15), and the batched reads of a request."""

import hashlib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from time import monotonic
from typing import Any, TypeVar, cast

import strawberry
from strawberry.dataloader import DataLoader
from strawberry.fastapi import BaseContext

from graphmem import model
from graphmem.app import Graphmem
from graphmem.bearer import EXPIRED, Caller
from graphmem.errors import Forbidden, GraphmemError, Locked, Unauthenticated
from graphmem.flows import students
from graphmem.flows.memories import edges_by_memory, entities_by_memory, sources_by_memory
from graphmem.flows.students import check_not_revoked, find_student
from graphmem.flows.surprise import responses_by_episode
from graphmem.flows.uncertainty import uncertainties_by_memory
from graphmem.validation import checked_id

W = TypeVar("W", bound=model.Who)
V = TypeVar("V")


AUTHORIZATION = "authorization"
SESSION = "x-graphmem-session"
CLIENT = "x-graphmem-client"
BOOKMARK = "x-graphmem-bookmark"
OBSERVED_BY: Mapping[model.Role, frozenset[model.SourceKind]] = {
    model.Role.APP: frozenset([model.SourceKind.CHAT, model.SourceKind.LESSON, model.SourceKind.PROMPT_RUN]),
    model.Role.TEACHER: frozenset([model.SourceKind.LESSON, model.SourceKind.TEACHER]),
    model.Role.ADMIN: frozenset([model.SourceKind.LESSON, model.SourceKind.TEACHER, model.SourceKind.SYSTEM]),
}
"""Kinds of observations that each role may note: nobody speaks for somebody else."""
_NEEDS_SESSION = "This needs the student's own session: openSession, then send its token in X-Graphmem-Session."


class Loaders:
    """One loader for each kind of read; keys are a student, or a student and the id of a memory.

    Nothing is cached: the operations of a WebSocket share their loaders.
    """

    def __init__(self, gm: Graphmem) -> None:
        self.sources: DataLoader[tuple[model.Who, str], list[model.Source]] = _by_student(gm, sources_by_memory, list)
        self.edges: DataLoader[tuple[model.Who, str], list[model.Edge]] = _by_student(gm, edges_by_memory, list)
        self.entities: DataLoader[tuple[model.Who, str], list[model.NamedEntity]] = _by_student(
            gm, entities_by_memory, list
        )
        self.uncertainties: DataLoader[tuple[model.Who, str], list[model.Uncertainty]] = _by_student(
            gm, uncertainties_by_memory, list
        )
        self.responses: DataLoader[tuple[model.Session, str], model.SurpriseResponse | None] = _by_student(
            gm, responses_by_episode, lambda: None
        )

        async def counts(asked: Sequence[model.Who]) -> list[tuple[int, int]]:
            found = {who: await students.count_contents(gm, who) for who in dict.fromkeys(asked)}
            return [found[who] for who in asked]

        self.counts: DataLoader[model.Who, tuple[int, int]] = DataLoader(load_fn=counts, cache=False)


def _by_student(
    gm: Graphmem,
    read: Callable[[Graphmem, W, list[str]], Coroutine[Any, Any, Any]],
    absent: Callable[[], V],
) -> DataLoader[tuple[W, str], V]:
    """A loader that reads what all memories of one student ask for in one statement."""

    async def load(keys: Sequence[tuple[W, str]]) -> list[V]:
        ids: dict[W, list[str]] = {}
        for who, memory_id in keys:
            ids.setdefault(who, []).append(memory_id)
        found = {who: await read(gm, who, list(dict.fromkeys(wanted))) for who, wanted in ids.items()}
        return [found[who].get(memory_id, absent()) for who, memory_id in keys]

    return DataLoader(load_fn=load, cache=False)


class RequestContext(BaseContext):
    """GraphQL context of a request, or of all operations of a WebSocket connection.

    Tokens are opened when they are first needed, and looked at again each time: a WebSocket outlives them.
    """

    def __init__(self, gm: Graphmem) -> None:
        super().__init__()
        self.gm = gm
        self.loaders = Loaders(gm)
        self._refusal: GraphmemError | None = Unauthenticated()

    async def look_up_caller(self) -> None:
        """Look whether the caller's token was revoked meanwhile, before an operation; `caller` refuses it then."""
        self._refusal = None
        try:
            await check_not_revoked(self.gm, self.claimed_caller)
        except GraphmemError as refusal:
            self._refusal = refusal

    async def ended(self) -> GraphmemError | None:
        """Look whether the caller's token has ended while its stream went on; nothing where none was sent."""
        if not self._header(AUTHORIZATION):
            return None
        await self.look_up_caller()
        try:
            self.caller  # noqa: B018 - looked at for its refusal
        except GraphmemError as refusal:
            return refusal
        return None

    @property
    def caller(self) -> Caller:
        """Whom the bearer token speaks for."""
        found = self.claimed_caller
        if found.token_id is not None and self._refusal is not None:
            raise self._refusal
        if found.expires_at <= datetime.now(UTC):
            raise Unauthenticated(EXPIRED)
        return found

    @property
    def session(self) -> model.Session | None:
        """The session of the session token, if there is one."""
        found = self._session
        if found is not None and found.expires_at <= self.gm.clock():
            raise Locked("This session has expired: open a new one.")
        return found

    @property
    def used_session(self) -> model.Session | None:
        """The session whose token was opened while the request was answered; None where nobody needed it."""
        found: model.Session | None = self.__dict__.get("_session")
        return found

    @property
    def session_token(self) -> str:
        """The session token that was sent; empty where none was."""
        return self._header(SESSION)

    @property
    def bookmark(self) -> str:
        """What the caller wrote before, as the last response said."""
        return self._header(BOOKMARK)

    def wrote(self, bookmark: str) -> None:
        """Tell the caller, in a header of the response, what the next request is to be sent with."""
        if bookmark and self.response is not None:
            cast(Any, self.response).headers[BOOKMARK] = bookmark

    @property
    def tried_by(self) -> str:
        """Who tries a password: the bearer token, and whom or which device the app names as being behind it."""
        named = "\n".join((self._header(AUTHORIZATION), self._header(CLIENT)))
        return hashlib.blake2b(named.encode(), digest_size=16).hexdigest()

    @cached_property
    def claimed_caller(self) -> Caller:
        """Whom the bearer token was made for; it may have expired or been revoked since."""
        kind, _, token = self._header(AUTHORIZATION).partition(" ")
        if kind.lower() != "bearer" or not token:
            raise Unauthenticated
        return self.gm.caller_of(token.strip())

    @cached_property
    def _session(self) -> model.Session | None:
        return self.gm.opened_session(self.session_token) if self.session_token else None

    def _header(self, name: str) -> str:
        """A header, or for a WebSocket the entry of that name in the payload of `connection_init`."""
        given = cast(Any, self.request).headers.get(name) if self.request is not None else None
        params = self.connection_params if isinstance(self.connection_params, dict) else {}
        named = {str(k).lower(): v for k, v in params.items()}
        return str(given or named.get(name) or "")


Info = strawberry.Info[RequestContext, None]
"""What a resolver is given of its request."""


def allowed(info: Info, *roles: model.Role) -> Caller:
    """The caller, if it has one of certain roles."""
    who = info.context.caller
    if who.role not in roles:
        raise Forbidden(f"The role {who.role} may not do that: it needs {' or '.join(roles)}.")
    return who


def of_student(info: Info, student_id: str, *roles: model.Role) -> model.Who:
    """The student a call is about, for callers of certain roles, and only one whom their token reaches."""
    caller = allowed(info, *roles)
    if caller.student_id not in (None, student_id):
        raise Forbidden("This token reaches another student only.")
    return model.Who(caller.institution, checked_id("studentId", student_id))


def check_request(context: RequestContext) -> None:
    """Count a request of the caller's role; one without a valid token is refused by what it asks for.

    Raises
    ------
    RateLimited     there are too many this minute
    """
    try:
        caller = context.caller
    except GraphmemError:
        return
    context.gm.rates.check("requests", 1, monotonic(), institution=caller.institution, role=caller.role.value)


def in_session(info: Info, student_id: str) -> model.Session:
    """The open session of the student a call is about; Locked when it is another's or none."""
    who = of_student(info, student_id, model.Role.APP)
    session = info.context.session
    if session is None or (session.institution, session.student_id) != (who.institution, who.student_id):
        raise Locked(_NEEDS_SESSION)
    return session


async def in_running_session(info: Info, student_id: str) -> model.Session:
    """As `in_session`, for flows that do not look for themselves whether the session has ended meanwhile."""
    session = in_session(info, student_id)
    found = await find_student(info.context.gm, session)
    if found is None or session.session_id not in found.session_ids:
        raise Locked("This session has ended: open a new one.")
    return session


def session_to_read(info: Info, student_id: str, *others: model.Role) -> model.Session | None:
    """The student's session for an app, which needs it; None for callers of other roles that may read what is clear."""
    caller = allowed(info, model.Role.APP, *others)
    return in_session(info, student_id) if caller.role is model.Role.APP else None


async def running_session_to_read(info: Info, student_id: str, *others: model.Role) -> model.Session | None:
    """As `session_to_read`, for flows that do not look for themselves whether the session has ended meanwhile."""
    caller = allowed(info, model.Role.APP, *others)
    return await in_running_session(info, student_id) if caller.role is model.Role.APP else None


async def student_in_reach(info: Info, student_id: str | None, *others: model.Role) -> tuple[str, str | None]:
    """Institution and student whose work and usage a caller may see.

    An app reaches the student whose running session it sends; callers of other roles any student of their institution,
    or all of them (None).
    """
    caller = allowed(info, model.Role.APP, *others)
    if caller.role is not model.Role.APP:
        return caller.institution, student_id
    if student_id is None and info.context.session is None:
        raise Locked(_NEEDS_SESSION)
    asked = info.context.session.student_id if student_id is None and info.context.session else student_id
    return caller.institution, (await in_running_session(info, str(asked))).student_id


def check_observations(info: Info, who: model.Who, kinds: Sequence[model.SourceKind]) -> None:
    """Refuse observations of a kind that is not the caller's to note, and count the others.

    Raises
    ------
    Forbidden       a kind is another role's
    RateLimited     there are too many of the student this minute
    """
    role = info.context.caller.role
    may = OBSERVED_BY.get(role, frozenset())
    if refused := sorted({kind.name for kind in kinds} - {kind.name for kind in may}):
        allowed_kinds = ", ".join(sorted(kind.name for kind in may))
        raise Forbidden(f"The role {role} may not note observations of kind {refused[0]}: only {allowed_kinds}.")
    caller = {"institution": who.institution, "role": role.value, "student": who.student_id}
    info.context.gm.rates.check("observations", len(kinds), monotonic(), **caller)


def maybe_in_session(info: Info, student_id: str) -> model.Session | None:
    """The session of the student a call is about, where an app sends it; else only what is clear is seen.

    Other roles have no session: one that they send is ignored.

    Raises
    ------
    Locked          the app's session is another student's, has run out, or is none
    """
    if info.context.caller.role is not model.Role.APP or info.context.session is None:
        return None
    return in_session(info, student_id)


def running_session(info: Info, student_id: str) -> model.Session | None:
    """The session of the student a call is about, if the caller sends one that has not ended; any other is ignored."""
    try:
        return maybe_in_session(info, student_id)
    except (Forbidden, Locked):
        return None


def is_locked(info: Info, student: model.Student) -> bool:
    """True if this caller cannot decrypt sealed data: any but an app with the student's running session."""
    session = running_session(info, student.id)
    return session is None or session.session_id not in student.session_ids
