"""Two hundred wrong passwords a second on two hundred students: how much slower the turns of others are.

Spans with and without guesses take turns, so that what the service does by itself meanwhile falls into both alike:
after a minute without a pause it forms what was said, which takes some seconds.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

import numpy as np

from graphmem.bench import Figures
from graphmem.bench.harness import (
    HttpCaller,
    NoAnswer,
    Talker,
    bearer_tokens,
    enrolled,
    messages,
    own_database,
    served,
)
from graphmem.errors import RateLimited, SetupError
from graphmem.settings import Settings

ATTACKED = 200
"""Students whose passwords are guessed; half of them do not exist."""
GUESSES_A_SECOND = 200
GUESSERS = 64
PASSWORD_TALKERS = 4
GUESSED_ROUNDS = 6
SPAN_SECONDS, WARM_SECONDS, START_SECONDS = 6.0, 30.0, 60.0
"""How long students talk with and without guesses in each round, and before the first; how long the guessing may take
to get ready. Between the two they talk as long again, while the last guesses are answered, and it does not count."""
EARLY_GUESSES = 20
"""Guesses long before, as many as are forgotten until then."""
PAUSE_SECONDS = 0.2
"""Between two turns of a student."""
GUESS = """
mutation Guess($student: ID!, $password: String!) {
  openSession(studentId: $student, password: $password) { token }
}"""


@dataclass(frozen=True)
class Guessing:
    """Where passwords are guessed, and whose."""

    port: int
    token: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Guesser:
    """How the process that guesses is told when, and what it gives at the end: the code of each answer."""

    is_ready: Event
    goes_on: Event
    stop: Event
    codes: "SimpleQueue[list[str]]"


def measure_passwords(settings: Settings, file: Path | None) -> Figures:
    """Times of turns without and with the guessing, in turn, and what became of the guesses.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : dialogues whose student messages are said instead of the shipped ones
    """
    texts = messages(file)
    with own_database(settings) as own, served(own) as port:
        talkers = enrolled(own, port, [f"student-{i}" for i in range(PASSWORD_TALKERS)])
        names = [f"student-{i}" if i < PASSWORD_TALKERS else f"nobody-{i}" for i in range(ATTACKED)]
        with _guesser(Guessing(port, bearer_tokens(own)[1], tuple(names))) as guesser:
            _talked(talkers, texts, "warm", WARM_SECONDS)
            calm, attacked = list[float](), list[float]()
            for number in range(GUESSED_ROUNDS):
                calm += _talked(talkers, texts, f"calm-{number}", SPAN_SECONDS)
                guesser.goes_on.set()
                attacked += _talked(talkers, texts, f"attacked-{number}", SPAN_SECONDS)
                guesser.goes_on.clear()
                _talked(talkers, texts, f"after-{number}", SPAN_SECONDS)
            guesser.stop.set()
            guesser.goes_on.set()
            codes = guesser.codes.get()
    p95_calm, p95_attacked = (1000 * float(np.percentile(each, 95)) for each in (calm, attacked))
    return {
        "calm_p50_ms": 1000 * median(calm),
        "calm_p95_ms": p95_calm,
        "attacked_p50_ms": 1000 * median(attacked),
        "attacked_p95_ms": p95_attacked,
        "ratio_p95": p95_attacked / p95_calm,
        "guesses_per_s": len(codes) / (GUESSED_ROUNDS * SPAN_SECONDS),
        "refused_unchecked": sum(code == RateLimited.code for code in codes) / max(1, len(codes)),
    }


def _talked(talkers: list[Talker], texts: list[str], span: str, seconds: float) -> list[float]:
    """Seconds of the turns of all students in one span."""
    with ThreadPoolExecutor(len(talkers)) as pool:
        said = pool.map(lambda talker: _talk_for(talker, texts, span, seconds), talkers)
        return [seconds for each in said for seconds in each]


def _talk_for(talker: Talker, texts: list[str], span: str, seconds: float) -> list[float]:
    took, begin = list[float](), perf_counter()
    while perf_counter() - begin < seconds:
        start = perf_counter()
        talker.say(f"{span}-{len(took)}", texts[len(took) % len(texts)])
        took.append(perf_counter() - start)
        sleep(PAUSE_SECONDS)
    return took


@contextmanager
def _guesser(guessing: Guessing) -> Iterator[Guesser]:
    """Another process that guesses passwords, as others do; it has guessed a few, so that nothing is new to be done."""
    new = get_context("spawn")
    guesser = Guesser(new.Event(), new.Event(), new.Event(), new.SimpleQueue())
    process = new.Process(target=_guess, args=(guessing, guesser), daemon=True)
    process.start()
    try:
        if not guesser.is_ready.wait(START_SECONDS):
            raise SetupError("The guessing of passwords did not begin.")
        yield guesser
    finally:
        process.terminate()
        process.join()


def _guess(guessing: Guessing, guesser: Guesser) -> None:
    """Guess passwords at a steady rate while it goes on; at the end give the code of each answer."""
    pause, codes, names = GUESSERS / GUESSES_A_SECOND, list[str](), guessing.names

    def guess(caller: HttpCaller, number: int) -> None:
        try:
            caller.call(GUESS, student=names[number % len(names)], password=f"wrong password {number}")
        except NoAnswer as refused:
            codes.append(str(refused).partition(":")[0])

    def guess_on(first: int) -> None:
        caller = HttpCaller(guessing.port, guessing.token)
        number, due = first, 0.0
        while not guesser.stop.is_set():
            if not guesser.goes_on.is_set():
                guesser.goes_on.wait()
                due = perf_counter() + pause * first / GUESSERS
                continue
            sleep(max(0.0, due - perf_counter()))
            guess(caller, number)
            # A guess that could not be sent in time is not sent later.
            number, due = number + GUESSERS, max(due + pause, perf_counter())
        caller.close()

    early = HttpCaller(guessing.port, guessing.token)
    for number in range(EARLY_GUESSES):
        guess(early, number)
    early.close()
    codes.clear()
    guesser.is_ready.set()
    with ThreadPoolExecutor(GUESSERS) as pool:
        list(pool.map(guess_on, range(GUESSERS)))
    guesser.codes.put(codes)
