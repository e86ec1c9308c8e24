"""Talks given to the served API as a student's observations, and what it made of them, over HTTP."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import monotonic, sleep
from typing import Any, TypeVar
from uuid import uuid4

from rich.console import Console
from rich.progress import track

from graphmem.bench.datasets import Talk
from graphmem.bench.harness import NoAnswer, Talker, enrolled
from graphmem.settings import Settings

T = TypeVar("T")

OBSERVATIONS_PER_CALL = 100
FORMED_POLL = 0.1
FORMED_PATIENCE = 120.0
"""Seconds without any job finished after which nobody waits any longer."""
INGEST_PAGE = 100
OBSERVE = """
mutation Observe($student: ID!, $observations: [ObservationInput!]!) {
  observe(studentId: $student, observations: $observations) { id }
}"""
WAITING_JOBS_QUERY = "query Waiting($student: ID!) { student(id: $student) { waitingJobs memoryCount } }"
MEMORIES_PAGE = """
query Memories($student: ID!, $first: Int!, $after: String) {
  student(id: $student) {
    memories(first: $first, after: $after) { items { salience timestamp sources { ref } } next }
  }
}"""


@dataclass(frozen=True)
class RememberedTurn:
    """A memory as it lies in the graph: what it is worth keeping, its time, and the turns it came from."""

    salience: float
    at: datetime
    refs: frozenset[str]


def fresh_student(settings: Settings, port: int, name: str) -> Talker:
    """A student nobody else has, enrolled and with an open session."""
    (talker,) = enrolled(settings, port, [f"{name}-{uuid4().hex[:8]}"])
    return talker


def observe_talk(talker: Talker, talk: Talk) -> float:
    """Give a talk turn by turn and wait until its memories are formed; the seconds it took."""
    start = monotonic()
    for first in tracked(range(0, len(talk.turns), OBSERVATIONS_PER_CALL), f"Observing {talk.id}"):
        observations = [
            {"ref": turn.id, "speaker": turn.speaker, "text": turn.text, "kind": "CHAT", "at": turn.at.isoformat()}
            for turn in talk.turns[first : first + OBSERVATIONS_PER_CALL]
        ]
        talker.caller.call(OBSERVE, student=talker.student, observations=observations)
    await_formed(talker)
    return monotonic() - start


def await_formed(talker: Talker) -> None:
    """Wait until no job of the student waits.

    Raises
    ------
    NoAnswer    nothing is finished any more
    """
    for _ in tracked(_less_and_less(talker), f"Forming memories of {talker.student}"):
        sleep(FORMED_POLL)


def _less_and_less(talker: Talker) -> Iterator[int]:
    """Poll the number of waiting jobs until it is 0; yield each count above it."""
    least, since = None, monotonic()
    while waiting := int(talker.caller.call(WAITING_JOBS_QUERY, student=talker.student)["waitingJobs"]):
        if least is None or waiting < least:
            least, since = waiting, monotonic()
        elif monotonic() - since > FORMED_PATIENCE:
            raise NoAnswer(f"{waiting} jobs of {talker.student} are not finished: read the server's log.")
        yield waiting


def count_ingested(talker: Talker) -> int:
    """Memories the student has."""
    return int(talker.caller.call(WAITING_JOBS_QUERY, student=talker.student)["memoryCount"])


def list_remembered(talker: Talker) -> list[RememberedTurn]:
    """Every memory of the student, newest first."""
    kept: list[RememberedTurn] = []
    after: str | None = None
    while True:
        answer = talker.caller.call(MEMORIES_PAGE, student=talker.student, first=INGEST_PAGE, after=after)
        page: dict[str, Any] = answer["memories"]
        kept += [_kept(item) for item in page["items"]]
        after = page["next"]
        if after is None:
            return kept


def _kept(item: dict[str, Any]) -> RememberedTurn:
    refs = frozenset(source["ref"] for source in item["sources"])
    return RememberedTurn(item["salience"], datetime.fromisoformat(item["timestamp"]), refs)


def tracked(things: Sequence[T] | Iterable[T], what: str) -> Iterable[T]:
    """The same things, with progress on a terminal."""
    console = Console(stderr=True)
    return track(things, what, console=console, disable=not console.is_terminal)
