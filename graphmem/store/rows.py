"""From the driver's values to Python's, and sealed properties to what they hold and back."""

import json
from datetime import UTC, datetime
from typing import Any

import numpy as np

from graphmem import sealing
from graphmem.model import Keys, SourceKind, Vector, Who

REMARK = "remark"
"""The kind in the graph of a chat remark that was observed; `chat` is that of turns, whose ids are not its refs."""
LAST = datetime(9999, 12, 31, tzinfo=UTC)
"""Later than anything: where the first page of what is listed newest first begins."""


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


class NodeSealer:
    """One node of one student, whose fields are sealed and opened with the student's keys."""

    def __init__(self, keys: Keys, who: Who, node_id: str) -> None:
        self._keys, self._who, self._node_id = keys, who, node_id

    def seal(self, field: str, value: str | bytes) -> bytes:
        """Seal one field of this node."""
        return sealing.seal(self._keys, self._who, self._node_id, field, value)

    def seal_json(self, field: str, value: Any) -> bytes:
        """Seal anything JSON can say."""
        return self.seal(field, json.dumps(value, ensure_ascii=False))

    def opened(self, field: str, sealed: bytes) -> bytes:
        """Open one field of this node."""
        return sealing.opened_value(self._keys, self._who, self._node_id, field, sealed)

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
