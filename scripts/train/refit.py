"""Fit single heads of the encoder anew, by logistic regression on what its tower sees; the others stay as they are."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from graphmem.bench.talks import is_held_out
from graphmem.language.analysis import MessageAnalysis
from graphmem.language.encoder import ENCODER_FOLDER, encoder_network, turn_of_work
from graphmem.language.heads import MESSAGE, SHOWN
from graphmem.text.networks import opened_weights

from .graph import Array
from .options import WRITTEN as DATA
from .options import lines
from .sources import TUTORING, Row

STRENGTH, PLAIN_STRENGTH, SHOWN_STRENGTH = {"act": 0.03}, 0.001, 0.001
"""Of the weights: of heads with many rows, of the others, of what turns of work show."""
REAL = 3.0
"""How much a turn of real talk counts, of which there are few."""
UNSEEN = -9.0
"""Bias of a label that no row has."""
OF_WORK = {"nothing": 0, "wrong": 1, "mended": 2, "right": 2}
"""Place in `SHOWN` of what a turn of `turns_of_work.jsonl` shows."""
NO_WORK = ("disclosures", "talk", "chats", "tiage_train", "personal", "school_talk")
ORDINARY = 1000
"""Turns of ordinary talk that show nothing."""
ALONE = 0.5
"""How much a turn counts that is read without the reply to it."""


def refit(rows: Sequence[Row], head: str) -> None:
    """Fit one head on the rows that have one label of it and are not held out, and write it."""
    own = [row for row in rows if not row.held and isinstance(row.labels.get(head), int | float)]
    weights = [REAL if row.origin in ("tiage_train", *TUTORING) else 1.0 for row in own]
    x, labels = np.stack([encoder_network().analyse(row.text).seen for row in own]), [row.labels[head] for row in own]
    weight, bias = fitted(x, labels, weights, STRENGTH.get(head, PLAIN_STRENGTH), len(MESSAGE.heads[head].labels))
    arrays, place = _arrays(), MESSAGE.places[head]
    arrays["message"][place], arrays["message_bias"][place] = weight, bias
    _write(arrays)


def refit_shown(rows: Sequence[Row]) -> None:
    """Fit the head of `SHOWN`, on turns of work with and without the reply, and on ordinary talk; write it."""
    turns = [each for each in lines(DATA / "turns_of_work.jsonl") if not is_held_out(each["dialogue"])]
    read = encoder_network().analyse
    replies = [read(each["reply"]) if each["reply"].strip() else None for each in turns]
    features, labels, weights = list[Array](), list[int](), list[float]()

    def add(turn: MessageAnalysis, reply: MessageAnalysis | None, label: int, weight: float = 1.0) -> None:
        features.append(turn_of_work(turn, reply))
        labels.append(label)
        weights.append(weight)

    for each, reply in zip(turns, replies, strict=True):
        turn = read(each["text"])
        add(turn, reply, OF_WORK[each["shown"]])
        if reply is not None:
            add(turn, None, OF_WORK[each["shown"]], ALONE)
    rng = random.Random(0)
    ordinary = [row for row in rows if not row.held and row.origin in NO_WORK]
    for i, row in enumerate(rng.sample(ordinary, min(ORDINARY, len(ordinary)))):
        add(read(row.text), rng.choice(replies) if i % 2 else None, 0)
    weight, bias = fitted(np.stack(features), labels, weights, SHOWN_STRENGTH, len(SHOWN))
    _write({**_arrays(), "shown": weight, "shown_bias": bias})


def fitted(
    x: Array, labels: Sequence[Any], weights: Sequence[float], strength: float, count: int
) -> tuple[Array, Array]:
    """Return weight and bias of a logistic regression of so many labels."""
    scale = x.std(0) + 1e-3
    model = LogisticRegression(C=strength, max_iter=500).fit(x / scale, labels, weights)
    if count == 1:
        return (model.coef_ / scale).astype(np.float32), model.intercept_.astype(np.float32)
    weight, bias = np.zeros((count, x.shape[1]), np.float32), np.full(count, UNSEEN, np.float32)
    weight[model.classes_], bias[model.classes_] = model.coef_ / scale, model.intercept_
    return weight, bias


def _arrays() -> dict[str, NDArray[Any]]:
    with opened_weights(ENCODER_FOLDER / "heads.npz") as file:
        return {name: file[name] for name in file.files}


def _write(arrays: dict[str, NDArray[Any]]) -> None:
    np.savez_compressed(ENCODER_FOLDER / "heads.npz", **arrays)  # type: ignore[arg-type]
    encoder_network.cache_clear()
