"""Figures of a network on rows that nothing was learned from, beside those of the networks that it is to replace.

A measure is a function of held-out rows and of what tells a score; today's networks and the new one answer the same.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from graphmem.bench.scores import auroc
from graphmem.bench.talks import is_held_out
from graphmem.language.analysis import BANDS, passes
from graphmem.language.encoder import EncoderNetwork
from graphmem.language.heads import MESSAGE, HeadScores
from graphmem.model import Aspect
from graphmem.offline.formation import SHOWN_FROM
from graphmem.text.clauses import clauses
from graphmem.text.doc import Doc

from .sources import DATA, LINK, Row, joined, lines

Figures = dict[str, float]
Read = Callable[[Sequence[str]], Sequence[HeadScores]]


def labelled(rows: Sequence[Row], head: str, *origins: str) -> list[tuple[Row, int]]:
    """Return held-out rows of these origins that have one label of a head, with its place."""
    return [(row, int(row.labels[head])) for row in rows  # type: ignore[arg-type]
            if row.held and row.origin in origins and isinstance(row.labels.get(head), (int, float))]  # fmt: skip


ACTS = {"written": ("acts",), "small talk": ("tiage_dev",), "tutoring": ("mathdial", "bridge", "cima")}
YES_OR_NO = (
    ("aspect", "misconception", ("work",)),
    ("aspect", "need", ("needs",)),
    ("leans", None, ("needs", "alone")),
    ("asks", "memory", ("sloppy", "chats")),
)
DOMAINS = {"messages": ("written", "mathdial", "bridge", "cima"), "small talk": ("clause tiage",)}


def of_encoder(rows: Sequence[Row], network: EncoderNetwork) -> Figures:
    """Measure the encoder on the same rows."""

    def read(own: Sequence[tuple[Row, int]]) -> list[HeadScores]:
        return [network.analyse(row.text).scores for row, _ in own]

    found = understanding_figures(rows, network)
    danger = labelled(rows, "urgency", "safety")
    found |= danger_figures(
        danger, [float(np.log(1 / max(1e-9, s.chance("concern", "none")) - 1 + 1e-9)) for s in read(danger)]
    )
    for name, origins in ACTS.items():
        own = labelled(rows, "act", *origins)
        found |= labels_right(f"act {name}", "act", own, [s.likely("act") for s in read(own)])
    for name, origins in DOMAINS.items():
        own = labelled(rows, "domain", *origins)
        found |= labels_right(f"domain {name}", "domain", own, [s.likely("domain") for s in read(own)])
    spans = gold_spans(rows)
    keeps = [1 - network.scores_of(row.text, [span])[0].chance("worth", "nothing") for row, span, _ in spans]
    found |= {"worth auroc": auroc(keeps, [bool(label) for *_, label in spans])}
    for head, label, origins in YES_OR_NO:
        place = MESSAGE.heads[head].labels.index(label) if label else 1
        own = [
            (row, truth(row, head, place)) for row in rows if row.held and row.origin in origins and head in row.labels
        ]
        chances = [s.chance(head, label) for s in read(own)]
        found[f"{head} {label or ''} auroc".replace("  ", " ")] = auroc(chances, [bool(yes) for _, yes in own])
    for head, origins in (
        ("part", ("profile", "profile told")),
        ("asked", ("profile",)),
        ("work", ("work told",)),
        ("weight", ("disclosures",)),
    ):
        own = labelled(rows, head, *origins)
        found |= labels_right(head, head, own, [s.likely(head) for s in read(own)])
    found |= shown_figures(network)
    found |= border_figures(
        rows, lambda text: [(s.start, s.end) for s in network.analyse(text, joined=False).statements]
    )
    return found | name_figures(rows, lambda text: [(n.start, n.end, n.kind) for n in network.analyse(text).names])


def understanding_figures(rows: Sequence[Row], network: EncoderNetwork) -> Figures:
    """Return how well held-out messages are understood: band, kind, modality, ledger, valence, how long they last."""
    messages = [row for row in rows if row.held and "lasting" in row.labels]
    analysed = [network.analyse(row.text) for row in messages]
    scores = [each.scores for each in analysed]
    ledger = [
        "instruction" if s.likely("ledger") in ("wish", "order") else s.likely("ledger") for s in map(summed, scores)
    ]
    return understanding(
        messages,
        {
            "band": [BANDS[passes(each.snr)] for each in analysed],
            "kind": [s.likely("kind") for s in scores],
            "modality": [s.likely("modality") for s in scores],
            "ledger": ledger,
            "valence": [s.number("valence") for s in scores],
            "lasting": [int(s.chances("lasting").argmax()) for s in scores],
        },
    )


def shown_figures(network: EncoderNetwork) -> Figures:
    """Return how well misconceptions are told on held-out turns of work, with and without the tutor's reply."""
    turns = [each for each in lines(DATA / "turns_of_work.jsonl") if is_held_out(each["dialogue"])]
    wrong = np.array([each["shown"] == "wrong" for each in turns])
    read = [network.analyse(each["text"]) for each in turns]
    replies = [network.analyse(each["reply"]) if each["reply"].strip() else None for each in turns]
    found: Figures = {"turns of work rows": len(turns)}
    for name, beside in (("", replies), (" without reply", [None] * len(turns))):
        chances = np.array([network.shown(*each)[1] for each in zip(read, beside, strict=True)])
        told = chances >= SHOWN_FROM[Aspect.MISCONCEPTION]
        found |= {f"misconceptions auroc{name}": auroc(list(chances), list(wrong)),
                  f"misconceptions precision{name}": float(wrong[told].mean()),
                  f"misconceptions recall{name}": float(told[wrong].mean())}  # fmt: skip
    return found


def truth(row: Row, head: str, place: int) -> bool:
    """Return whether a row has a label of a head."""
    label = row.labels[head]
    return place in label if isinstance(label, tuple) and len(label) == 1 else label == place


def summed(scores: HeadScores) -> HeadScores:
    """Return scores in which an order counts as a wish: together they are an instruction."""
    place = MESSAGE.places["ledger"]
    logits = scores.logits.copy()
    own = logits[place]
    own[-2] = np.logaddexp(own[-2], own[-1])
    return HeadScores(logits)


def understanding(rows: Sequence[Row], told: Mapping[str, Sequence[Any]]) -> Figures:
    """Return the figures of the questions about a message: shares right, macro F1, correlation."""

    def named(row: Row, head: str) -> str:
        label = row.labels[head]
        return "instruction" if isinstance(label, tuple) else MESSAGE.heads[head].labels[int(label)]

    found: Figures = {"rows": len(rows)}
    found["band accuracy"] = float(
        np.mean([named(row, "band") == band for row, band in zip(rows, told["band"], strict=True)])
    )
    for head in ("kind", "modality", "ledger"):
        own = [(named(row, head), guess) for row, guess in zip(rows, told[head], strict=True) if head in row.labels]
        wanted = sorted({each for each, _ in own})
        found[f"{head} f1"] = float(f1_score(*map(list, zip(*own, strict=True)), labels=wanted, average="macro"))
    found["valence r"] = float(np.corrcoef(told["valence"], [row.labels["valence"] for row in rows])[0, 1])
    found["lasting accuracy"] = float(
        np.mean([row.labels["lasting"] == guess for row, guess in zip(rows, told["lasting"], strict=True)])
    )
    return found


def danger_figures(rows: Sequence[tuple[Row, int]], logits: Sequence[float]) -> Figures:
    """Return how well danger is told from look-alikes."""
    grave, given = np.array([urgency >= 1 for _, urgency in rows]), np.array(logits)
    limit = np.quantile(given[~grave], 0.92)
    return {
        "danger auroc": auroc(list(given), list(grave)),
        "danger recall at 8 %": float(np.mean(given[grave] > limit)),
    }


def labels_right(name: str, head: str, rows: Sequence[tuple[Row, int]], guesses: Sequence[str]) -> Figures:
    """Return the share of labels that are right, and macro F1."""
    wanted = [MESSAGE.heads[head].labels[label] for _, label in rows]
    return {f"{name} right": float(np.mean([w == g for w, g in zip(wanted, guesses, strict=True)])),
            f"{name} f1": float(f1_score(wanted, guesses, labels=sorted(set(wanted)), average="macro")),
            f"{name} rows": len(rows)}  # fmt: skip


def gold_spans(rows: Sequence[Row]) -> list[tuple[Row, tuple[int, int], int]]:
    """Return clauses of held-out dialogues with what they tell: 0 nothing."""
    return [(row, span, int(labels["worth"])) for row in rows if row.held and row.origin == "gold"  # type: ignore[arg-type]
            for span, labels in row.parts if "worth" in labels]  # fmt: skip


def held_messages(rows: Sequence[Row]) -> list[Row]:
    """Return messages joined of held-out statements."""
    origins = ("acts", "written", "needs", "alone", "personal", "sloppy", "ledger", "work told")
    own = [row for row in rows if row.held and row.origin in origins and 3 <= len(row.text.split()) <= 20]
    return joined([row for row in own if len(clauses(Doc(row.text))) == 1], 300, seed=1)


def border_figures(rows: Sequence[Row], spans_of: Callable[[str], Sequence[tuple[int, int]]]) -> Figures:
    """Return F1 of where inner statements begin, and the share of statements found whole.

    A word that links two statements, and marks at the end of one, may belong to it or not.
    """
    hit = told = wanted = whole = count = 0
    for row in held_messages(rows):
        given, right = ({bare(row.text, *span) for span in spans} for spans in (spans_of(row.text), row.borders or ()))
        starts, known = ({start for start, _ in spans if start} for spans in (given, right))
        hit, told, wanted = hit + len(starts & known), told + len(starts), wanted + len(known)
        whole, count = whole + len(given & right), count + len(right)
    precision, recall = hit / max(1, told), hit / max(1, wanted)
    return {
        "border precision": precision,
        "border recall": recall,
        "border f1": 2 * precision * recall / max(1e-9, precision + recall),
        "statements whole": whole / count,
    }


def bare(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without the words that link it to what stands before, and marks at its end."""
    while start and (link := LINK.match(text, start, end)) and link.end() < end:
        start = link.end()
    return start, start + len(text[start:end].rstrip(" .!?,;"))


def name_figures(rows: Sequence[Row], names_of: Callable[[str], Sequence[tuple[int, int, str]]]) -> Figures:
    """Return F1 of names, their kinds included, of written sentences in capitals and without."""
    found: Figures = {}
    for name, cased in (("in capitals", True), ("in small letters", False)):
        own = [row for row in rows if row.held and row.origin == "named" and (row.text != row.text.lower()) == cased]
        hit = sum(len(set(names_of(row.text)) & set(row.names or ())) for row in own)
        both = sum(len(names_of(row.text)) + len(row.names or ()) for row in own)
        found[f"names f1 {name}"] = 2 * hit / max(1, both)
    return found
