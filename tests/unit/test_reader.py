"""Reading: what a message is worth, its vector before its scores, and odd texts."""

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import Unavailable
from graphmem.language.analysis import passes
from graphmem.language.encoder import Encoder, read_now
from graphmem.language.heads import MESSAGE, AnswerForm
from graphmem.model import Vector
from graphmem.text.embedder import ShippedNetwork


def test_passes_at_their_bounds() -> None:
    assert [passes(score) for score in (0, 99, 100, 399, 400, 799, 800, 1000)] == [0, 0, 1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize("text", ["Hello", "Thanks", "ok I see", "yes", "Thank you so much 😊", "See you later, bye!"])
def test_small_talk_is_not_stored(text: str) -> None:
    assert read_now([text])[0].passes == 0


@pytest.mark.parametrize(
    "text", ["im type 1 diabetic", "My dad died last week.", "I'm dyslexic, please read it to me."]
)
def test_what_is_grave_is_read_three_times_however_short(text: str) -> None:
    assert read_now([text])[0].passes == 3


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("I moved to Leeds in March.", "Did you move to Leeds in March?"),
        ("I'm allergic to nuts.", "First I added 12 and 30, then I took away 5, which gave me 37 apples in all."),
        ("I always panic in tests.", "hang on, let me get my pen and some paper, ok now I am ready, go on"),
    ],
)
def test_worth_is_not_length(more: str, less: str) -> None:
    told, said = read_now([more, less])
    assert told.snr > said.snr


def test_the_vector_is_the_embedders() -> None:
    texts = ["My sister plays chess.", "12 + 5 = 17"]
    vectors = np.stack([reading.vector for reading in read_now(texts)])
    assert np.array_equal(vectors, ShippedNetwork(1).encode(texts))


async def test_a_message_is_read_alike_alone_and_beside_others() -> None:
    reader = Encoder()
    texts = [f"I have {n} cats and a dog called Rex." for n in range(40)]
    together = await reader.read(texts)
    alone = [(await reader.read([text]))[0] for text in texts[:3]]
    assert [each.snr for each in together[:3]] == [each.snr for each in alone]
    assert await reader.read([]) == []
    await asyncio.gather(reader.aclose(), reader.aclose())


async def test_the_vector_is_told_before_the_reading_to_all_who_wait_for_it() -> None:
    reader, loop = Encoder(), asyncio.get_running_loop()
    early: list[asyncio.Future[Vector]] = [loop.create_future() for _ in range(3)]
    texts = ["I have two cats.", "I have two cats.", "My dog is called Rex."]
    reading = [asyncio.ensure_future(reader.read_early(*each)) for each in zip(texts, early, strict=True)]
    order: list[str] = []
    early[0].add_done_callback(lambda _: order.append("vector"))
    reading[0].add_done_callback(lambda _: order.append("reading"))
    read = await asyncio.gather(*reading)
    assert order == ["vector", "reading"]
    assert all(np.array_equal(vector.result(), each.vector) for vector, each in zip(early, read, strict=True))
    await reader.aclose()
    unread: asyncio.Future[Vector] = loop.create_future()
    with pytest.raises(Unavailable):
        await reader.read_early("ok", unread)
    assert not unread.done()


async def test_without_a_word_there_is_nothing() -> None:
    reader = Encoder()
    assert [each.snr for each in await reader.read(["", " ", "🎉😂", "?!...", "\x00\x01"])] == [0] * 5
    await reader.aclose()


@given(st.text(max_size=2_000))
def test_whatever_is_said_chances_are_chances(text: str) -> None:
    (reading,) = read_now([text])
    assert 0 <= reading.snr <= 1000
    assert -1 <= reading.scores.number("valence") <= 1
    assert reading.scores.logits.shape == (MESSAGE.width,)
    for name, head in MESSAGE.heads.items():
        if head.answer is AnswerForm.LABEL:
            assert reading.scores.chances(name).sum() == pytest.approx(1, abs=1e-4)
