"""From the driver's values to Python's, and sealed properties to what they hold and back."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import numpy as np

from graphmem import sealing
from graphmem.errors import Tampered
from graphmem.model import Keys, SourceKind, Vector, Who

REMARK = "remark"
"""The kind in the graph of a chat remark that was observed; `chat` is that of turns, whose ids are not its refs."""
LAST = datetime(9999, 12, 31, tzinfo=UTC)
"""Later than anything: where the first page of what is listed newest first begins."""

CLEAR = "clear"
"""Stands for the field where any clear one was altered."""


def moment(value: Any) -> datetime:
    """A datetime of the database as an aware Python datetime in UTC."""
    native: datetime = value.to_native()
    return native.astimezone(UTC)


def from_ms(value: int) -> datetime:
    """Milliseconds since 1970 as an aware datetime in UTC."""
    return datetime.fromtimestamp(value / 1000, UTC)


def source_kind(kind: str) -> SourceKind:
    """The kind of a source as it is found in the graph.

    Examples
    --------
    >>> source_kind("remark"), source_kind("lesson")
    (<SourceKind.CHAT: 'chat'>, <SourceKind.LESSON: 'lesson'>)
    """
    return SourceKind.CHAT if kind == REMARK else SourceKind(kind)


@contextmanager
def readable(label: str, node_id: str) -> Iterator[None]:
    """Take clear properties of a node that are missing or make no sense for what they are: changed by hand.

    Raises
    ------
    Tampered        instead of whatever reading them raised

    Examples
    --------
    >>> with readable("Memory", "memory-1"):
    ...     int("many")
    Traceback (most recent call last):
    graphmem.errors.Tampered: Memory memory-1 cannot be read: a clear value of it was altered or removed.
    """
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError) as e:
        error = Tampered(f"{label} {node_id} cannot be read: a clear value of it was altered or removed.")
        error.label, error.node_id, error.field = label, node_id, CLEAR
        raise error from e


class NodeSealer:
    """One node of one student, whose fields are sealed and opened with the student's keys."""

    def __init__(self, keys: Keys, who: Who, label: str, node_id: str) -> None:
        self._keys, self._who, self._place = keys, who, (label, node_id)

    def seal(self, field: str, value: str | bytes) -> bytes:
        """Seal one field of this node."""
        return sealing.seal(self._keys, self._who, (*self._place, field), value)

    def seal_json(self, field: str, value: Any) -> bytes:
        """Seal anything JSON can say."""
        return self.seal(field, json.dumps(value, ensure_ascii=False))

    def opened(self, field: str, sealed: bytes) -> bytes:
        """Open one field of this node."""
        return sealing.opened_value(self._keys, self._who, (*self._place, field), sealed)

    def text(self, field: str, sealed: bytes) -> str:
        """Open a text."""
        return self.opened(field, sealed).decode()

    def json(self, field: str, sealed: bytes) -> Any:
        """Open what `seal_json` sealed."""
        return json.loads(self.opened(field, sealed))

    def vector(self, field: str, sealed: bytes) -> Vector:
        """Open an embedding, of shape (dimension,)."""
        return np.frombuffer(self.opened(field, sealed), dtype=np.float32)


def vector_bytes(vector: Vector) -> bytes:
    """An embedding as it is sealed."""
    return np.asarray(vector, dtype=np.float32).tobytes()
