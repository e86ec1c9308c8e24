"""Two hundred wrong passwords a second on two hundred students: how much slower the turns of others are."""

import threading
from concurrent.futures import ThreadPoolExecutor
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
from graphmem.errors import RateLimited
from graphmem.settings import Settings

ATTACKED = 200
"""Students whose passwords are guessed; half of them do not exist."""
GUESSES_A_SECOND = 200
GUESSERS = 64
PASSWORD_TALKERS = 4
PHASE_SECONDS = 30.0
PAUSE_SECONDS = 0.2
"""Between two turns of a student."""
GUESS = """
mutation Guess($student: ID!, $password: String!) {
  openSession(studentId: $student, password: $password) { token }
}"""


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
        _talked(talkers, texts, "warm")
        calm = _talked(talkers, texts, "calm")
        stop, codes = threading.Event(), list[str]()
        _, app = bearer_tokens(own)
        guessing = threading.Thread(target=_guess, args=(port, app, names, stop, codes))
        guessing.start()
        start = perf_counter()
        attacked = _talked(talkers, texts, "attacked")
        elapsed = perf_counter() - start
        stop.set()
        guessing.join()
    p95_calm, p95_attacked = (1000 * float(np.percentile(each, 95)) for each in (calm, attacked))
    return {
        "calm_p50_ms": 1000 * median(calm),
        "calm_p95_ms": p95_calm,
        "attacked_p50_ms": 1000 * median(attacked),
        "attacked_p95_ms": p95_attacked,
        "ratio_p95": p95_attacked / p95_calm,
        "guesses_per_s": len(codes) / elapsed,
        "refused_unchecked": sum(code == RateLimited.code for code in codes) / max(1, len(codes)),
    }


def _talked(talkers: list[Talker], texts: list[str], phase: str) -> list[float]:
    """Seconds of the turns of all students in one phase."""
    with ThreadPoolExecutor(len(talkers)) as pool:
        said = pool.map(lambda talker: _talk_for(talker, texts, phase), talkers)
        return [seconds for each in said for seconds in each]


def _talk_for(talker: Talker, texts: list[str], phase: str) -> list[float]:
    seconds, begin = list[float](), perf_counter()
    while perf_counter() - begin < PHASE_SECONDS:
        start = perf_counter()
        talker.say(f"{phase}-{len(seconds)}", texts[len(seconds) % len(texts)])
        seconds.append(perf_counter() - start)
        sleep(PAUSE_SECONDS)
    return seconds


def _guess(port: int, token: str, names: list[str], stop: threading.Event, codes: list[str]) -> None:
    """Guess passwords at a steady rate until it is enough; the code of each answer."""
    pause = GUESSERS / GUESSES_A_SECOND

    def guess(first: int) -> None:
        caller, number, due = HttpCaller(port, token), first, perf_counter() + pause * first / GUESSERS
        while not stop.is_set():
            sleep(max(0.0, due - perf_counter()))
            try:
                caller.call(GUESS, student=names[number % len(names)], password=f"wrong password {number}")
            except NoAnswer as refused:
                codes.append(str(refused).partition(":")[0])
            # A guess that could not be sent in time is not sent later.
            number, due = number + GUESSERS, max(due + pause, perf_counter())
        caller.close()

    with ThreadPoolExecutor(GUESSERS) as pool:
        list(pool.map(guess, range(GUESSERS)))
