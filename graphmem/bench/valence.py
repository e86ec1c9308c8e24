"""Benchmark of the sense of affect: does a text sound as pleasant as people rated it? (spec 12, Measured by).

A file holds one text a line: `text`, `V` (valence, 1 to 5), `A` (arousal), `split`; only `dev` and `test` rows count.
"""

from pathlib import Path
from statistics import correlation

from graphmem.bench import Figures
from graphmem.bench.datasets import read_rows
from graphmem.errors import InvalidInput
from graphmem.samples import SAMPLES
from graphmem.settings import Settings
from graphmem.text.affect import load_affect
from graphmem.text.doc import Doc
from graphmem.text.embedder import shipped_network

RATED_SENTENCES = SAMPLES / "emobank" / "dev.jsonl"


def measure_valence(settings: Settings, file: Path | None) -> Figures:
    """Pearson correlation of what the sense of affect hears with people's ratings, beside that of VADER.

    `vader_pearson` is there where the package vaderSentiment is installed, as it is for development.

    Raises
    ------
    InvalidInput    another format, or fewer than two rows that were not trained on
    """
    place = file or RATED_SENTENCES
    rows = [row for _, row in read_rows(place) if row.get("split") in ("dev", "test")]
    if len(rows) < 2 or not all(isinstance(r.get("text"), str) and isinstance(r.get("V"), float) for r in rows):
        raise InvalidInput(f"{place} holds no two rows of split dev or test with text, V and A.")
    affect, texts = load_affect(), [row["text"] for row in rows]
    vectors = shipped_network(settings.embedder_threads).encode(texts)
    heard = [affect.valence(Doc(text), vector) for text, vector in zip(texts, vectors, strict=True)]
    aroused = [affect.arousal(Doc(text), vector) for text, vector in zip(texts, vectors, strict=True)]
    return {
        "pearson": correlation(heard, [row["V"] for row in rows]),
        "arousal_pearson": correlation(aroused, [row["A"] for row in rows]),
        **_vader(texts, [row["V"] for row in rows]),
        "rows": float(len(rows)),
    }


def _vader(texts: list[str], ratings: list[float]) -> Figures:
    try:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer  # type: ignore[import-untyped]
    except ImportError:
        return {}
    rule = SentimentIntensityAnalyzer()
    return {"vader_pearson": correlation([rule.polarity_scores(text)["compound"] for text in texts], ratings)}
