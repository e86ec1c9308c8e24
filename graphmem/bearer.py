"""Bearer tokens: signed claims of an institution and a role (spec 15)."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import jwt

from graphmem.errors import InvalidInput, Unauthenticated
from graphmem.model import Role
from graphmem.sealing import bearer_key
from graphmem.validation import checked_id, checked_new_id

_ALGORITHM = "HS256"
EXPIRED = "This token has expired: make a new one with `graphmem token`."


@dataclass(frozen=True)
class Caller:
    """Whom a bearer token speaks for.

    token_id : of a service token, or of one that it made, which may have been revoked
    student_id : the only student that it reaches; None: any of the institution
    """

    institution: str
    role: Role
    expires_at: datetime
    token_id: str | None = None
    student_id: str | None = None


def make_token(
    secret: bytes,
    institution: str,
    role: Role,
    ttl: float,
    now: datetime,
    token_id: str | None = None,
    student_id: str | None = None,
) -> str:
    """A signed bearer token.

    Parameters
    ----------
    secret : bytes, the server secret
    institution, role : whom it speaks for
    ttl : float > 0, seconds until it expires
    now : datetime
    token_id : str, of a service token
    student_id : str, the only student that it reaches; None: any of the institution

    Examples
    --------
    >>> from datetime import UTC
    >>> now = datetime.now(UTC)
    >>> caller(make_token(b"s" * 32, "school", Role.APP, 60, now), b"s" * 32).role
    <Role.APP: 'app'>
    """
    if ttl <= 0:
        raise InvalidInput("A token must be valid for more than 0 seconds.")
    if student_id is not None and role is not Role.APP:
        raise InvalidInput("A token of one student has the role app.")
    claims = {
        "iss": "graphmem",
        "institution": checked_new_id("institution", institution),
        "role": role.value,
        "iat": now,
        "exp": _expiry(now, ttl),
    }
    if token_id is not None:
        claims["jti"] = token_id
    if student_id is not None:
        claims["student"] = checked_id("student", student_id)
    return jwt.encode(claims, bearer_key(secret), _ALGORITHM)


def _expiry(now: datetime, ttl: float) -> datetime:
    try:
        return now + timedelta(seconds=ttl)
    except OverflowError as e:
        raise InvalidInput("A token cannot be valid for so long.") from e


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
        expires_at = datetime.fromtimestamp(claims["exp"], UTC)
        institution, student = checked_id("institution", claims["institution"]), claims.get("student")
        student_id = None if student is None else checked_id("student", student)
        return Caller(institution, Role(claims["role"]), expires_at, claims.get("jti"), student_id)
    except jwt.ExpiredSignatureError as e:
        raise Unauthenticated(EXPIRED) from e
    except (jwt.InvalidTokenError, InvalidInput, ValueError, TypeError, OverflowError, OSError) as e:
        raise Unauthenticated from e
