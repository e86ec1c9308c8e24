"""Who is calling, and what for: bearer tokens, roles and sessions (spec 15)."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from time import monotonic
from typing import Any, cast

import jwt
from strawberry.fastapi import BaseContext
from strawberry.types import Info

from graphmem.app import Graphmem
from graphmem.errors import Forbidden, InvalidInput, Locked, RateLimited, Unauthenticated
from graphmem.flows.checks import checked_id
from graphmem.flows.students import find_student
from graphmem.model import Role, Session, Student, Who
from graphmem.sealing import bearer_key, opened_token

AUTHORIZATION = "authorization"
SESSION = "x-graphmem-session"
_ALGORITHM = "HS256"


@dataclass(frozen=True)
class Caller:
    """Whom a bearer token speaks for."""

    institution: str
    role: Role


def make_token(secret: bytes, institution: str, role: Role, ttl: float, now: datetime) -> str:
    """A signed bearer token.

    Parameters
    ----------
    secret : bytes, the server secret
    institution, role : whom it speaks for
    ttl : float > 0, seconds until it expires
    now : datetime

    Examples
    --------
    >>> from datetime import UTC
    >>> now = datetime.now(UTC)
    >>> caller(make_token(b"s" * 32, "school", Role.APP, 60, now), b"s" * 32)
    Caller(institution='school', role=<Role.APP: 'app'>)
    """
    if ttl <= 0:
        raise InvalidInput("A token must be valid for more than 0 seconds.")
    claims = {
        "iss": "graphmem",
        "institution": checked_id("institution", institution),
        "role": role.value,
        "iat": now,
        "exp": now + timedelta(seconds=ttl),
    }
    return jwt.encode(claims, bearer_key(secret), _ALGORITHM)


def caller(token: str, secret: bytes) -> Caller:
    """Whom a token speaks for; Unauthenticated when it is not ours or has expired."""
    try:
        claims = jwt.decode(
            token,
            bearer_key(secret),
            [_ALGORITHM],
            issuer="graphmem",
            options={"require": ["exp", "institution", "role"]},
        )
        return Caller(str(claims["institution"]), Role(claims["role"]))
    except jwt.ExpiredSignatureError as e:
        raise Unauthenticated("This token has expired: make a new one with `graphmem token`.") from e
    except (jwt.InvalidTokenError, ValueError) as e:
        raise Unauthenticated from e


class Context(BaseContext):
    """What resolvers know of a request; tokens are opened when they are first needed."""

    def __init__(self, gm: Graphmem) -> None:
        super().__init__()
        self.gm = gm

    @cached_property
    def caller(self) -> Caller:
        """Whom the bearer token speaks for."""
        kind, _, token = self._header(AUTHORIZATION).partition(" ")
        if kind.lower() != "bearer" or not token:
            raise Unauthenticated
        return caller(token.strip(), self.gm.secret)

    @cached_property
    def session(self) -> Session | None:
        """The session of the session token, if there is one."""
        token = self._header(SESSION)
        return opened_token(self.gm.secret, token, self.gm.clock()) if token else None

    def _header(self, name: str) -> str:
        """A header, or for a WebSocket the entry of that name in the payload of `connection_init`."""
        given = cast(Any, self.request).headers.get(name) if self.request is not None else None
        params = self.connection_params if isinstance(self.connection_params, dict) else {}
        named = {str(k).lower(): v for k, v in params.items()}
        return str(given or named.get(name) or "")


def allowed(info: Info[Context, None], *roles: Role) -> Caller:
    """The caller, if it has one of certain roles."""
    who = info.context.caller
    if who.role not in roles:
        raise Forbidden(f"The role {who.role} may not do that: it needs {' or '.join(roles)}.")
    return who


def of_student(info: Info[Context, None], student_id: str, *roles: Role) -> Who:
    """The student a call is about, for callers of certain roles, within their institution only."""
    return Who(allowed(info, *roles).institution, checked_id("studentId", student_id))


def check_rate(info: Info[Context, None], who: Who, observations: int) -> None:
    """Count observations that a caller sends of a student; RateLimited when there are too many this minute."""
    bucket = json.dumps([who.institution, info.context.caller.role, who.student_id])
    if not info.context.gm.observing.take(bucket, observations, monotonic()):
        most = info.context.gm.settings.observations_minute
        raise RateLimited(f"At most {most} observations of a student are taken a minute: send the rest later.")


def in_session(info: Info[Context, None], student_id: str) -> Session:
    """The open session of the student a call is about; Locked when it is another's or none."""
    who = of_student(info, student_id, Role.APP)
    session = info.context.session
    if session is None or (session.institution, session.student_id) != (who.institution, who.student_id):
        raise Locked("This needs the student's own session: openSession, then send its token in X-Graphmem-Session.")
    return session


async def in_running_session(info: Info[Context, None], student_id: str) -> Session:
    """As `in_session`, for flows that do not look for themselves whether the session has ended meanwhile."""
    session = in_session(info, student_id)
    found = await find_student(info.context.gm, session)
    if found is None or found.session_id != session.session_id:
        raise Locked("This session has ended: open a new one.")
    return session


def maybe_in_session(info: Info[Context, None], student_id: str) -> Session | None:
    """The session of the student a call is about, where an app sends it; else only what is clear is seen.

    Other roles have no session: one that they send is ignored.

    Raises
    ------
    Locked          the app's session is another student's, has run out, or is none
    """
    if info.context.caller.role is not Role.APP or info.context.session is None:
        return None
    return in_session(info, student_id)


def is_locked(info: Info[Context, None], student: Student) -> bool:
    """Whether this caller cannot open what is sealed: anybody but an app with the student's running session."""
    try:
        session = info.context.session if info.context.caller.role is Role.APP else None
    except Locked:
        return True
    return session is None or session.session_id != student.session_id
