"""Waiting times between requests that are sent again."""

import asyncio
import logging
from random import uniform
from time import monotonic

from graphmem.errors import Unavailable

FIRST_SECONDS = 0.25
LONGEST_SECONDS = 8.0

log = logging.getLogger(__name__)


class Backoff:
    """Waits before one request is sent again: twice as long each time, within a total time.

    Parameters
    ----------
    patience : float >= 0, seconds from the first failure after which nothing is sent again; 0: never
    """

    def __init__(self, patience: float) -> None:
        self.patience, self.tries, self._deadline = patience, 0, 0.0

    async def wait(self, error: Unavailable) -> None:
        """Wait before the next try, half of the interval to all of it; raise the error where time is up."""
        self._deadline = self._deadline or monotonic() + self.patience
        seconds = min(FIRST_SECONDS * 2**self.tries, LONGEST_SECONDS)
        if monotonic() + seconds > self._deadline:
            raise error
        self.tries += 1
        log.warning("%s (try %d; sent again in about %.1f s)", error, self.tries, seconds)
        await asyncio.sleep(uniform(seconds / 2, seconds))  # noqa: S311 - spreads clients, guards nothing
