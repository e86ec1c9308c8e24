"""Progress that is told to a person: nothing that takes long is silent for more than a few seconds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic

Say = Callable[[str], None]

SILENT_SECONDS = 4.0
"""Seconds without a line after which another one is due."""


@contextmanager
def spoken(say: Say, what: str) -> Iterator[Say]:
    """Say the lines of what takes a while, and between them how long it has been going on.

    A thread of its own speaks, so that it also does while the caller, or the event loop, is busy.

    Parameters
    ----------
    say : called with each line, from several threads
    what : what goes on until the first line
    """
    ended, began = Event(), monotonic()
    last = began

    def told(line: str) -> None:
        nonlocal what, began, last
        what, began = line, monotonic()
        last = began
        say(line)

    def watch() -> None:
        nonlocal last
        while not ended.wait(SILENT_SECONDS / 8):
            if monotonic() - last >= SILENT_SECONDS:
                last = monotonic()
                say(f"still {what} ({last - began:.0f} s)")

    thread = Thread(target=watch, name="graphmem-progress", daemon=True)
    thread.start()
    try:
        yield told
    finally:
        ended.set()
        thread.join()
