"""Subscriptions over HTTP (server-sent events): what they bring, and that nothing comes once the token has ended."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import httpx

from graphmem.app import Graphmem
from graphmem.bearer import make_token
from graphmem.jobs.runner import run_jobs
from graphmem.model import Role
from tests.conftest import Pupil, say

EVENTS = 'subscription { memoryEvents(studentId: "ann") { kind memoryId } }'
REPLY = 'subscription { turnStream(studentId: "ann", turnId: "t1", text: "I like my horse.") { token turn { reply } } }'


async def streamed(api: str, query: str, token: str, session: str) -> AsyncIterator[Any]:
    """The answers of a subscription."""
    headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {token}", "X-Graphmem-Session": session}
    asked: dict[str, Any] = {"json": {"query": query}, "headers": headers}
    async with httpx.AsyncClient(timeout=60) as http, http.stream("POST", f"{api}/graphql", **asked) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                yield json.loads(line.removeprefix("data: "))


async def test_a_reply_comes_in_pieces_and_then_the_turn(gm: Graphmem, api: str, ann: Pupil) -> None:
    token = make_token(gm.secret, ann.who.institution, Role.APP, 60, datetime.now(UTC))
    told = [each["data"]["turnStream"] async for each in streamed(api, REPLY, token, ann.token)]
    assert "".join(each["token"] or "" for each in told) == told[-1]["turn"]["reply"]


async def test_what_happens_after_the_token_has_ended_is_not_told(gm: Graphmem, api: str, ann: Pupil) -> None:
    token = make_token(gm.secret, ann.who.institution, Role.APP, 2, datetime.now(UTC))
    stream = streamed(api, EVENTS, token, ann.token)
    first = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(2.5)
    await say(gm, ann, "I like my horse Bella.")
    await run_jobs(gm, ann.session)
    answer = await asyncio.wait_for(first, 20)
    assert answer["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"
    assert not answer.get("data")
    assert [each async for each in stream] == []
