"""What takes long says so every few seconds, in the library too."""

import logging
import time
from pathlib import Path

import pytest

from graphmem import progress
from graphmem.errors import Unavailable
from graphmem.local import server
from graphmem.runtime import open_graphmem, tell
from graphmem.settings import Settings


def test_silence_is_broken_and_what_is_quick_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.4)
    told: list[str] = []
    with progress.spoken(told.append, "waiting"):
        pass
    assert told == []
    with progress.spoken(told.append, "waiting") as say:
        # Nothing else runs meanwhile, as where an event loop is blocked.
        time.sleep(1.0)
        say("starting Neo4j")
        time.sleep(0.6)
    assert told[0] == "still waiting (0 s)"
    assert told.index("starting Neo4j") in (1, 2)
    assert told[-1] == "still starting Neo4j (0 s)"
    before = len(told)
    time.sleep(0.6)
    assert len(told) == before


def test_the_innermost_alone_breaks_a_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.2)
    outer: list[str] = []
    inner: list[str] = []
    with progress.spoken(outer.append, "waiting"), progress.spoken(inner.append, "counting"):
        time.sleep(0.5)
    assert outer == []
    assert inner[0] == "still counting (0 s)"


def test_a_loop_tells_how_far_it_is_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.2)
    for _ in progress.tracked("abc", "Reading"):
        time.sleep(0.3)
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "still Reading: 0 of 3 (0 s)"
    assert "still Reading: 2 of 3" in told[-1]


async def test_a_slow_first_start_of_the_library_is_told_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def slow(_: Settings, report: progress.Say) -> server.LocalNeo4j:
        report("fetching Neo4j")
        time.sleep(1.0)
        return server.LocalNeo4j(1, 2, "5.1", 0, tmp_path, "none")

    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.4)
    monkeypatch.setattr(server, "up", slow)
    monkeypatch.setattr(logging.getLogger("graphmem.runtime"), "propagate", False)
    with pytest.raises(Unavailable):
        async with open_graphmem(Settings(home=tmp_path, neo4j_uri=None, neo4j_timeout=1.5)):
            pass
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["fetching Neo4j", "still fetching Neo4j (0 s)"]


def test_where_logging_shows_it_a_line_is_logged(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.INFO, "graphmem.runtime"):
        tell("starting Neo4j")
    assert caplog.messages == ["starting Neo4j"]
    assert capsys.readouterr().err == ""
    with caplog.at_level(logging.WARNING, "graphmem.runtime"):
        tell("starting Neo4j")
    assert capsys.readouterr().err == "starting Neo4j\n"
