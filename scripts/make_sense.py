"""Make the weights that tell whether a common word means a concept of its name.

    python scripts/make_sense.py

Fitted, with the sample curriculum, to sentences written for it (`scripts/data/senses.jsonl`, CC0: a word, and whether
it is meant as mathematics) and to the rows of split `choose` of `tests/data/recognition.jsonl`; the rows of split
`held` are only reported. Figures are of whole sentences: concepts found, of those that the labels name.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from graphmem.flows.fog import read_senses
from graphmem.flows.world import read_world
from graphmem.model import Concept, Matrix
from graphmem.samples import SAMPLES
from graphmem.settings import Settings
from graphmem.text.concepts import ConceptNames, NamedSpan, longest
from graphmem.text.embedder import make_embedder
from graphmem.text.senses import SENSE_FILE, Sense
from graphmem.text.stems import stem

WRITTEN = Path(__file__).parent / "data" / "senses.jsonl"
LABELLED = Path(__file__).parents[1] / "tests" / "data" / "recognition.jsonl"
CHANCES = (0.3, 0.4, 0.5, 0.6)

Senses = dict[tuple[str, str], Sense]


async def embedded(concepts: list[Concept], names: ConceptNames, texts: list[str]) -> tuple[Senses, Matrix]:
    """Senses of the names, and vectors of the texts."""
    embedder = make_embedder(Settings())
    try:
        return await read_senses(embedder, concepts, names), await embedder.embed(texts)
    finally:
        await embedder.aclose()


def figures(
    rows: list[dict[str, Any]], found: list[tuple[NamedSpan, ...]], vectors: Matrix, senses: Senses, chance: float
) -> dict[str, float]:
    """Precision and recall of concepts, the likeliest of each name, from a chance on."""
    right = wrong = missed = 0
    for row, mentions, vector in zip(rows, found, vectors, strict=True):
        told = set()
        for mention in mentions:
            if mention.word is None:
                told |= set(mention.concept_ids)
                continue
            able = [i for i in mention.concept_ids if not senses[i, mention.word].excludes(mention.is_verb)]
            chances = {i: senses[i, mention.word].chance(vector) for i in able}
            if not chances:
                continue
            best = max(chances, key=lambda i: chances[i])
            told |= {best} if chances[best] >= chance else set()
        wanted = set(row["concepts"])
        right, wrong, missed = right + len(told & wanted), wrong + len(told - wanted), missed + len(wanted - told)
    return {"precision": round(right / (right + wrong), 3), "recall": round(right / (right + missed), 3)}


def lines(path: Path) -> list[dict[str, Any]]:
    """Rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def main() -> None:
    rows, written = lines(LABELLED), lines(WRITTEN)
    concepts = [concept for _, concept in read_world(SAMPLES / "mathematics" / "world.csv").concepts]
    names = ConceptNames(concepts)
    texts = [row["text"] for row in (*rows, *written)]
    senses, vectors = asyncio.run(embedded(concepts, names, texts))
    found = [longest(names.find(text)) for text in texts]
    x, y = [], []
    for row, mentions, vector in zip((*rows, *written), found, vectors, strict=True):
        for mention in mentions:
            told = [(i, senses[i, mention.word]) for i in mention.concept_ids if mention.word is not None]
            told = [(i, sense) for i, sense in told if not sense.excludes(mention.is_verb)]
            if "meant" not in row and row["split"] == "choose":
                x += [sense.features(vector) for _, sense in told]
                y += [concept_id in row["concepts"] for concept_id, _ in told]
            elif "meant" in row and stem(row["word"]) == stem(mention.word or ""):
                # Of several concepts of one name the likeliest is meant, or none.
                x.append(max((sense.features(vector) for _, sense in told), default=(0.0, 0.0, 0.0, 0.0)))
                y.append(row["meant"])
    means, spread = np.mean(x, axis=0), np.std(x, axis=0)
    made = LogisticRegression(C=1.0).fit((np.array(x) - means) / spread, y)
    weights = made.coef_[0] / spread
    bias = float(made.intercept_[0] - weights @ means)
    SENSE_FILE.parent.mkdir(parents=True, exist_ok=True)
    SENSE_FILE.write_text(json.dumps({"weights": [round(float(w), 4) for w in weights], "bias": round(bias, 4)}) + "\n")
    report: dict[str, Any] = {"labelled_names": len(y), "meant": sum(y)}
    for split in ("choose", "held"):
        kept = [i for i, row in enumerate(rows) if row["split"] == split]
        for chance in CHANCES:
            some = [rows[i] for i in kept], [found[i] for i in kept], vectors[kept]
            report[f"{split}@{chance}"] = figures(*some, senses, chance)
    SENSE_FILE.with_name("figures.json").write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
