"""Job notifications: in process, or over taskiq and Redis (spec 16).

A message holds ids, never a key or a text, and none of them matters: the jobs lie in the graph, and sweepers find
what was lost. So nothing waits for a Redis that is down.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from graphmem.errors import Unavailable
from graphmem.model import Who
from graphmem.settings import Settings

if TYPE_CHECKING:
    # They take most of a second to import, which a command that notifies nobody should not wait for.
    from taskiq_redis import RedisStreamBroker


log = logging.getLogger(__name__)

Run = Callable[[str, str], Awaitable[None]]
"""Runs the jobs of a student: institution, student id."""

TASK = "graphmem:run_jobs"
STREAM = "graphmem-jobs"
MOST_MESSAGES = 100_000
"""Messages kept when no worker takes them; the oldest go first, and a sweep says it all again."""
MESSAGES_READ = 1_000
"""Messages that are looked through at once."""
ANSWER_SECONDS = 5.0
"""Seconds that Redis may take to answer; longer than it is listened to at a time."""
REST_SECONDS = 5.0
"""Seconds that Redis is left alone when it did not answer."""


class JobNotifier:
    """Tells the process that runs jobs that a student has some.

    Parameters
    ----------
    settings : Settings     `broker`, and `jobs_lease`, after which a message that a worker took and died with is
                            given to another one

    Examples
    --------
    >>> JobNotifier(Settings(broker="memory")).is_local
    True
    """

    def __init__(self, settings: Settings) -> None:
        self.address = settings.broker
        self.is_local = settings.broker == "memory"
        self.is_down = False
        self._idle_ms = int(1000 * (settings.model_timeout + settings.jobs_lease))
        self._rest_until = 0.0

    async def send(self, who: Who) -> bool:
        """Say that a student has jobs; needs Redis. False when nobody could be told."""
        from taskiq.kicker import AsyncKicker

        if monotonic() < self._rest_until:
            return False
        try:
            await AsyncKicker[Any, None](TASK, self._redis, {}).kiq(who.institution, who.student_id)
        except Exception as error:
            self._went_away(error)
            return False
        self._came_back()
        return True

    async def forget(self, who: Who) -> bool:
        """Delete the messages that say a student has jobs; False where Redis does not answer."""
        if self.is_local:
            return True
        from redis.asyncio import Redis
        from redis.exceptions import RedisError

        names = [json.dumps(name).encode() for name in (who.institution, who.student_id)]
        redis: Any = Redis(connection_pool=self._redis.connection_pool)
        start: bytes = b"-"
        try:
            while page := await redis.xrange(STREAM, min=start, count=MESSAGES_READ):
                own = [i for i, fields in page if all(name in fields.get(b"data", b"") for name in names)]
                if own:
                    await redis.xdel(STREAM, *own)
                start = b"(" + page[-1][0]
        except (RedisError, OSError) as error:
            self._went_away(error)
            return False
        return True

    async def listen(self, run: Run, at_once: int, stop: asyncio.Event) -> None:
        """Run the jobs of whom is sent until `stop` is set, so many students side by side; needs Redis.

        What is under way then is finished first. When Redis goes away it is tried again and again.
        """
        from taskiq.acks import AcknowledgeType
        from taskiq.receiver import Receiver

        self._redis.register_task(run, TASK)
        while not stop.is_set():
            receiver = Receiver(
                self._redis,
                max_async_tasks=at_once,
                validate_params=False,
                ack_type=AcknowledgeType.WHEN_EXECUTED,
            )
            try:
                await self.check()
                self._came_back()
                await receiver.listen(stop)
            except Exception as error:
                self._went_away(error)
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), REST_SECONDS)

    async def check(self) -> str:
        """Describe what runs the jobs; raise Unavailable if Redis does not answer."""
        if self.is_local:
            return "jobs are run by the API"
        from redis.asyncio import Redis
        from redis.exceptions import RedisError

        place = urlsplit(self.address)
        try:
            await Redis(connection_pool=self._redis.connection_pool).ping()
        except (RedisError, OSError) as e:
            raise Unavailable(
                f"Redis does not answer at {place.hostname}:{place.port or 6379}: start it, "
                "or set GRAPHMEM_BROKER=memory to have the API run jobs itself."
            ) from e
        return f"Redis at {place.hostname}:{place.port or 6379}"

    async def aclose(self) -> None:
        """Close the connections, if there are any."""
        if "_redis" in self.__dict__:
            await self._redis.connection_pool.disconnect()

    @cached_property
    def _redis(self) -> "RedisStreamBroker":
        from taskiq_redis import RedisStreamBroker

        return RedisStreamBroker(
            self.address,
            queue_name=STREAM,
            consumer_group_name="graphmem",
            consumer_id="0",
            maxlen=MOST_MESSAGES,
            idle_timeout=self._idle_ms,
            # One by one, so that a busy worker does not keep from an idle one what it cannot do yet.
            xread_count=1,
            socket_timeout=ANSWER_SECONDS,
            socket_connect_timeout=ANSWER_SECONDS,
            max_connection_pool_size=100,
        )

    def _went_away(self, error: Exception) -> None:
        self._rest_until = monotonic() + REST_SECONDS
        if not self.is_down:
            log.warning(
                "jobs cannot be sent (%s): they stay in the graph until a sweep finds them", type(error).__name__
            )
        self.is_down = True

    def _came_back(self) -> None:
        if self.is_down:
            log.warning("jobs can be sent again")
        self.is_down = False
