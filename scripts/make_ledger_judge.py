"""Make the network that judges what belongs into the ledger: the encoder's upper layers, trained further.

    python scripts/make_ledger_judge.py --data DATA

To be run after `python -m scripts.train`, whose rows it learns from; `data/wishes.jsonl` tells wishes about style and
pace from orders that a student may not give and from what is no instruction. What is held out there is held out here;
figures lie beside the weights, in `figures.json`. The bounds in `ledger_model.py` were chosen on
`tests/data/ledger_labelled.jsonl` (split "dev"), on the rows held out and on what five LoCoMo talks made of them; that
of wishes on a dozen sentences of `tests/unit/test_ledger_judge.py`. Needs torch.
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
import torch
from layers import SEED, Network, Shared, build, fit, of_like_length, typed
from torch import Tensor
from train.graph import LAYERS, SHARED_LAYERS, Weights, constants_of, read_layers
from train.sources import all_rows

from graphmem.language.encoder import ENCODER_FOLDER, read_now
from graphmem.text.embedder import shipped_network
from graphmem.text.ledger_model import JUDGED, LEDGER_FOLDER, LedgerJudge, may_belong

WEIGHTS = {"entry": 2.0, "nothing": 1.0}
"""Weight of a row that belongs into the ledger, and of one that does not."""
EPOCHS = 6
ORDER = 4.0
"""Weight of an order: there are few, and to take one for a wish is worse than to miss one."""
SMOOTHED = 0.02
"""What is left for the other labels."""


class Row(NamedTuple):
    """A text, the places in `JUDGED` of what it may be (an instruction is a wish or an order), how much it counts."""

    text: str
    labels: tuple[int, ...]
    weight: float
    held_out: bool
    is_wish: bool

    @property
    def belongs(self) -> bool:
        return 0 not in self.labels


def read_rows(data: Path) -> Iterator[Row]:
    """Read the rows whose category is known."""
    for row in all_rows(data):
        label = row.labels.get("ledger")
        labels = (label,) if isinstance(label, int) else label if isinstance(label, tuple) and len(label) == 2 else ()
        if labels:
            weight = ORDER if labels == (JUDGED.index("order"),) else WEIGHTS["entry" if 0 not in labels else "nothing"]
            yield Row(row.text, labels, weight, row.held, row.origin == "wishes")


def batches(rows: Sequence[Row], rng: random.Random) -> Iterator[list[tuple[str, Row]]]:
    """One epoch, as it might be typed, in batches of like length."""
    return of_like_length([(typed(row.text, rng), row) for row in rows], rng)


def trained(rows: Sequence[Row], shared: Shared) -> Network:
    torch.manual_seed(SEED)
    w: Weights = read_layers(constants_of(ENCODER_FOLDER / "model.onnx"), range(SHARED_LAYERS, LAYERS))
    network = Network(w, len(JUDGED))

    def error(items: Sequence[tuple[str, Row]]) -> Tensor:
        allowed = torch.full((len(items), len(JUDGED)), SMOOTHED / len(JUDGED))
        for i, (_, row) in enumerate(items):
            allowed[i, list(row.labels)] = 1.0
        weights = torch.tensor([row.weight for _, row in items])
        shares = network(*shared([text for text, _ in items])).softmax(1)
        return -(torch.log((shares * allowed).sum(1)) * weights).sum() / weights.sum()

    fit(network, EPOCHS, lambda rng: batches(rows, rng), error)
    return network


def entries(judge: LedgerJudge, rows: Sequence[Row]) -> dict[str, float]:
    """Precision and recall over the categories, both models together; danger is told by its own detector."""
    rows = [row for row in rows if row.labels != (JUDGED.index("threat"),)]
    told = [
        judge.category(row.text) if may_belong(reading.scores) else None
        for row, reading in zip(rows, read_now([row.text for row in rows]), strict=True)
    ]
    names = ["instruction" if len(r.labels) > 1 else JUDGED[r.labels[0]] for r in rows]
    right = sum(t is not None and t.value == name for t, name in zip(told, names, strict=True))
    kept, wanted = sum(t is not None for t in told), sum(r.belongs for r in rows)
    return {
        "rows": len(rows),
        "entries": wanted,
        "precision": round(right / kept, 3),
        "recall": round(right / wanted, 3),
        "kept of nothing": round(
            sum(t is not None for t, r in zip(told, rows, strict=True) if not r.belongs) / (len(rows) - wanted), 3
        ),
    }


def of_wishes(judge: LedgerJudge, rows: Sequence[Row]) -> dict[str, float]:
    """How well wishes, orders and what is no instruction are told apart."""
    kinds = np.array([JUDGED[row.labels[0]] if len(row.labels) == 1 else "none" for row in rows])
    wish = np.array([judge.is_wish(row.text) for row in rows])
    instructs = np.array([judge.category(row.text) is not None for row in rows])
    return {
        "rows": len(rows),
        "wishes taken": round(float(wish[kinds == "wish"].mean()), 3),
        "orders taken for wishes": round(float(wish[kinds == "order"].mean()), 3),
        "others taken for wishes": round(float(wish[kinds == "none"].mean()), 3),
        "others kept": round(float(instructs[kinds == "none"].mean()), 3),
        "instructions lost": round(1 - float(instructs[kinds != "none"].mean()), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of understanding, tutoring and boundaries")
    parser.add_argument("--out", type=Path, default=LEDGER_FOLDER, help="folder to write to")
    args = parser.parse_args()
    torch.set_num_threads(2)
    rows = list(read_rows(args.data))
    learned = [row for row in rows if not row.held_out]
    print(f"{len(learned)} rows to learn from", flush=True)
    network = trained(learned, Shared())
    weight, bias = (each.detach().numpy() for each in (network.head.weight, network.head.bias))
    args.out.mkdir(parents=True, exist_ok=True)
    onnx.save(build(network.weights(), weight, bias), args.out / "model.onnx")
    judge = LedgerJudge(shipped_network(2), 2, args.out)
    apart, talk = [[r for r in rows if r.held_out and r.is_wish == wish] for wish in (False, True)]
    found = {"learned from": len(learned), "held out": entries(judge, apart), "wishes": of_wishes(judge, talk)}
    (args.out / "figures.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
