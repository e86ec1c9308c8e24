"""Logging: one setup for all loggers, with time, level and the ids of what is under way; never what was said."""

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Literal

_LOG_IDS: ContextVar[Mapping[str, str]] = ContextVar("ids", default={})  # noqa: B039
_OURS = ("graphmem", "graphmem_api", "uvicorn")


@contextmanager
def log_ids(**ids: str) -> Iterator[None]:
    """Put ids (`student`, `turn`, `job`) on every record while it lasts, here and in tasks started meanwhile.

    Examples
    --------
    >>> with log_ids(student="ada"), log_ids(turn="t1"):
    ...     sorted(_LOG_IDS.get().items())
    [('student', 'ada'), ('turn', 't1')]
    """
    token = _LOG_IDS.set({**_LOG_IDS.get(), **ids})
    try:
        yield
    finally:
        _LOG_IDS.reset(token)


class TextFormatter(logging.Formatter):
    """One line a record: time in UTC, level, logger, ids and message."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record."""
        ids = "".join(f" {name}={json.dumps(value)}" for name, value in _LOG_IDS.get().items())
        line = f"{_log_time(record)} {record.levelname} {record.name}{ids}: {record.getMessage()}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info and record.exc_info[0] else line


class JsonFormatter(logging.Formatter):
    """One JSON document a line: time, level, logger, message, and the ids under their names."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record."""
        document = {
            "time": _log_time(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_LOG_IDS.get(),
        }
        if record.exc_info and record.exc_info[0]:
            document["error"] = self.formatException(record.exc_info)
        return json.dumps(document, ensure_ascii=False)


def set_up_logging(level: str, style: Literal["text", "json"]) -> None:
    """Log to standard error: graphmem and uvicorn from `level` on, other libraries from WARNING on.

    A second call replaces the first.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if style == "json" else TextFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in _OURS:
        logging.getLogger(name).setLevel(level.upper())


def _log_time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
