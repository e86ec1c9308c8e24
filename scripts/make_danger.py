"""Make the network that tells danger from what only sounds like it: six layers of its own, trained further.

    pip install torch
    python scripts/make_danger.py --data DATA

To be run before `make_safety.py`, whose rows and split it shares (`DATA` is as there): it learns from what is there for
learning, and from what students said in whole chats in which nobody is in danger (`chats.jsonl`). It is trained further
from where it stands, in some six minutes on one core.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from layers import SEED, SMOOTHING, fit, of_like_length, typed
from pair_network import OwnLayers, Words, build
from safety_rows import Row, read_all
from torch import Tensor
from torch.nn import functional
from train.sources import lines

from graphmem.language.analysis import danger_odds
from graphmem.language.encoder import read_now
from graphmem.text.danger_network import CONCERNS, DANGER_FOLDER, URGENCIES

EPOCHS = 1
CHATS = Path(__file__).with_name("data") / "chats.jsonl"
HARMLESS = -3.5
"""The encoder's log odds of danger below which ordinary talk is not learned from: the network is not asked about it."""
TALK, SMALL_TALK = 600, 1_200
"""Messages of tutoring and of small talk that are learned from."""
JOINED, MOST_BESIDE = 3, 6
"""One example of a message among others of tutoring or small talk to so many rows, and the most beside it."""
LINKS = (". ", ". ", ". ", " ", " ... ", "! ")
"""What stands between them."""
URGENT_WORTH, OTHER_WORTH = 0.5, 0.3
"""How much urgency and whom it is about count beside the kind."""


def learned_from(rows: Sequence[Row]) -> list[Row]:
    """Rows to learn from: all that may look like danger, and some ordinary talk."""
    rng, rows = random.Random(SEED), [row for row in rows if row.part == "learn"]
    talk = [row for row in rows if row.source.startswith("talk")]
    small = [row for row in rows if row.source == "tiage"]
    plain = [row for row in rows if row.source == "ordinary"]
    rest = [row for row in rows if row.source not in ("tiage", "ordinary") and not row.source.startswith("talk")]
    rest += doubtful(plain + said_in_chats())
    return rest + rng.sample(talk, TALK) + rng.sample(small, min(SMALL_TALK, len(small)))


def said_in_chats() -> list[Row]:
    """What students said in whole chats, in which nobody is in danger."""
    said = [each for chat in lines(CHATS) for each in chat["messages"] if not each.startswith("#")]
    return [Row(each, "none", 0, "none", "chats", each) for each in said]


def doubtful(rows: Sequence[Row]) -> list[Row]:
    """Rows that may look like danger to the encoder."""
    read = read_now([row.text for row in rows])
    return [row for row, each in zip(rows, read, strict=True) if danger_odds(each.scores) >= HARMLESS]


def batches(rows: Sequence[Row], rng: random.Random) -> Iterator[list[tuple[str, Row]]]:
    """One epoch, in batches of like length: what is told alone, and within talk of a lesson or of a life."""
    ordinary = [row for row in rows if row.source == "tiage" or row.source.startswith("talk")]
    told = [row for row in rows if row.source not in ("tiage", "written")]
    items = [(typed(row.text, rng), row) for row in rows]
    for row in rng.sample(told, len(rows) // JOINED):
        texts = [each.text.rstrip(" .") for each in rng.sample(ordinary, rng.randint(1, MOST_BESIDE))]
        texts.insert(rng.randint(0, len(texts)), row.text.rstrip(" ."))
        items.append((typed(rng.choice(LINKS).join(texts), rng), row))
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
    torch.set_num_threads(1)
    rows = learned_from(read_all(args.data))
    print(f"{len(rows)} rows to learn from, {np.mean([row.urgency > 0 for row in rows]):.2f} of danger", flush=True)
    onnx.save(build(trained(rows, args.out / "model.onnx")), args.out / "model.onnx")


if __name__ == "__main__":
    main()
