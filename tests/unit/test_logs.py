"""The setup of logging."""

import json
import logging
from collections.abc import Iterator

import pytest

from graphmem.logs import log_ids, set_up_logging


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    for handler in list(root.handlers):
        root.removeHandler(handler)
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(level)
    for name in ("graphmem", "graphmem_api", "uvicorn"):
        logging.getLogger(name).setLevel(logging.NOTSET)


def test_the_level_holds_for_graphmem_and_uvicorn_only(capsys: pytest.CaptureFixture[str]) -> None:
    # A server that another test ran in this process may have silenced it.
    logging.getLogger("uvicorn.error").setLevel(logging.NOTSET)
    set_up_logging("info", "text")
    for name in ("graphmem.jobs", "graphmem_api", "uvicorn.error", "httpx"):
        logging.getLogger(name).info("%s speaks", name)
        logging.getLogger(name).debug("%s whispers", name)
    told = capsys.readouterr().err
    assert [line.split(" ")[2].rstrip(":") for line in told.splitlines()] == [
        "graphmem.jobs",
        "graphmem_api",
        "uvicorn.error",
    ]
    set_up_logging("error", "text")
    logging.getLogger("graphmem.jobs").warning("too quiet")
    assert capsys.readouterr().err == ""


def test_a_line_has_time_level_logger_and_ids(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging("info", "text")
    with log_ids(student="ada"), log_ids(turn="turn 1"):
        logging.getLogger("graphmem").warning("slow")
    logging.getLogger("graphmem").warning("over")
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith('+00:00 WARNING graphmem student="ada" turn="turn 1": slow')
    assert second.endswith("+00:00 WARNING graphmem: over")


def test_json_is_one_document_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging("info", "json")
    with log_ids(student="ada", job="form-1"):
        logging.getLogger("graphmem.jobs").info("two\nlines")
    (line,) = capsys.readouterr().err.splitlines()
    found = json.loads(line)
    assert found.pop("time").endswith("+00:00")
    assert found == {
        "level": "INFO", "logger": "graphmem.jobs", "message": "two\nlines", "student": "ada", "job": "form-1",
    }  # fmt: skip
