"""Errors of the API, as the client raises them.

::

    GraphmemError
    ├── Refusal              expected; part of the API
    │   ├── InvalidInput     INVALID_INPUT     a value out of range, an unknown word, a message too long
    │   ├── NotFound         NOT_FOUND         no such thing for this student
    │   ├── Conflict         CONFLICT          changed meanwhile, or handled and no longer kept
    │   ├── Locked           LOCKED            no open session, or a wrong password
    │   ├── Forbidden        FORBIDDEN         the role may not do this
    │   ├── Unauthenticated  UNAUTHENTICATED   no token, or not a valid one
    │   ├── RateLimited      RATE_LIMITED      too many tries
    │   └── BudgetExceeded   BUDGET_EXCEEDED   the day's tokens or money are spent
    └── Unavailable          UNAVAILABLE       Neo4j or the API does not answer

The docstring of a class is its default message; `code` is what GraphQL clients see in
`errors[].extensions.code` (spec 19).
"""

from collections.abc import Mapping
from typing import Any


class GraphmemError(Exception):
    """Something went wrong inside graphmem."""

    code = "INTERNAL"

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.__doc__)


class Refusal(GraphmemError):
    """The request was refused."""


class InvalidInput(Refusal):
    """The input is not valid."""

    code = "INVALID_INPUT"


class NotFound(Refusal):
    """There is no such thing for this student."""

    code = "NOT_FOUND"


class Conflict(Refusal):
    """Something else changed this student meanwhile; read again and repeat the request."""

    code = "CONFLICT"


class Locked(Refusal):
    """This student is locked: open a session with the right password first."""

    code = "LOCKED"


class Forbidden(Refusal):
    """This token's role may not do that."""

    code = "FORBIDDEN"


class Unauthenticated(Refusal):
    """A valid bearer token is needed: make one with `graphmem token`."""

    code = "UNAUTHENTICATED"


class RateLimited(Refusal):
    """Too many tries: wait a while, then try again."""

    code = "RATE_LIMITED"

    def __init__(self, message: str | None = None, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class BudgetExceeded(Refusal):
    """The budget of this day is spent: wait for the next day or raise the limit."""

    code = "BUDGET_EXCEEDED"


class Unavailable(GraphmemError):
    """The database does not answer: send the same request again in a moment."""

    code = "UNAVAILABLE"


CODED: list[type[GraphmemError]] = [*Refusal.__subclasses__(), Unavailable]
KINDS = {each.code: each for each in CODED}
"""Errors by their codes."""


def error_of(error: Mapping[str, Any]) -> GraphmemError:
    """Return the error that an error of an answer stands for.

    Examples
    --------
    >>> error_of({"message": "Open a session first.", "extensions": {"code": "LOCKED"}})
    Locked('Open a session first.')
    """
    extensions = error.get("extensions", {})
    kind = KINDS.get(extensions.get("code"), GraphmemError)
    more = {"retry_after": extensions.get("retryAfter")} if kind is RateLimited else {}
    return kind(error["message"], **more)
