"""A graphmem whose language model is a real HTTP server of the test's own."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch

from graphmem.app import Graphmem
from graphmem.llm import fallback
from graphmem.llm.fallback import Fallback, make_mind
from graphmem.model import TurnOutcome
from tests.conftest import Pupil, another_replica, say
from tests.support.llm_server import LlmServer, Seen

EXPECTED = "I think I have to add 12 and 30."
UNEXPECTED = "Purple submarines taste of thunder, said my uncle Ferdinand."


@asynccontextmanager
async def with_model(
    gm: Graphmem, server: LlmServer, failures: int = fallback.FAILURES, **settings: Any
) -> AsyncIterator[Graphmem]:
    """The same graphmem as a replica of its own that asks a server; its background work is finished at the end."""
    changed = gm.settings.model_copy(update={"model": "openai:stub", "model_base_url": server.base_url, **settings})
    with patch.object(fallback, "FAILURES", failures):
        mind = make_mind(changed, gm.offline)
    assert isinstance(mind, Fallback)
    opened = another_replica(gm, settings=changed, mind=mind)
    try:
        yield opened
        await asyncio.gather(*opened.background.tasks)
    finally:
        await mind.first.aclose()


async def surprise(gm: Graphmem, pupil: Pupil) -> TurnOutcome:
    """Two turns, of which the second violates what was expected."""
    await say(gm, pupil, EXPECTED)
    return await say(gm, pupil, UNEXPECTED)


def remembering(server: LlmServer) -> list[Seen]:
    """The memory requests that a server saw."""
    return [seen for seen in server.seen if "<talk>" in seen.question]


async def asked(server: LlmServer, requests: int) -> None:
    """Wait until a server has seen so many requests."""
    while True:
        if len(server.seen) >= requests:
            return
        await asyncio.sleep(0.01)


def asks(server: LlmServer, field: str) -> list[Seen]:
    """The requests whose answer has some field."""
    return [seen for seen in server.seen if f'"{field}"' in json.dumps(seen.body.get("response_format"))]
