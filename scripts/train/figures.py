"""Figures of the encoder on rows that nothing was learned from."""

from collections.abc import Sequence
from statistics import correlation

import numpy as np

from graphmem.bench.scores import auroc, macro_f1
from graphmem.bench.talks import is_held_out
from graphmem.language.analysis import BANDS, passes
from graphmem.language.encoder import EncoderNetwork
from graphmem.language.heads import MESSAGE, HeadScores
from graphmem.model import Aspect
from graphmem.offline.formation import SHOWN_FROM, UNJUDGED_FROM

from .options import WRITTEN as DATA
from .options import lines
from .sources import LINK, Row, joined, own_spans

Figures = dict[str, float]
RIGHT = (
    ("act written", "act", ("acts",)),
    ("act small talk", "act", ("tiage_dev",)),
    ("act tutoring", "act", ("mathdial", "bridge", "cima")),
    ("domain messages", "domain", ("written", "mathdial", "bridge", "cima")),
    ("domain small talk", "domain", ("clause tiage",)),
    ("part", "part", ("profile", "profile told")),
    ("asked", "asked", ("profile",)),
    ("work", "work", ("work told",)),
    ("weight", "weight", ("disclosures",)),
)
"""Figures of labels that are right: name, head, and the origins of the rows."""
YES_OR_NO = (
    ("aspect misconception", "aspect", "misconception", ("work",)),
    ("aspect need", "aspect", "need", ("needs",)),
    ("leans", "leans", None, ("needs", "alone")),
    ("asks memory", "asks", "memory", ("sloppy", "chats")),
)
"""Figures of one label told from all others: name, head, label, and the origins of the rows."""


def of_encoder(rows: Sequence[Row], network: EncoderNetwork) -> Figures:
    """Measure the encoder on rows that are held out."""
    held = [row for row in rows if row.held]

    def scores(own: Sequence[Row]) -> list[HeadScores]:
        return [network.analyse(row.text).scores for row in own]

    def known(head: str, origins: Sequence[str]) -> list[Row]:
        return [row for row in held if row.origin in origins and isinstance(row.labels.get(head), int | float)]

    found = understanding_figures(held, network)
    danger = known("urgency", ("safety",))
    odds = [float(np.log(1 / max(1e-9, s.chance("concern", "none")) - 1 + 1e-9)) for s in scores(danger)]
    found |= danger_figures([bool(row.labels["urgency"]) for row in danger], odds)
    for name, head, origins in RIGHT:
        own = known(head, origins)
        wanted = [MESSAGE.heads[head].labels[int(row.labels[head])] for row in own]  # type: ignore[arg-type]
        pairs = list(zip(wanted, (s.likely(head) for s in scores(own)), strict=True))
        right = float(np.mean([w == g for w, g in pairs]))
        found |= {f"{name} right": right, f"{name} f1": macro_f1(pairs), f"{name} rows": len(pairs)}
    told = [(row, span, labels["worth"]) for row in held if row.origin == "gold"
            for span, labels in row.parts if "worth" in labels]  # fmt: skip
    keeps = [1 - network.scores_of(row.text, [span])[0].chance("worth", "nothing") for row, span, _ in told]
    found["worth auroc"] = auroc(keeps, [bool(label) for *_, label in told])
    for name, head, label, origins in YES_OR_NO:
        place = MESSAGE.heads[head].labels.index(label) if label else 1
        own = [row for row in held if row.origin in origins and head in row.labels]
        truth = [row.labels[head] in (place, (place,)) for row in own]
        found[f"{name} auroc"] = auroc([s.chance(head, label) for s in scores(own)], truth)
    return found | shown_figures(network) | border_figures(held, network) | name_figures(held, network)


def understanding_figures(held: Sequence[Row], network: EncoderNetwork) -> Figures:
    """Return how well messages are understood: band, kind, modality, ledger, valence, how long they last."""
    pairs = [(row, network.analyse(row.text)) for row in held if "lasting" in row.labels]

    def named(row: Row, head: str) -> str:
        label = row.labels[head]
        return "instruction" if isinstance(label, tuple) else MESSAGE.heads[head].labels[int(label)]

    found: Figures = {"rows": len(pairs)}
    found["band accuracy"] = float(np.mean([BANDS[passes(each.snr)] == named(row, "band") for row, each in pairs]))
    for head in ("kind", "modality", "ledger"):
        own = [(named(row, head), each.scores) for row, each in pairs if head in row.labels]
        guesses = [summed(s).likely(head) if head == "ledger" else s.likely(head) for _, s in own]
        guesses = ["instruction" if guess in ("wish", "order") else guess for guess in guesses]
        found[f"{head} f1"] = macro_f1([(wanted, guess) for (wanted, _), guess in zip(own, guesses, strict=True)])
    felt = [(each.scores.number("valence"), row.labels["valence"]) for row, each in pairs if "valence" in row.labels]
    found["valence r"] = correlation(*zip(*felt, strict=True))
    lasting = [int(each.scores.chances("lasting").argmax()) == row.labels["lasting"] for row, each in pairs]
    return found | {"lasting accuracy": float(np.mean(lasting))}


def shown_figures(network: EncoderNetwork) -> Figures:
    """Return how well misconceptions are told on held-out turns of work, with and without the tutor's reply."""
    turns = [each for each in lines(DATA / "turns_of_work.jsonl") if is_held_out(each["dialogue"])]
    wrong = np.array([each["shown"] == "wrong" for each in turns])
    read = [network.analyse(each["text"]) for each in turns]
    replies = [network.analyse(each["reply"]) if each["reply"].strip() else None for each in turns]
    found: Figures = {"turns of work rows": len(turns)}
    for name, beside in (("", replies), (" without reply", [None] * len(turns))):
        chances = np.array([network.shown(*each)[1] for each in zip(read, beside, strict=True)])
        told = chances >= (UNJUDGED_FROM if name else SHOWN_FROM[Aspect.MISCONCEPTION])
        found |= {f"misconceptions auroc{name}": auroc(list(chances), list(wrong)),
                  f"misconceptions precision{name}": float(wrong[told].mean()),
                  f"misconceptions recall{name}": float(told[wrong].mean())}  # fmt: skip
    return found


def summed(scores: HeadScores) -> HeadScores:
    """Return scores in which an order counts as a wish: together they are an instruction."""
    place = MESSAGE.places["ledger"]
    logits = scores.logits.copy()
    own = logits[place]
    own[-2] = np.logaddexp(own[-2], own[-1])
    return HeadScores(logits)


def danger_figures(grave: Sequence[bool], odds: Sequence[float]) -> Figures:
    """Return how well danger is told from look-alikes."""
    truth, given = np.array(grave), np.array(odds)
    limit = np.quantile(given[~truth], 0.92)
    return {"danger auroc": auroc(odds, grave), "danger recall at 8 %": float(np.mean(given[truth] > limit))}


def held_messages(held: Sequence[Row]) -> list[Row]:
    """Return messages joined of held-out statements."""
    origins = ("acts", "written", "needs", "alone", "personal", "sloppy", "ledger", "work told")
    own = [row for row in held if row.origin in origins and 3 <= len(row.text.split()) <= 20]
    return joined([row for row in own if len(own_spans(row.text)) == 1], 300, seed=1)


def border_figures(held: Sequence[Row], network: EncoderNetwork) -> Figures:
    """Return F1 of where inner statements begin, and the share of statements found whole.

    A word that links two statements, and marks at the end of one, may belong to it or not.
    """
    hit = told = wanted = whole = count = 0
    for row in held_messages(held):
        read = [(each.start, each.end) for each in network.analyse(row.text, joined=False).statements]
        given, right = ({bare(row.text, *span) for span in spans} for spans in (read, row.borders or ()))
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


def name_figures(held: Sequence[Row], network: EncoderNetwork) -> Figures:
    """Return F1 of names, their kinds included, of written sentences in capitals and without."""
    found: Figures = {}
    for name, cased in (("in capitals", True), ("in small letters", False)):
        own = [row for row in held if row.origin == "named" and (row.text != row.text.lower()) == cased]
        told = [[(each.start, each.end, each.kind) for each in network.analyse(row.text).names] for row in own]
        hit = sum(len(set(each) & set(row.names or ())) for each, row in zip(told, own, strict=True))
        both = sum(len(each) + len(row.names or ()) for each, row in zip(told, own, strict=True))
        found[f"names f1 {name}"] = 2 * hit / max(1, both)
    return found
