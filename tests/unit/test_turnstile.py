"""Requests without a student's session begin one by one, so that a flood of them stands before no step of a turn."""

import asyncio
from collections.abc import Sequence

import pytest
from starlette.types import Message, Receive, Scope, Send

from graphmem.background import IdleGate
from graphmem_api import main
from graphmem_api.main import Turnstile

STEPS = 20
FLOOD = 100


async def begun_meanwhile(headers: Sequence[tuple[bytes, bytes]]) -> int:
    """How many requests of a flood with such headers begin before a turn has gone through its steps."""
    begun = 0

    async def refused(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal begun
        begun += 1

    async def turn() -> int:
        for _ in range(STEPS):
            await asyncio.sleep(0)
        return begun

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        raise AssertionError

    turnstile = Turnstile(refused, IdleGate())
    flood = [turnstile({"type": "http", "headers": headers}, receive, send) for _ in range(FLOOD)]
    talked = asyncio.create_task(turn())
    await asyncio.gather(talked, *flood)
    assert begun == FLOOD
    return talked.result()


async def test_of_a_flood_without_sessions_one_begins_between_two_steps_of_a_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(main, "BEGIN_APART", 0.0)
    assert 0 < await begun_meanwhile([]) <= STEPS


async def test_requests_with_a_session_do_not_wait_for_each_other() -> None:
    assert await begun_meanwhile([(b"x-graphmem-session", b"token")]) == FLOOD


async def test_while_a_turn_is_under_way_requests_without_sessions_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "GIVES_WAY", 60.0)
    begun: list[Scope] = []

    async def refused(scope: Scope, receive: Receive, send: Send) -> None:
        begun.append(scope)

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        raise AssertionError

    gate = IdleGate()
    turnstile = Turnstile(refused, gate)
    with gate.turn():
        requests = [asyncio.create_task(turnstile({"type": "http", "headers": []}, receive, send)) for _ in range(3)]
        for _ in range(STEPS):
            await asyncio.sleep(0)
        assert begun == []
    await asyncio.gather(*requests)
    assert len(begun) == 3
