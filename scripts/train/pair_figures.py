"""Figures of the pair network on pairs that nothing was learned from, beside today's networks."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score, f1_score

from graphmem.bench.contradiction import contradiction_figures
from graphmem.bench.scores import auroc
from graphmem.language.heads import PAIR
from graphmem.language.pairs import PairsNetwork
from graphmem.text.answering import ANSWERING_FOLDER
from graphmem.text.contradiction import PairReading, load_contradiction_network
from graphmem.text.ending import ENDING_FOLDER
from graphmem.text.pair_network import load_pair_network

from .pairs import PairRow

MOST = 900
"""Pairs of an origin that are measured at most."""
Figures = dict[str, float]
Chances = Callable[[Sequence[PairRow]], Sequence[float]]


def held_out(rows: Sequence[PairRow], head: str, *origins: str) -> list[PairRow]:
    """Return held-out pairs of these origins that know the answer of a head."""
    return [row for row in rows if row.held and row.origin in origins and head in row.labels][:MOST]


def measured(rows: Sequence[PairRow], tell: dict[str, Chances]) -> Figures:
    """Measure what tells chances of heads; `class` gives places of labels."""
    found: Figures = {}
    for name in ("pairs", "pairs_talk"):
        own = held_out(rows, "class", name)
        wanted, guesses = [int(row.labels["class"]) for row in own], list(tell["class"](own))
        found[f"{name} macro f1"] = float(f1_score(wanted, guesses, labels=range(5), average="macro"))
        ended = np.array([bool(row.labels["ends"]) for row in own])
        chances = np.array(tell["retire"](own))
        hits = np.cumsum(ended[np.argsort(-chances)])
        precision, recall = hits / np.arange(1, len(own) + 1), hits / ended.sum()
        found[f"{name} retire precision at recall 0.40"] = float(precision[recall >= 0.4].max())
        found[f"{name} retire auroc"] = auroc(list(chances), list(ended))
    own = held_out(rows, "contradicts", "prosecco")
    clash = contradiction_figures(list(tell["contradicts"](own)), [bool(row.labels["contradicts"]) for row in own])
    found |= {f"debates {k}": v for k, v in clash.items()}
    for head, origins in (
        ("ends", ("endings",)),
        ("ends", ("chat endings",)),
        ("answers", ("answers",)),
        ("answers", ("chat answers",)),
    ):
        own = held_out(rows, head, *origins)
        chances, labels = np.array(tell[head](own)), np.array([row.labels[head] > 0.5 for row in own])
        found[f"{origins[0]} average precision"] = float(average_precision_score(labels, chances))
        found[f"{origins[0]} auroc"] = auroc(list(chances), list(labels))
        best = max(2 * labels[chances >= c].sum() / (labels.sum() + (chances >= c).sum()) for c in np.unique(chances))
        found[f"{origins[0]} best f1"] = float(best)
    own = held_out(rows, "contradicts", "own")
    found["unrelated taken for contradictions"] = float(np.mean(np.array(tell["contradicts"](own)) >= 0.5))
    found["unrelated taken for ended"] = float(np.mean(np.array(tell["ends"](own)) >= 0.5))
    own = held_out(rows, "ends", "talk endings")
    found["small talk taken for ended"] = float(np.mean(np.array(tell["ends"](own)) >= 0.5))
    return found


def today(rows: Sequence[PairRow]) -> Figures:
    """Measure today's networks of contradiction, ending, answering and match."""
    network = load_contradiction_network()
    known: dict[tuple[str, str], PairReading] = {}

    def readings(own: Sequence[PairRow]) -> list[PairReading]:
        for row in own:
            if (row.old, row.new) not in known:
                known[row.old, row.new] = network.read([(row.old, row.new)])[0]
        return [known[row.old, row.new] for row in own]

    def logits(folder: Path, own: Sequence[PairRow]) -> list[float]:
        return [1 / (1 + float(np.exp(-load_pair_network(folder).logit(row.new, row.old)))) for row in own]

    classes = PAIR.heads["class"].labels
    return measured(
        rows,
        {
            "class": lambda own: [classes.index(r.likely.value) for r in readings(own)],
            "retire": lambda own: [r.ended for r in readings(own)],
            "contradicts": lambda own: [r.clash for r in readings(own)],
            "ends": lambda own: logits(ENDING_FOLDER, own),
            "answers": lambda own: logits(ANSWERING_FOLDER, own),
        },
    )


def of_network(rows: Sequence[PairRow], network: PairsNetwork) -> Figures:
    """Measure the pair network on the same pairs."""

    def chances(head: str) -> Chances:
        return lambda own: [network.read(row.new, row.old, row.message).chance(head) for row in own]

    places = PAIR.heads["class"].labels
    found = measured(
        rows,
        {head: chances(head) for head in ("contradicts", "ends", "answers")}
        | {
            "class": lambda own: [places.index(network.read(r.new, r.old).likely("class")) for r in own],
            "retire": chances("ends"),
        },
    )
    for head, origins in (("same", ("typed", "endings")), ("partly", ("whole",)), ("refines", ("verdicts",))):
        own = held_out(rows, head, *origins)
        found[f"{head} auroc"] = auroc(
            [network.read(r.new, r.old, r.message).chance(head) for r in own], [r.labels[head] > 0.5 for r in own]
        )
    return found
