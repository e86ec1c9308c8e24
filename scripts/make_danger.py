"""Make the network that tells danger from what only sounds like it: the reader's upper layers, trained further.

    pip install torch
    python scripts/make_danger.py --data DATA

To be run between `make_reader.py` and `make_safety.py`, whose rows and split it shares (`DATA` is as there): it learns
from what is there for learning. The lower layers stay those of the embedder.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from make_embedder import Array, Weights
from make_reader import SEED, SMOOTHING, Network, Shared, build, fit, of_like_length, read_built, typed
from make_safety import Row, read_all
from torch import Tensor
from torch.nn import functional

from graphmem.text.danger_network import DANGER_ANSWERS, DANGER_FOLDER, URGENCIES
from graphmem.text.reader import CONCERNS, HEADS, READER_FOLDER, read_now

EPOCHS = 4
_NUMBERS = np.split(np.arange(sum(HEADS.values())), np.cumsum(list(HEADS.values()))[:-1])
_OF = dict(zip(HEADS, _NUMBERS, strict=True))
ASKED = np.concatenate([_OF["concern"], _OF["urgency"][1:], _OF["about_other"]])
"""The reader's numbers that answer the same questions."""
HARMLESS = -1.0
"""The reader's log odds of danger below which ordinary talk is not learned from: the network is not asked about it."""
TALK, SMALL_TALK = 600, 1_200
"""Messages of tutoring and of small talk that are learned from."""
JOINED = 14
"""One example that joins a message of tutoring or small talk with another to so many rows."""
URGENT_WORTH, OTHER_WORTH = 0.5, 0.3
"""How much urgency and whom it is about count beside the kind."""


class DangerLayers(Network):
    """Upper layers and head begin as the reader's, for the questions that both answer."""

    def __init__(self, w: Weights, weight: Array, bias: Array) -> None:
        super().__init__(w, DANGER_ANSWERS)
        self.head.load_state_dict({"weight": torch.tensor(weight[ASKED]), "bias": torch.tensor(bias[ASKED])})


def learned_from(rows: Sequence[Row]) -> list[Row]:
    """Rows to learn from: all that may look like danger, and some ordinary talk."""
    rng, rows = random.Random(SEED), [row for row in rows if row.part == "learn"]
    talk = [row for row in rows if row.source.startswith("talk")]
    small = [row for row in rows if row.source == "tiage"]
    plain = [row for row in rows if row.source == "ordinary"]
    readings = read_now([row.text for row in plain])
    rest = [row for row in rows if row.source not in ("tiage", "ordinary") and not row.source.startswith("talk")]
    rest += [row for row, reading in zip(plain, readings, strict=True) if reading.danger_logit >= HARMLESS]
    return rest + rng.sample(talk, TALK) + rng.sample(small, min(SMALL_TALK, len(small)))


def batches(rows: Sequence[Row], rng: random.Random) -> Iterator[list[tuple[str, Row]]]:
    """One epoch, in batches of like length."""
    ordinary = [row for row in rows if row.source == "tiage" or row.source.startswith("talk")]
    other = [row for row in rows if row.source not in ("tiage", "written")]
    items = [(typed(row.text, rng), row) for row in rows]
    for _ in range(len(rows) // JOINED):
        said, told = rng.choice(ordinary), rng.choice(other)
        texts = [said.text.rstrip(), told.text][:: rng.choice((1, 1, -1))]
        items.append((typed(rng.choice((" ", ". ", " ... ")).join(texts), rng), told))
    return of_like_length(items, rng)


def loss(output: Tensor, rows: Sequence[Row]) -> Tensor:
    kinds = torch.tensor([CONCERNS.index(row.concern) for row in rows])
    total = functional.cross_entropy(output[:, : len(CONCERNS)], kinds, label_smoothing=SMOOTHING)
    danger = [i for i, row in enumerate(rows) if row.urgency]
    if not danger:
        return total
    urgency = torch.tensor([rows[i].urgency - 1 for i in danger])
    other = torch.tensor([float(rows[i].who == "other") for i in danger])
    part = output[danger][:, len(CONCERNS) :]
    share = len(danger) / len(rows)
    total = total + share * URGENT_WORTH * functional.cross_entropy(part[:, :URGENCIES], urgency)
    return total + share * OTHER_WORTH * functional.binary_cross_entropy_with_logits(part[:, -1], other)


def trained(rows: Sequence[Row], shared: Shared) -> DangerLayers:
    torch.manual_seed(SEED)
    network = DangerLayers(*read_built(READER_FOLDER / "model.onnx"))

    def error(items: Sequence[tuple[str, Row]]) -> Tensor:
        return loss(network(*shared([text for text, _ in items])), [row for _, row in items])

    fit(network, EPOCHS, lambda rng: batches(rows, rng), error)
    return network


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=DANGER_FOLDER, help="folder to write to")
    args = parser.parse_args()
    torch.set_num_threads(2)
    rows = learned_from(read_all(args.data))
    print(f"{len(rows)} rows to learn from, {np.mean([row.urgency > 0 for row in rows]):.2f} of danger", flush=True)
    network = trained(rows, Shared())
    weight, bias = (part.detach().numpy() for part in (network.head.weight, network.head.bias))
    args.out.mkdir(parents=True, exist_ok=True)
    onnx.save(build(network.weights(), weight, bias), args.out / "model.onnx")


if __name__ == "__main__":
    main()
