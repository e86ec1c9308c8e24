"""The embedder: meaning, odd texts, batching, cancelling, failing and closing."""

import asyncio
import hashlib
import sys
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from graphmem.errors import SetupError, Unavailable
from graphmem.model import Matrix
from graphmem.ports import Embedder
from graphmem.settings import Settings
from graphmem.text.embedder import (
    DIMENSION,
    EMBEDDER_FOLDER,
    BatchedEmbedder,
    Encode,
    ShippedNetwork,
    make_embedder,
)

SENTENCES = [
    "What is half of eight?",
    "I think the answer is 12, because three times four is twelve.",
    "Photosynthesis turns light into sugar.",
    "Me encantan los gatos.",
]


@pytest.fixture(scope="module")
async def embedder() -> AsyncIterator[Embedder]:
    shipped = make_embedder(Settings())
    yield shipped
    await shipped.aclose()


@pytest.fixture(scope="module")
def encode() -> Encode:
    return ShippedNetwork(1).encode


class Gate:
    """An encoder that writes down its batches and runs only while it is open."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.started = threading.Event()
        self.opened = threading.Event()

    def __call__(self, texts: list[str]) -> Matrix:
        self.batches.append(texts)
        self.started.set()
        assert self.opened.wait(30)
        if "bad" in texts:
            raise ValueError("a bad text")
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)

    async def start(self) -> None:
        await asyncio.to_thread(self.started.wait, 30)


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
async def gated(gate: Gate) -> AsyncIterator[BatchedEmbedder]:
    embedder = BatchedEmbedder("gate", 2, gate, batch=4)
    yield embedder
    gate.opened.set()
    await embedder.aclose()


async def waiting(*requests: asyncio.Task[Matrix]) -> None:
    # One round of the loop starts each of them, which puts it into the queue.
    await asyncio.sleep(0)
    assert not any(request.done() for request in requests)


# The shipped model


async def test_embed_shipped_model(embedder: Embedder) -> None:
    rows = await embedder.embed(SENTENCES)
    assert rows.shape == (4, DIMENSION)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert embedder.name == "onnx:all-MiniLM-L6-v2"
    assert embedder.dimension == DIMENSION


async def test_embed_knows_meaning(embedder: Embedder) -> None:
    dog, puppy, tax = await embedder.embed(["The dog barks.", "A puppy is barking.", "Taxes are due in April."])
    assert dog @ puppy > 0.6
    assert dog @ tax < 0.3


async def test_embed_no_text_at_all(embedder: Embedder) -> None:
    assert (await embedder.embed([])).shape == (0, DIMENSION)


async def test_embed_is_the_same_whatever_runs_beside_it(embedder: Embedder) -> None:
    alone = [await embedder.embed([text]) for text in SENTENCES]
    together = await embedder.embed([*SENTENCES, "x" * 5000, ""])
    at_once = await asyncio.gather(*(embedder.embed([text]) for text in SENTENCES))
    np.testing.assert_array_equal(together[:4], np.concatenate(alone))
    np.testing.assert_array_equal(np.concatenate(at_once), np.concatenate(alone))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "🎉👩‍👩‍👧‍👦",
        "\x00\x07\x1b[31m",
        "смесь 文字 خليط",
        "\ud83d",
        "a\udc00b",
        "́" * 300,
        "[CLS] [PAD] [MASK]",
    ],
)
async def test_embed_odd_texts(embedder: Embedder, text: str) -> None:
    (row,) = await embedder.embed([text])
    assert np.linalg.norm(row) == pytest.approx(1, abs=1e-5)


async def test_embed_joins_a_surrogate_pair(embedder: Embedder) -> None:
    whole, pair = await embedder.embed(["nice \U0001f389", "nice \ud83c\udf89"])
    np.testing.assert_array_equal(whole, pair)


async def test_embed_reads_the_beginning_of_a_long_text(embedder: Embedder) -> None:
    beginning = "the cat sat on the mat. " * 40
    full, cut, other = await embedder.embed([beginning + "zebra " * 5000, beginning, "zebra " * 5000])
    np.testing.assert_array_equal(full, cut)
    assert full @ other < 0.9


@given(st.text(st.characters()))
@examples(max_examples=40, deadline=None)
def test_encode_any_text_to_length_one(encode: Encode, text: str) -> None:
    rows = encode([text])
    assert rows.shape == (1, DIMENSION)
    assert np.linalg.norm(rows) == pytest.approx(1, abs=1e-5)


def test_encode_agrees_with_the_original_model(encode: Encode) -> None:
    # Cosines of SENTENCES with each other as the float32 original gives them (sentence-transformers).
    original = [0.250, 0.022, 0.047, 0.095, -0.004, 0.040]
    rows = encode(SENTENCES)
    np.testing.assert_allclose((rows @ rows.T)[np.triu_indices(4, 1)], original, atol=0.03)


def test_weights_are_the_files_that_were_made() -> None:
    for line in (EMBEDDER_FOLDER / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split()
        assert hashlib.sha256((EMBEDDER_FOLDER / name).read_bytes()).hexdigest() == digest


@pytest.mark.parametrize(
    "damage", [lambda path: path.unlink(), lambda path: path.write_bytes(path.read_bytes()[:1000])]
)
@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_ShippedNetwork_damaged_file(tmp_path: Path, name: str, damage: Callable[[Path], object]) -> None:
    for path in EMBEDDER_FOLDER.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    damage(tmp_path / name)
    with pytest.raises(SetupError, match="install graphmem again"):
        ShippedNetwork(1, tmp_path)


@pytest.mark.parametrize("name", ["onnx:other", "openai:x", "", "sentence-transformers:", "all-MiniLM-L6-v2"])
def test_make_embedder_unknown(name: str) -> None:
    with pytest.raises(SetupError, match=r"onnx:all-MiniLM-L6-v2.*sentence-transformers:NAME_OR_PATH"):
        make_embedder(Settings(embedder=name))


# Batching


async def test_requests_wait_and_run_together(gated: BatchedEmbedder, gate: Gate) -> None:
    first = asyncio.create_task(gated.embed(["a"]))
    await gate.start()
    later = [asyncio.create_task(gated.embed(["x" * n])) for n in range(6)]
    await waiting(*later)
    gate.opened.set()
    await first
    rows = np.concatenate(await asyncio.gather(*later))
    assert [len(batch) for batch in gate.batches] == [1, 4, 2]
    assert rows[:, 0].tolist() == [0, 1, 2, 3, 4, 5]


async def test_a_long_request_lets_others_in(gated: BatchedEmbedder, gate: Gate) -> None:
    archive = asyncio.create_task(gated.embed(["old"] * 12))
    await gate.start()
    message = asyncio.create_task(gated.embed(["new"]))
    await waiting(archive, message)
    gate.opened.set()
    assert (await archive).shape == (12, 2)
    await message
    assert gate.batches[1] == ["new"]
    assert max(map(len, gate.batches)) == 4


async def test_the_loop_runs_while_texts_are_embedded(gated: BatchedEmbedder, gate: Gate) -> None:
    request = asyncio.create_task(gated.embed(["a"]))
    await gate.start()
    for _ in range(3):
        await asyncio.sleep(0)
    assert not request.done()
    gate.opened.set()
    await request


async def test_cancelling_one_leaves_the_others(gated: BatchedEmbedder, gate: Gate) -> None:
    running = asyncio.create_task(gated.embed(["running"]))
    await gate.start()
    dropped, kept = asyncio.create_task(gated.embed(["dropped"])), asyncio.create_task(gated.embed(["kept"]))
    await waiting(dropped, kept)
    running.cancel()
    dropped.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    with pytest.raises(asyncio.CancelledError):
        await dropped
    gate.opened.set()
    assert (await kept)[0, 0] == 4
    assert gate.batches == [["running"], ["kept"]]


async def test_a_failure_reaches_only_whom_it_concerns(gated: BatchedEmbedder, gate: Gate) -> None:
    first = asyncio.create_task(gated.embed(["a"]))
    await gate.start()
    good, bad = asyncio.create_task(gated.embed(["good"])), asyncio.create_task(gated.embed(["bad"]))
    await waiting(good, bad)
    gate.opened.set()
    assert (await good)[0, 0] == 4
    with pytest.raises(ValueError, match="a bad text"):
        await bad
    await first
    assert (await gated.embed(["after"]))[0, 0] == 5


# Closing


async def test_aclose_finishes_what_is_queued(gated: BatchedEmbedder, gate: Gate) -> None:
    running = asyncio.create_task(gated.embed(["a"]))
    await gate.start()
    queued = asyncio.create_task(gated.embed(["bb"]))
    await waiting(running, queued)
    closing = asyncio.create_task(gated.aclose())
    await asyncio.sleep(0)
    gate.opened.set()
    await closing
    assert [(await running)[0, 0], (await queued)[0, 0]] == [1, 2]


async def test_embed_after_aclose(gated: BatchedEmbedder, gate: Gate) -> None:
    gate.opened.set()
    await gated.aclose()
    await gated.aclose()
    with pytest.raises(Unavailable, match="closed"):
        await gated.embed(["a"])


def test_sentence_transformers_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(SetupError, match=r"make extras.*pip install .sentence-transformers"):
        make_embedder(Settings(embedder="sentence-transformers:any"))
