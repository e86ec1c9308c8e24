"""Affect: does a text sound as pleasant as people rated it? (spec 12, Measured by).

A file holds one text a line: `text`, `V` (valence, 1 to 5), `A` (arousal), `split`; only `dev` and `test` rows count.
"""

from pathlib import Path
from statistics import correlation

from graphmem.bench import Figures
from graphmem.bench.talks import read_rows
from graphmem.errors import InvalidInput
from graphmem.samples import SAMPLES
from graphmem.settings import Settings
from graphmem.text.affect import load_affect
from graphmem.text.doc import Doc
from graphmem.text.embedder import EMBEDDER_THREADS, shipped_network

RATED_SENTENCES = SAMPLES / "emobank" / "dev.jsonl"


def measure_valence(settings: Settings, file: Path | None) -> Figures:
    """Measure the Pearson correlation of affect with people's ratings, beside that of VADER.

    `vader_pearson` is there where the package vaderSentiment is installed, as it is for development.

    Raises
    ------
    InvalidInput    another format, or fewer than two rows that were not trained on
    """
    place = file or RATED_SENTENCES
    rows = [row for _, row in read_rows(place) if row.get("split") in ("dev", "test")]
    if len(rows) < 2 or not all(isinstance(r.get("text"), str) and isinstance(r.get("V"), float) for r in rows):
        raise InvalidInput(f"{place} holds no two rows of split dev or test with text, V and A.")
    affect, texts, rated = load_affect(), [row["text"] for row in rows], [row["V"] for row in rows]
    pairs = list(zip(map(Doc, texts), shipped_network(EMBEDDER_THREADS).encode(texts), strict=True))
    figures = {
        "pearson": correlation([affect.valence(doc, vector) for doc, vector in pairs], rated),
        "arousal_pearson": correlation([affect.arousal(*each) for each in pairs], [row["A"] for row in rows]),
        "rows": float(len(rows)),
    }
    try:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer  # type: ignore[import-untyped]
    except ImportError:
        return figures
    rule = SentimentIntensityAnalyzer()
    return figures | {"vader_pearson": correlation([rule.polarity_scores(text)["compound"] for text in texts], rated)}
