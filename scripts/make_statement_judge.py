"""Make the judge of statements: six layers of its own, trained further on statements judged one by one.

    pip install torch
    python scripts/make_statement_judge.py

It is trained further from where it stands. `data/statements.jsonl` holds statements as they are formed from talk, or
picked for a summary, with a verdict; `data/summaries.jsonl` sentences of summaries, good and bad ones side by side, and
those that were made of long chats; `data/needs.jsonl` what students tell of how they learn;
`data/alone.jsonl` sentences, quoted or retold, that stand alone or do not. One group in five (`is_held_out`) is
not learned from, nor are the dialogues of TIAGE's development part and the long chats (to learn from them was tried: no
better); figures lie beside the weights.
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
from make_embedder import Array
from make_reader import SEED, SMOOTHING, fit, of_like_length
from pair_network import OwnLayers, Words, build
from torch import Tensor
from torch.nn import functional

from graphmem.bench.scores import auroc
from graphmem.bench.talks import is_held_out
from graphmem.text.statement_judge import JUDGE_FOLDER, VERDICTS

STATEMENTS = tuple(
    Path(__file__).with_name("data") / f"{name}.jsonl" for name in ("statements", "summaries", "needs", "alone")
)
REPORTED = {"tiage_dev": "development chats", "chats": "long chats"}
"""Sources that nothing is learned from."""
HELD_OUT = {"summaries": "held-out summaries", "needs": "held-out needs", "alone": "held-out quotes"}
"""Sources that are reported by themselves."""
EPOCHS = 6
RECALLS = (0.95, 0.9, 0.8)


class Statement(NamedTuple):
    """A statement with its verdict."""

    text: str
    verdict: int
    source: str
    group: str

    @property
    def part(self) -> str:
        if self.source in REPORTED:
            return REPORTED[self.source]
        if not is_held_out(self.group):
            return "learn"
        return HELD_OUT.get(self.source, "held out")


def read_statements(paths: Sequence[Path]) -> list[Statement]:
    rows = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
    return [Statement(r["text"], VERDICTS.index(r["verdict"]), r["source"], r["group"]) for r in rows]


def batches(rows: Sequence[Statement], rng: random.Random) -> Iterator[list[tuple[str, Statement]]]:
    """One epoch, in batches of like length."""
    return of_like_length([(row.text, row) for row in rows], rng)


def trained(rows: Sequence[Statement], words: Words, path: Path) -> OwnLayers:
    torch.manual_seed(SEED)
    network = OwnLayers(path)

    def error(items: Sequence[tuple[str, Statement]]) -> Tensor:
        verdicts = torch.tensor([row.verdict for _, row in items])
        output = network(*words([(text, None) for text, _ in items]))
        good = functional.binary_cross_entropy(output.softmax(1)[:, 0], (verdicts == 0).float())
        return good + functional.cross_entropy(output, verdicts, label_smoothing=SMOOTHING)

    fit(network, EPOCHS, lambda rng: batches(rows, rng), error)
    return network


def outputs(network: OwnLayers, words: Words, texts: Sequence[str]) -> Array:
    """What the network gives for each of some texts, shape (n, 4)."""
    network.eval()
    with torch.no_grad():
        return np.concatenate([network(*words([(text, None)])).numpy() for text in texts])


def figures(rows: Sequence[Statement], given: Array) -> dict[str, float]:
    """How well the chance of `good` tells good statements from others."""
    powers = np.exp(given - given.max(1, keepdims=True))
    worth = powers[:, 0] / powers.sum(1)
    good = np.array([row.verdict == 0 for row in rows])
    found = {"rows": float(len(rows)), "good": float(good.mean()), "auroc": auroc(list(worth), list(good))}
    found["right verdict"] = float((given.argmax(1) == [row.verdict for row in rows]).mean())
    for recall in RECALLS:
        least = np.quantile(worth[good], 1 - recall)
        found[f"precision at recall {recall}"] = float(good[worth >= least].mean())
        found[f"least at recall {recall}"] = float(least)
    return {name: round(value, 3) for name, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=JUDGE_FOLDER, help="folder of the network")
    args = parser.parse_args()
    torch.set_num_threads(2)
    rows, words = read_statements(STATEMENTS), Words()
    network = trained([row for row in rows if row.part == "learn"], words, args.out / "model.onnx")
    found = {}
    for part in ("held out", *HELD_OUT.values(), *REPORTED.values()):
        own = [row for row in rows if row.part == part]
        found[part] = figures(own, outputs(network, words, [row.text for row in own]))
        print(part, found[part], flush=True)
    onnx.save(build(network), args.out / "model.onnx")
    (args.out / "figures.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
