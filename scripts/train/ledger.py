"""The network that judges what belongs into the ledger: the encoder's upper layers, trained further.

To be made after the encoder, whose rows it learns from; `wishes.jsonl` tells wishes about style and pace from orders
that a student may not give and from what is no instruction. What is held out there is held out here. The bounds in
`ledger_model.py` were chosen on `tests/data/ledger_labelled.jsonl` (split "dev"), on the rows held out and on what five
LoCoMo talks made of them; that of wishes on a dozen sentences of `tests/unit/test_ledger_judge.py`.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
import torch
from torch import Tensor

from graphmem.bench.scores import macro_f1
from graphmem.language.encoder import ENCODER_FOLDER, read_now
from graphmem.text.embedder import shipped_network
from graphmem.text.reminders import JUDGED, LedgerJudge, may_belong

from .graph import LAYERS, SHARED_LAYERS, constants_of, read_layers
from .networks import Shared, UpperLayers
from .options import Figures, Options
from .sources import all_rows
from .tower import SEED, fit, of_like_length, typed

WEIGHTS = {"entry": 2.0, "nothing": 1.0}
"""Weight of a row that belongs into the ledger, and of one that does not."""
EPOCHS = 6
ORDER = 4.0
"""Weight of an order: there are few, and to take one for a wish is worse than to miss one."""
SMOOTHED = 0.02
"""What is left for the other labels."""
JOINTS = (" and ", ", ", " so ", " but ", ", anyway ", " then ")
"""What stands between an entry and the talk beside it, in one statement."""
BESIDE_WORDS = 12
"""Words of the longest talk beside it."""


class Row(NamedTuple):
    """A text, the places in `JUDGED` of what it may be (an instruction is a wish or an order), how much it counts."""

    text: str
    labels: tuple[int, ...]
    weight: float
    held_out: bool
    is_wish: bool


def make(given: Options) -> Figures:
    """Train the network."""
    rows, rng = list(read_rows(given.data)), random.Random(SEED)
    learned = [row for row in rows if not row.held_out]
    learned += within_talk(learned, rng)
    torch.manual_seed(SEED)
    w = read_layers(constants_of(ENCODER_FOLDER / "model.onnx"), range(SHARED_LAYERS, LAYERS))
    network, shared = UpperLayers(w, len(JUDGED)), Shared()

    def error(items: Sequence[tuple[str, Row]]) -> Tensor:
        allowed = torch.full((len(items), len(JUDGED)), SMOOTHED / len(JUDGED))
        for i, (_, row) in enumerate(items):
            allowed[i, list(row.labels)] = 1.0
        weights = torch.tensor([row.weight for _, row in items])
        shares = network(*shared([text for text, _ in items])).softmax(1)
        return -(torch.log((shares * allowed).sum(1)) * weights).sum() / weights.sum()

    order = [list(of_like_length([(typed(row.text, rng), row) for row in learned], rng)) for _ in range(EPOCHS)]
    fit(network, network.groups(network.head), order, error)
    onnx.save(network.model(), given.folder / "model.onnx")
    judge = LedgerJudge(shipped_network(2), 2, given.folder)
    apart, wishes = [[r for r in rows if r.held_out and r.is_wish == wish] for wish in (False, True)]
    return {"learned from": len(learned), "held out": entries(judge, apart), "wishes": of_wishes(judge, wishes)}


def read_rows(data: Path) -> Iterator[Row]:
    """Yield the rows whose category is known."""
    for row in all_rows(data):
        label = row.labels.get("ledger")
        labels = (label,) if isinstance(label, int) else label if isinstance(label, tuple) else ()
        is_wish = row.origin == "wishes"
        if labels and (len(labels) <= 2 or is_wish):
            weight = ORDER if labels == (JUDGED.index("order"),) else WEIGHTS["entry" if 0 not in labels else "nothing"]
            yield Row(row.text, labels, weight, row.held, is_wish)


def within_talk(rows: Sequence[Row], rng: random.Random) -> list[Row]:
    """Return each entry that is no danger and no instruction beside talk, and as many pairs of talk that are none."""
    talk = [row for row in rows if row.labels == (0,) and len(row.text.split()) <= BESIDE_WORDS]
    found: list[Row] = []
    apart = {JUDGED.index(name) for name in ("none", "threat", "wish", "order")}
    for row in (row for row in rows if not apart & set(row.labels)):
        for told in (row, rng.choice(talk)):
            texts = [told.text.rstrip(" ."), rng.choice(talk).text.rstrip(" .")]
            rng.shuffle(texts)
            found.append(told._replace(text=rng.choice(JOINTS).join(texts)))
    return found


def entries(judge: LedgerJudge, rows: Sequence[Row]) -> dict[str, float]:
    """Return precision and recall over the categories, both models together; danger is told by its own detector."""
    rows = [row for row in rows if row.labels != (JUDGED.index("threat"),)]
    readings = read_now([row.text for row in rows])
    told = [judge.category(r.text) if may_belong(each.scores) else None for r, each in zip(rows, readings, strict=True)]
    names = ["instruction" if JUDGED[r.labels[-1]] in ("wish", "order") else JUDGED[r.labels[0]] for r in rows]
    kept, belongs = np.array([t is not None for t in told]), np.array([0 not in r.labels for r in rows])
    pairs = [(name, "none" if t is None else t.value) for t, name in zip(told, names, strict=True)]
    right = sum(name == given != "none" for name, given in pairs)
    return {
        "rows": len(rows),
        "entries": int(belongs.sum()),
        "precision": round(right / kept.sum(), 3),
        "recall": round(right / belongs.sum(), 3),
        "macro f1": round(macro_f1(pairs), 3),
        "kept of nothing": round(float(kept[~belongs].mean()), 3),
    }


def of_wishes(judge: LedgerJudge, rows: Sequence[Row]) -> dict[str, float]:
    """Return how well wishes, orders and what is no instruction are told apart."""
    kinds = np.array([JUDGED[row.labels[0]] if len(row.labels) == 1 else "none" for row in rows])
    wish = np.array([judge.is_wish(row.text) for row in rows])
    instructs = np.array([judge.category(row.text) is not None for row in rows])
    return {"rows": len(rows)} | {
        name: round(float(share), 3)
        for name, share in {
            "wishes taken": wish[kinds == "wish"].mean(),
            "orders taken for wishes": wish[kinds == "order"].mean(),
            "others taken for wishes": wish[kinds == "none"].mean(),
            "others kept": instructs[kinds == "none"].mean(),
            "instructions lost": 1 - instructs[kinds != "none"].mean(),
        }.items()
    }
