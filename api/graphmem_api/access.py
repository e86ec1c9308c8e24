"""Authentication and authorisation: bearer tokens, roles and sessions (spec 15)."""

import hashlib
import json
from datetime import UTC, datetime
from functools import cached_property
from time import monotonic
from typing import Any, cast

from strawberry.fastapi import BaseContext
from strawberry.types import Info

from graphmem.app import Graphmem
from graphmem.bearer import EXPIRED, Caller
from graphmem.errors import Forbidden, GraphmemError, Locked, RateLimited, Unauthenticated
from graphmem.flows.service_tokens import check_not_revoked
from graphmem.flows.students import find_student
from graphmem.model import Role, Session, Student, Who
from graphmem.validation import checked_id
from graphmem_api.loaders import Loaders

AUTHORIZATION = "authorization"
SESSION = "x-graphmem-session"
CLIENT = "x-graphmem-client"


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
    def session(self) -> Session | None:
        """The session of the session token, if there is one."""
        found = self._session
        if found is not None and found.expires_at <= self.gm.clock():
            raise Locked("This session has expired: open a new one.")
        return found

    @property
    def used_session(self) -> Session | None:
        """The session whose token was opened while the request was answered; None where nobody needed it."""
        found: Session | None = self.__dict__.get("_session")
        return found

    @property
    def session_token(self) -> str:
        """The session token that was sent; empty where none was."""
        return self._header(SESSION)

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
    def _session(self) -> Session | None:
        return self.gm.opened_session(self.session_token) if self.session_token else None

    def _header(self, name: str) -> str:
        """A header, or for a WebSocket the entry of that name in the payload of `connection_init`."""
        given = cast(Any, self.request).headers.get(name) if self.request is not None else None
        params = self.connection_params if isinstance(self.connection_params, dict) else {}
        named = {str(k).lower(): v for k, v in params.items()}
        return str(given or named.get(name) or "")


def allowed(info: Info[RequestContext, None], *roles: Role) -> Caller:
    """The caller, if it has one of certain roles."""
    who = info.context.caller
    if who.role not in roles:
        raise Forbidden(f"The role {who.role} may not do that: it needs {' or '.join(roles)}.")
    return who


def of_student(info: Info[RequestContext, None], student_id: str, *roles: Role) -> Who:
    """The student a call is about, for callers of certain roles, within their institution only."""
    return Who(allowed(info, *roles).institution, checked_id("studentId", student_id))


def check_rate(info: Info[RequestContext, None], who: Who, observations: int) -> None:
    """Count observations that a caller sends of a student; RateLimited when there are too many this minute."""
    bucket = json.dumps([who.institution, info.context.caller.role, who.student_id])
    if not info.context.gm.observing.take(bucket, observations, monotonic()):
        most = info.context.gm.settings.observations_minute
        raise RateLimited(f"At most {most} observations of a student are taken a minute: send the rest later.")


def in_session(info: Info[RequestContext, None], student_id: str) -> Session:
    """The open session of the student a call is about; Locked when it is another's or none."""
    who = of_student(info, student_id, Role.APP)
    session = info.context.session
    if session is None or (session.institution, session.student_id) != (who.institution, who.student_id):
        raise Locked("This needs the student's own session: openSession, then send its token in X-Graphmem-Session.")
    return session


async def in_running_session(info: Info[RequestContext, None], student_id: str) -> Session:
    """As `in_session`, for flows that do not look for themselves whether the session has ended meanwhile."""
    session = in_session(info, student_id)
    found = await find_student(info.context.gm, session)
    if found is None or session.session_id not in found.session_ids:
        raise Locked("This session has ended: open a new one.")
    return session


def maybe_in_session(info: Info[RequestContext, None], student_id: str) -> Session | None:
    """The session of the student a call is about, where an app sends it; else only what is clear is seen.

    Other roles have no session: one that they send is ignored.

    Raises
    ------
    Locked          the app's session is another student's, has run out, or is none
    """
    if info.context.caller.role is not Role.APP or info.context.session is None:
        return None
    return in_session(info, student_id)


def running_session(info: Info[RequestContext, None], student_id: str) -> Session | None:
    """The session of the student a call is about, if the caller sends one that has not ended; any other is ignored."""
    try:
        session = maybe_in_session(info, student_id)
    except (Forbidden, Locked):
        return None
    return session


def is_locked(info: Info[RequestContext, None], student: Student) -> bool:
    """True if this caller cannot decrypt sealed data: any but an app with the student's running session."""
    try:
        session = info.context.session if info.context.caller.role is Role.APP else None
    except Locked:
        return True
    return session is None or session.session_id not in student.session_ids
