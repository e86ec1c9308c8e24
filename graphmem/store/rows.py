"""From the driver's values to Python's, and sealed properties to what they hold and back."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar
from zlib import compress, decompress

import numpy as np

from graphmem import sealing
from graphmem.errors import Tampered
from graphmem.model import Keys, SourceKind, Vector, Who
from graphmem.sealing import PAD, Stored, StudentLock, padded

T = TypeVar("T")

REMARK = "remark"
"""The kind in the graph of a chat remark that was observed; `chat` is that of turns, whose ids are not its refs."""
QUICKLY = 1
"""Level of compression: a third to a half is left of JSON, and a smaller write is a faster one."""
LAST = datetime(9999, 12, 31, tzinfo=UTC)
"""Later than anything: where the first page of what is listed newest first begins."""

CLEAR = "clear"
"""Stands for the field where any clear one was altered."""


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield some items after the other.

    Examples
    --------
    >>> [list(some) for some in batches([1, 2, 3], 2)]
    [[1, 2], [3]]
    """
    return (items[start : start + size] for start in range(0, len(items), size))


def moment(value: Any) -> datetime:
    """Return a datetime of the database as an aware Python datetime in UTC."""
    native: datetime = value.to_native()
    return native.astimezone(UTC)


def from_ms(value: int) -> datetime:
    """Return milliseconds since 1970 as an aware datetime in UTC."""
    return datetime.fromtimestamp(value / 1000, UTC)


def source_kind(kind: str) -> SourceKind:
    """Return the kind of a source as it is found in the graph.

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
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as e:
        raise Tampered.altered(label, node_id, CLEAR) from e


class NodeSealer:
    """One node of one student, whose fields are sealed and opened with the student's keys."""

    def __init__(self, keys: Keys, who: Who, label: str, node_id: str) -> None:
        self._keys, self._who, self._place = keys, who, (label, node_id)

    def seal(self, field: str, value: str) -> Stored:
        """Seal a text of this node; readable where nothing is sealed, as everything below."""
        return sealing.seal(self._keys, self._who, (*self._place, field), value)

    def seal_json(self, field: str, value: Any) -> Stored:
        """Seal anything JSON can say."""
        return self.seal(field, json.dumps(value, ensure_ascii=False))

    def seal_packed(self, field: str, value: bytes) -> Stored:
        """Seal JSON, compressed; readable it stays as it is."""
        if self._keys.clear:
            return value.decode()
        return sealing.seal_bytes(self._keys, self._who, (*self._place, field), padded(compress(value, QUICKLY)))

    def boxed(self, field: str, sealed: Stored, lock: StudentLock) -> Any:
        """Open JSON that was sealed while the student was locked."""
        try:
            return json.loads(sealing.open_sealed_box(self._keys, self._who, lock, sealed))
        except Tampered as e:
            raise Tampered.at(*self._place, field) from e

    def seal_boxed(self, value: Any, lock: StudentLock) -> Stored:
        """Seal anything JSON can say as `boxed` opens it."""
        return sealing.seal_for(lock, self._who, json.dumps(value, ensure_ascii=False))

    def seal_vector(self, field: str, vector: Vector) -> bytes | list[float]:
        """Seal an embedding; readable it is a list of numbers."""
        floats = np.asarray(vector, dtype=np.float32)
        if self._keys.clear:
            return [float(each) for each in floats]
        return sealing.seal_bytes(self._keys, self._who, (*self._place, field), floats.tobytes())

    def seal_vectors(self, field: str, vector: Vector, parts: Sequence[Vector]) -> bytes | list[float]:
        """Seal an embedding and, after it in half precision, those of its parts."""
        halves = [np.asarray(part, dtype=np.float16) for part in parts]
        if self._keys.clear:
            return [float(each) for each in np.concatenate([np.asarray(vector, dtype=np.float32), *halves])]
        own = np.asarray(vector, dtype=np.float32).tobytes()
        together = b"".join([own, *(half.tobytes() for half in halves)])
        return sealing.seal_bytes(self._keys, self._who, (*self._place, field), together)

    def vectors(self, field: str, sealed: bytes | list[float], count: int) -> tuple[Vector, list[Vector]]:
        """Open an embedding that `count` parts follow, and those."""
        if not count:
            return self.vector(field, sealed), []
        if isinstance(sealed, list):
            rows = self.vector(field, sealed).reshape(count + 1, -1)
            return rows[0], list(rows[1:])
        opened = self._opened(field, sealed)
        dimension = len(opened) // (4 + 2 * count)
        halves = np.frombuffer(opened[4 * dimension :], dtype=np.float16).reshape(count, dimension)
        return np.frombuffer(opened[: 4 * dimension], dtype=np.float32), list(halves.astype(np.float32))

    def text(self, field: str, sealed: Stored) -> str:
        """Open a text."""
        return self._opened(field, sealed).rstrip(PAD).decode()

    def json(self, field: str, sealed: Stored) -> Any:
        """Open what `seal_json` sealed."""
        return json.loads(self._opened(field, sealed).rstrip(PAD))

    def packed(self, field: str, sealed: Stored) -> bytes:
        """Open what `seal_packed` sealed: JSON, no longer compressed."""
        opened = self._opened(field, sealed)
        return opened if self._keys.clear else decompress(opened)

    def vector(self, field: str, sealed: bytes | list[float]) -> Vector:
        """Open an embedding, of shape (dimension,)."""
        if isinstance(sealed, list):
            if not self._keys.clear:
                raise Tampered.at(*self._place, field)
            return np.asarray(sealed, dtype=np.float32)
        return np.frombuffer(self._opened(field, sealed), dtype=np.float32)

    def _opened(self, field: str, sealed: Stored) -> bytes:
        return sealing.opened_value(self._keys, self._who, (*self._place, field), sealed)
