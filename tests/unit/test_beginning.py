"""Where episodes begin: with another matter of the student's own, or with a grave surprise (spec 5)."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from graphmem.flows.turn_plan import begins
from graphmem.model import AskedFor, Author, Level, Message, Remembered

TOLD = "My sister Ottilie moved to Lisbon."
ASKED = "What are my sister's cats called?"


def thought(
    level: Level,
    *,
    starts: bool = True,
    own_matter: bool = True,
    since: int = 50,
    asks: AskedFor = AskedFor.OTHER,
    task: str = "",
) -> Any:
    """What is known of a message, as far as it says where an episode begins."""
    said = TOLD if asks is AskedFor.OTHER else ASKED
    return SimpleNamespace(
        task=task,
        score=SimpleNamespace(level=level, unusual=()),
        recalled=Remembered(asked_for=asks),
        seen=SimpleNamespace(
            state=SimpleNamespace(turns=since + 9, episode_turn=10),
            message=Message(Author.STUDENT, said, datetime(2026, 1, 5, tzinfo=UTC)),
            starts=starts,
            own_matter=own_matter,
        ),
    )


@pytest.mark.parametrize("level", [Level.NORMAL, Level.BOUNDARY])
def test_another_matter_begins_an_episode_where_it_is_the_students_own(level: Level) -> None:
    assert begins(thought(level))
    assert not begins(thought(level, own_matter=False))
    assert not begins(thought(level, starts=False))
    assert not begins(thought(level, since=1))
    assert not begins(thought(level, asks=AskedFor.OWN))
    assert not begins(thought(level, task="How many spoons did Julia buy?"))


@pytest.mark.parametrize("level", [Level.COGNITIVE_DISSONANCE, Level.PARADIGM_SHIFT])
def test_a_grave_surprise_always_does(level: Level) -> None:
    assert begins(thought(level, starts=False, own_matter=False, since=1))
