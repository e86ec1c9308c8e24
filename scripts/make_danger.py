"""Make the network that tells danger from what only sounds like it: six layers of its own, trained further.

    pip install torch
    python scripts/make_danger.py --data DATA

To be run between `make_reader.py` and `make_safety.py`, whose rows and split it shares (`DATA` is as there): it learns
from what is there for learning, and from what students said in whole chats in which nobody is in danger
(`chats.jsonl`). It is trained further from where it stands.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from make_reader import SEED, SMOOTHING, fit, lines, of_like_length, typed
from make_safety import Row, read_all
from pair_network import OwnLayers, Words, build
from torch import Tensor
from torch.nn import functional

from graphmem.text.danger_network import DANGER_FOLDER, URGENCIES
from graphmem.text.reader import CONCERNS, passage_readings

EPOCHS = 3
CHATS = Path(__file__).with_name("data") / "chats.jsonl"
HARMLESS = -1.0
"""The reader's log odds of danger below which ordinary talk is not learned from: the network is not asked about it."""
TALK, SMALL_TALK = 600, 1_200
"""Messages of tutoring and of small talk that are learned from."""
JOINED = 14
"""One example that joins a message of tutoring or small talk with another to so many rows."""
URGENT_WORTH, OTHER_WORTH = 0.5, 0.3
"""How much urgency and whom it is about count beside the kind."""


def learned_from(rows: Sequence[Row]) -> list[Row]:
    """Rows to learn from: all that may look like danger, and some ordinary talk."""
    rng, rows = random.Random(SEED), [row for row in rows if row.part == "learn"]
    talk = [row for row in rows if row.source.startswith("talk")]
    small = [row for row in rows if row.source == "tiage"]
    plain = [row for row in rows if row.source == "ordinary"]
    readings = passage_readings([row.text for row in plain])
    rest = [row for row in rows if row.source not in ("tiage", "ordinary") and not row.source.startswith("talk")]
    rest += [row for row, reading in zip(plain, readings, strict=True) if reading.danger_logit >= HARMLESS]
    rest += said_in_chats()
    return rest + rng.sample(talk, TALK) + rng.sample(small, min(SMALL_TALK, len(small)))


def said_in_chats() -> list[Row]:
    """What students said in whole chats, as far as it may look like danger."""
    said = [each for chat in lines(CHATS) for each in chat["messages"] if not each.startswith("#")]
    readings = zip(said, passage_readings(said), strict=True)
    return [Row(each, "none", 0, "none", "chats", each) for each, read in readings if read.danger_logit >= HARMLESS]


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


def trained(rows: Sequence[Row], path: Path) -> OwnLayers:
    torch.manual_seed(SEED)
    network, words = OwnLayers(path), Words()

    def error(items: Sequence[tuple[str, Row]]) -> Tensor:
        return loss(network(*words([(text, None) for text, _ in items])), [row for _, row in items])

    fit(network, EPOCHS, lambda rng: batches(rows, rng), error)
    return network


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=DANGER_FOLDER, help="folder of the network")
    args = parser.parse_args()
    torch.set_num_threads(2)
    rows = learned_from(read_all(args.data))
    print(f"{len(rows)} rows to learn from, {np.mean([row.urgency > 0 for row in rows]):.2f} of danger", flush=True)
    onnx.save(build(trained(rows, args.out / "model.onnx")), args.out / "model.onnx")


if __name__ == "__main__":
    main()
