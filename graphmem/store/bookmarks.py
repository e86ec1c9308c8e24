"""Bookmarks: a caller reads its own writes on any member of a cluster (spec 16)."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from graphmem.errors import InvalidInput

MOST_BOOKMARKS = 20
"""Most bookmarks that a caller may send at once."""
_FORM = re.compile(r"[A-Za-z0-9+/=:_-]{1,200}")


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
