"""Every error graphmem raises.

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
    ├── Unavailable          UNAVAILABLE       Neo4j does not answer
    │   └── ModelUnavailable UNAVAILABLE       the language model does not, and GRAPHMEM_DEGRADE is `refuse`
    ├── MindError            (caught)          a model answered late, not at all, or nonsense
    ├── Tampered             INTERNAL          a sealed value does not open: altered, moved or cut short
    ├── QueryError           INTERNAL          a .cypher file and its caller disagree: a bug of ours
    │   └── Mistyped         (caught)          a clear value was altered to one of another type
    └── SetupError           (command line)    this machine or database is not ready; says what to do

The docstring of a class is its default message; `code` is what GraphQL clients see in
`errors[].extensions.code` (spec 19). Those that clients see are of `graphmem_client.errors`, so that one `except` is
right in the process and over HTTP.
"""

from typing import Any

from graphmem_client.errors import *
from graphmem_client.errors import GraphmemError, Unavailable

FRAMES = 8
"""Innermost calls that the place of an error names."""


def place(error: BaseException | None) -> str:
    """Files, lines and functions of an error's traceback, outermost first, without any value.

    The message of an unexpected error may quote what a student wrote: its kind and its place may be logged.

    Examples
    --------
    >>> try:
    ...     int("a secret")
    ... except ValueError as error:
    ...     place(error).endswith(":2:<module>")
    True
    """
    frames = []
    traceback = None if error is None else error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        frames.append(f"{code.co_filename.rsplit('/', 1)[-1]}:{traceback.tb_lineno}:{code.co_name}")
        traceback = traceback.tb_next
    return " > ".join(frames[-FRAMES:])


class ModelUnavailable(Unavailable):
    """The language model does not answer: what was said is kept; try the same again in a moment."""


class MindError(GraphmemError):
    """The language model gave no usable answer.

    `kind` names the failure in a word, e.g. `timeout`, `http_401` or `invalid`; `usage` is what the failed question
    cost all the same (a `graphmem.model.Usage`, or None where nothing was asked); `away` tells a model that could not
    be reached from one whose answer could not be used.
    """

    def __init__(
        self, message: str | None = None, *, kind: str = "invalid", usage: Any = None, away: bool = False
    ) -> None:
        super().__init__(message or "The language model gave no usable answer.")
        self.kind = kind
        self.usage = usage
        self.away = away


class Tampered(GraphmemError):
    """A sealed value does not open: it was altered, moved or cut short outside graphmem.

    `label`, `node_id` and `field` name its place, where that is known; all three are clear.
    """

    def __init__(self, message: str | None = None, label: str = "", node_id: str = "", field: str = "") -> None:
        super().__init__(message)
        self.label, self.node_id, self.field = label, node_id, field

    @classmethod
    def altered(cls, label: str, node_id: str, field: str) -> "Tampered":
        """The error of a clear value of a node."""
        told = f"{label} {node_id} cannot be read: a clear value of it was altered or removed."
        return cls(told, label, node_id, field)

    @classmethod
    def at(cls, label: str, node_id: str, field: str) -> "Tampered":
        """The error of a field of a node.

        Examples
        --------
        >>> str(Tampered.at("Fact", "fact-1", "text"))
        'The sealed field text of Fact fact-1 does not open: it was altered, moved or cut short.'
        """
        told = f"The sealed field {field} of {label} {node_id} does not open: it was altered, moved or cut short."
        return cls(told, label, node_id, field)


class QueryError(GraphmemError):
    """A Cypher file and its caller disagree."""


class Mistyped(QueryError):
    """A value in the database is of another type than a statement computes with: altered by hand."""


class SetupError(GraphmemError):
    """This machine or database is not ready for graphmem."""
