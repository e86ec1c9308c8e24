"""Progress for a person: nothing that takes long is silent for more than a few seconds, on a terminal or elsewhere."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TypeVar

T = TypeVar("T")
Say = Callable[[str], None]

SILENT_SECONDS = 4.0
"""Seconds without a line after which another one is due."""

_active: list["Speaker"] = []
"""Speakers that run, the innermost last: it alone breaks a silence."""


def print_line(line: str) -> None:
    """Print a line on standard error."""
    print(line, file=sys.stderr, flush=True)


class Speaker:
    """Says the lines of what takes a while, and in silence what is going on and for how long."""

    def __init__(self, say: Say, what: str) -> None:
        self._say = say
        self.doing(what)
        self._last = self._began

    def __call__(self, line: str) -> None:
        """Say a line, and take it for what is going on."""
        self.doing(line)
        self._last = self._began
        self._say(line)

    def doing(self, what: str, began: float | None = None) -> None:
        """Note what is going on, by default from now on, without a word."""
        self._what, self._began = what, monotonic() if began is None else began

    def break_silence(self) -> None:
        """Say what is going on where nothing was said for long."""
        if _active[-1] is self and monotonic() - self._last >= SILENT_SECONDS:
            self._last = monotonic()
            self._say(f"still {self._what} ({self._last - self._began:.0f} s)")


@contextmanager
def spoken(say: Say, what: str) -> Iterator[Speaker]:
    """Say the lines of what takes a while, and between them how long it has been going on.

    A thread of its own speaks, so that it also does while the caller, or the event loop, is busy.

    Parameters
    ----------
    say : called with each line, from several threads
    what : what goes on until the first line
    """
    ended, speaker = Event(), Speaker(say, what)

    def watch() -> None:
        while not ended.wait(SILENT_SECONDS / 8):
            speaker.break_silence()

    thread = Thread(target=watch, name="graphmem-progress", daemon=True)
    _active.append(speaker)
    thread.start()
    try:
        yield speaker
    finally:
        ended.set()
        thread.join()
        _active.remove(speaker)


def tracked(things: Iterable[T], what: str) -> Iterator[T]:
    """Yield things one by one, with a bar on a terminal and elsewhere a line every few seconds.

    Parameters
    ----------
    things : Iterable, read to its end before the first is yielded
    what : what is done with them
    """
    every = list(things)
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import track

        yield from track(every, what, console=Console(stderr=True))
        return
    with spoken(print_line, what) as speaker:
        began = monotonic()
        for done, thing in enumerate(every):
            speaker.doing(f"{what}: {done} of {len(every)}", began)
            yield thing
