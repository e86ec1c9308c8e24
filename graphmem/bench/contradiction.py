"""Contradictions between two statements of one person (spec 12, Measured by).

A file holds one pair a line. Of five classes: `old`, `new`, `class`, `retire_old`; of real talk: `text_a`, `text_b` and
`label` (`contradiction` or `none`). Pairs that the shipped network was trained on are left out.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import matthews_corrcoef, precision_recall_fscore_support

from graphmem.bench import Figures
from graphmem.bench.scores import auroc, macro_f1
from graphmem.bench.talks import parsed_rows, untouched
from graphmem.errors import InvalidInput
from graphmem.model import PairClass
from graphmem.progress import tracked
from graphmem.samples import SAMPLES
from graphmem.settings import Settings
from graphmem.text.affect import load_affect
from graphmem.text.contradiction import CONTRADICTION_FOLDER, ENDED_FOR_SURE, PairReading, load_contradiction_network
from graphmem.text.doc import Doc
from graphmem.text.embedder import shipped_network

PAIRS = SAMPLES / "contradiction" / "pairs.jsonl"
RULE_COSINE, RULE_VALENCE = 0.5, 0.1
"""The plain rule beside it: likeness, and another negation or the opposite feeling."""
CLASH = 0.5
"""Chance from which two statements clash."""
RETIRING_RECALLS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
"""Recalls at which the precision of retiring is reported."""
PRECISE = 0.85
"""Precision that retiring the older statement is wanted with."""


def measure_contradiction(_: Settings, file: Path | None) -> Figures:
    """Return figures of a file, or of the held-out pairs that ship.

    Returns
    -------
    of five classes `macro_f1`, `retire_precision` and the like; of two `precision`, `recall`, `f1`, `mcc`, also of the
    plain rule

    Raises
    ------
    InvalidInput    another format, or nothing is left to measure
    """
    place = file or PAIRS
    every = parsed_rows(place, _pair, "old, new, class, retire_old, or text_a, text_b, label are")
    rows = untouched(every, lambda row: row[0], CONTRADICTION_FOLDER / "trained.npy")
    pairs, labels, ended = [pair for pair, *_ in rows], [label for _, label, _ in rows], [end for *_, end in rows]
    if len(set(labels)) < 2 or len(set(map(type, labels))) > 1:
        raise InvalidInput(f"{place} holds no two classes of pairs that are new.")
    readings = load_contradiction_network().read(pairs)
    if all(isinstance(label, PairClass) for label in labels):
        return pair_figures(readings, [PairClass(label) for label in labels], ended) | {"pairs": len(rows)}
    clash = [label == "contradiction" for label in labels]
    by_name = {"": [reading.clash for reading in readings], "rule_": by_rule(pairs)}
    figures = {f"{b}{k}": v for b, chances in by_name.items() for k, v in contradiction_figures(chances, clash).items()}
    return figures | {"pairs": len(rows)}


def _pair(row: dict[str, Any]) -> tuple[tuple[str, str], str, bool]:
    """Return the statements of a pair, its label, of five classes a `PairClass`, and whether the older one ends."""
    if "old" in row:
        return (str(row["old"]), str(row["new"])), PairClass(row["class"]), bool(row.get("retire_old"))
    return (str(row["text_a"]), str(row["text_b"])), str(row["label"]), False


def by_rule(pairs: Sequence[tuple[str, str]]) -> list[float]:
    """1 where the plain rule finds a contradiction, else 0."""
    network, affect, found = shipped_network(1), load_affect(), []
    for texts in tracked(pairs, "Plain rule"):
        vectors, docs = network.encode(list(texts)), [Doc(text) for text in texts]
        valences = [affect.valence(doc, vector) for doc, vector in zip(docs, vectors, strict=True)]
        opposite = valences[0] * valences[1] < 0 and abs(valences[0] - valences[1]) > RULE_VALENCE
        near = float(vectors[0] @ vectors[1]) > RULE_COSINE
        found.append(float(near and (opposite or docs[0].negates != docs[1].negates)))
    return found


def contradiction_figures(chances: Sequence[float], truth: Sequence[bool]) -> Figures:
    """Precision, recall, F1, Matthews correlation and AUROC of telling contradictions.

    Examples
    --------
    >>> figures = contradiction_figures([0.9, 0.2, 0.7, 0.1], [True, True, False, False])
    >>> figures["precision"], figures["recall"], figures["mcc"]
    (0.5, 0.5, 0.0)
    """
    found, wanted = np.array(chances) >= CLASH, np.array(truth)
    scores = precision_recall_fscore_support(wanted, found, average="binary", zero_division=0.0)[:3]
    return dict(zip(("precision", "recall", "f1"), map(float, scores), strict=True)) | {
        "mcc": float(matthews_corrcoef(wanted, found)),
        "auroc": auroc(list(chances), list(truth)),
    }


def pair_figures(readings: Sequence[PairReading], truth: Sequence[PairClass], ended: Sequence[bool]) -> Figures:
    """Macro F1 of five classes, and how precisely the older statement is retired: as used, and along the curve."""
    guesses = [reading.likely for reading in readings]
    chances, wanted = np.array([reading.ended for reading in readings]), np.array(ended)
    retired = chances >= ENDED_FOR_SURE
    hits = np.cumsum(wanted[np.argsort(-chances)])
    precision, recall = hits / np.arange(1, len(wanted) + 1), hits / max(1, wanted.sum())
    precise = precision >= PRECISE
    compatible = np.array([kind is PairClass.COMPATIBLE for kind in truth])
    majority = max(PairClass, key=list(truth).count)
    return {
        "macro_f1": macro_f1(list(zip(truth, guesses, strict=True)), list(PairClass)),
        "accuracy": float(np.mean([g is t for g, t in zip(guesses, truth, strict=True)])),
        "majority_f1": macro_f1([(each, majority) for each in truth], list(PairClass)),
        "retire_precision": float(wanted[retired].mean()) if retired.any() else 0.0,
        "retire_recall": float(retired[wanted].mean()) if wanted.any() else 0.0,
        "retire_auroc": auroc(chances.tolist(), list(ended)),
        "retire_recall_at_85": float(recall[precise].max()) if precise.any() else 0.0,
        **{f"retire_precision@{at}": float(precision[recall >= at].max(initial=0.0)) for at in RETIRING_RECALLS},
        "compatible_retired": float(retired[compatible].mean()) if compatible.any() else 0.0,
    }
