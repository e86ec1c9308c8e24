"""Weights that tell whether a common word means a concept of its name.

Fitted, with the sample curriculum, to sentences written for it (`scripts/data/senses.jsonl`, CC0: a word, and whether
it is meant as mathematics) and to the rows of split `choose` of `tests/data/recognition.jsonl`; the rows of split
`held` are only reported. Figures are of whole sentences: concepts found, of those that the labels name.
"""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from graphmem.flows.overlay import read_senses
from graphmem.flows.world import read_world
from graphmem.model import Concept, Matrix, Vector
from graphmem.samples import SAMPLES
from graphmem.settings import Settings
from graphmem.text.concepts import ConceptNames, NamedSpan, Sense, longest
from graphmem.text.embedder import make_embedder
from graphmem.text.stems import stem

from .options import WRITTEN, Figures, Options, lines

LABELLED = Path(__file__).parents[2] / "tests" / "data" / "recognition.jsonl"
CHANCES = (0.3, 0.4, 0.5, 0.6)

Senses = dict[tuple[str, str], Sense]
Found = tuple[dict[str, Any], tuple[NamedSpan, ...], Vector]
"""A row, the names in it, and its vector."""


def make(given: Options) -> Figures:
    """Write `sense.json`: weights and bias."""
    rows = [*lines(LABELLED), *lines(WRITTEN / "senses.jsonl")]
    concepts = [concept for _, concept in read_world(SAMPLES / "mathematics" / "world.csv").concepts]
    names = ConceptNames(concepts)
    senses, vectors = asyncio.run(embedded(concepts, names, [row["text"] for row in rows]))
    found = [(row, longest(names.find(row["text"])), vector) for row, vector in zip(rows, vectors, strict=True)]
    x, y = [], []
    for row, mentions, vector in found:
        for mention in mentions:
            able = meant(mention, senses)
            if row.get("split") == "choose":
                x += [sense.features(vector) for sense in able.values()]
                y += [concept_id in row["concepts"] for concept_id in able]
            elif "meant" in row and stem(row["word"]) == stem(mention.word or ""):
                # Of several concepts of one name the likeliest is meant, or none.
                x.append(max((sense.features(vector) for sense in able.values()), default=(0.0, 0.0, 0.0, 0.0)))
                y.append(row["meant"])
    means, spread = np.mean(x, axis=0), np.std(x, axis=0)
    made = LogisticRegression(C=1.0).fit((np.array(x) - means) / spread, y)
    weights = made.coef_[0] / spread
    bias = float(made.intercept_[0] - weights @ means)
    kept = {"weights": [round(float(w), 4) for w in weights], "bias": round(bias, 4)}
    (given.folder / "sense.json").write_text(json.dumps(kept) + "\n")
    return {"labelled_names": len(y), "meant": sum(y)} | {
        f"{split}@{chance}": figures([each for each in found if each[0].get("split") == split], senses, chance)
        for split in ("choose", "held")
        for chance in CHANCES
    }


def meant(mention: NamedSpan, senses: Senses) -> dict[str, Sense]:
    """Return the senses by their concepts that a common word may have."""
    own = {i: senses[i, mention.word] for i in mention.concept_ids if mention.word is not None}
    return {i: sense for i, sense in own.items() if not sense.excludes(mention.is_verb)}


async def embedded(concepts: list[Concept], names: ConceptNames, texts: list[str]) -> tuple[Senses, Matrix]:
    """Return senses of the names, and vectors of the texts."""
    embedder = make_embedder(Settings())
    try:
        return await read_senses(embedder, concepts, names), await embedder.embed(texts)
    finally:
        await embedder.aclose()


def figures(found: Sequence[Found], senses: Senses, chance: float) -> dict[str, float]:
    """Return precision and recall of concepts, the likeliest of each name, from a chance on."""
    right = wrong = missed = 0
    for row, mentions, vector in found:
        told = set[str]()
        for mention in mentions:
            chances = {i: sense.chance(vector) for i, sense in meant(mention, senses).items()}
            best = max(chances, key=lambda i: chances[i], default=None)
            told |= set(mention.concept_ids) if mention.word is None else set()
            told |= {best} if best is not None and chances[best] >= chance else set()
        wanted = set(row["concepts"])
        right, wrong, missed = right + len(told & wanted), wrong + len(told - wanted), missed + len(wanted - told)
    return {"precision": round(right / (right + wrong), 3), "recall": round(right / (right + missed), 3)}
