"""The session cache: bounded by bytes, emptied when sessions end, locks kept as long as somebody holds them."""

import asyncio
import gc
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from graphmem.cache import OpenMemories, SessionCache
from graphmem.model import Author, Companion, Keys, Message, Session, State, Unlocked, Who
from graphmem.search.index import SearchIndex
from tests.support.memories import NOW, memory

ANN, BOB = Who("school", "ann"), Who("school", "bob")
ENDS = NOW + timedelta(hours=1)


def session(who: Who, name: str = "session") -> Session:
    return Session(who.institution, who.student_id, name, ENDS, Keys(b"s" * 32, b"m" * 32))


def put(cache: SessionCache, who: Who, held: Unlocked | OpenMemories, until: datetime = ENDS) -> None:
    """Hold something of a student whose session was seen to run."""
    state = cache.state(who)
    cache.admit(session(who), until)
    cache.put(who, held)
    assert state.sessions


def turn_state(text: str = "I like fractions.") -> Unlocked:
    state = State(1, 0, 0, Companion("C", "P", 0.5), None)
    message = Message(Author.STUDENT, text, NOW, np.ones(384, dtype=np.float32))
    return Unlocked(state, (message,), ("t1",), ())


def open_memories(count: int) -> OpenMemories:
    index = SearchIndex(384)
    memories = [memory(f"m{i}", "A sentence of some length about fractions.") for i in range(count)]
    index.put_many(memories, np.ones((count, 384), dtype=np.float32))
    return OpenMemories(1, index)


def test_what_is_put_is_held_until_the_session_ends() -> None:
    cache = SessionCache(2**30)
    put(cache, ANN, turn_state())
    put(cache, ANN, open_memories(3))
    assert cache.turn(ANN, NOW) is not None
    assert cache.memories(ANN, NOW) is not None
    assert cache.turn(BOB, NOW) is None
    assert len(cache) == 1
    assert cache.turn(ANN, ENDS) is None
    assert (len(cache), cache.nbytes) == (0, 0)


def test_sessions_that_end_are_swept() -> None:
    cache = SessionCache(2**30)
    put(cache, ANN, turn_state())
    put(cache, BOB, turn_state(), ENDS + timedelta(hours=1))
    cache.expire(ENDS)
    assert len(cache) == 1
    assert cache.turn(BOB, ENDS) is not None


def test_with_the_last_session_of_a_student_everything_goes() -> None:
    cache = SessionCache(2**30)
    put(cache, ANN, turn_state())
    cache.admit(session(ANN, "another"), ENDS + timedelta(hours=1))
    assert cache.turn(ANN, ENDS) is not None
    assert not cache.admits(session(ANN), ENDS)
    assert cache.admits(session(ANN, "another"), ENDS)
    cache.dismiss(session(ANN))
    assert cache.turn(ANN, NOW) is not None
    cache.dismiss(session(ANN, "another"))
    assert cache.turn(ANN, NOW) is None
    assert (len(cache), cache.nbytes) == (0, 0)


def test_bytes_are_bounded_and_the_least_recently_used_goes_first() -> None:
    one = open_memories(100).nbytes
    assert 100 * 384 * 4 < one < 100 * 20_000
    cache = SessionCache(int(2.5 * one))
    put(cache, ANN, open_memories(100))
    students = [Who("school", f"s{i}") for i in range(3)]
    put(cache, students[0], open_memories(100))
    assert cache.memories(ANN, NOW) is not None
    put(cache, students[1], open_memories(100))
    assert cache.memories(students[0], NOW) is None
    assert cache.memories(ANN, NOW) is not None
    assert cache.nbytes <= 2.5 * one


def test_one_student_larger_than_the_cache_is_held_alone() -> None:
    cache = SessionCache(1)
    put(cache, ANN, turn_state())
    put(cache, BOB, open_memories(10))
    assert cache.turn(ANN, NOW) is None
    assert cache.memories(BOB, NOW) is not None


def test_dropping_one_part_keeps_the_other() -> None:
    cache = SessionCache(2**30)
    put(cache, ANN, turn_state())
    put(cache, ANN, open_memories(3))
    held = cache.nbytes
    cache.drop_turn(ANN)
    assert cache.turn(ANN, NOW) is None
    assert cache.memories(ANN, NOW) is not None
    assert 0 < cache.nbytes < held
    cache.drop_memories(ANN)
    assert (len(cache), cache.nbytes) == (0, 0)
    cache.drop(ANN)


def test_longer_texts_count_more() -> None:
    cache = SessionCache(2**30)
    put(cache, ANN, turn_state())
    short = cache.nbytes
    put(cache, ANN, turn_state("x" * 10_000))
    assert cache.nbytes > short + 9_000
    put(cache, ANN, replace(turn_state(), messages=()))
    assert cache.nbytes < short


async def test_a_lock_is_the_same_for_everybody_as_long_as_somebody_holds_it() -> None:
    cache = SessionCache(2**30)
    state = cache.state(ANN)
    async with state.turn_lock:
        put(cache, ANN, turn_state())
        cache.drop(ANN)
        gc.collect()
        waiting = asyncio.create_task(cache.state(ANN).turn_lock.acquire())
        await asyncio.sleep(0)
        assert not waiting.done()
    await waiting
    state.turn_lock.release()
