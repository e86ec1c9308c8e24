"""Set the detector of danger (`graphmem/text/safety.py`): weights, thresholds, figures, the shipped sample.

    python scripts/make_safety.py --data DATA

To be run after `python -m scripts.train` and `make_danger.py`, whose rows and split (`safety_rows.py`) it shares. Only
rows choose that neither the encoder nor the network has learned from. Needs scikit-learn.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safety_rows import ORDINARY, TRICKY, Row, read_all
from sklearn.linear_model import LogisticRegression

from graphmem.bench.scores import auroc
from graphmem.bench.talks import save_trained, text_hash, trained_hashes
from graphmem.language.analysis import danger_odds
from graphmem.language.encoder import ENCODER_FOLDER, read_now
from graphmem.samples import SAMPLES
from graphmem.text.danger_network import load_danger_network
from graphmem.text.danger_signs import danger_sign
from graphmem.text.language import may_be_english
from graphmem.text.safety import DANGER_FILE, DangerModel

HARMLESS_SHARES = {("everyday", "others"): 0.095, ("tiage", "personal", *ORDINARY): 0.0165}
"""Share of the everyday trouble of children that chose, much of it written to look like danger, and of ordinary talk,
that may be taken for danger: missing costs more."""
UNSUSPECTED, SURE_SHARE = 0.001, 0.7
"""Share of the dangers found among the rows that chose that the network need not be asked about, and share of them that
are sure."""
ASKED, UNREAD = -3.5, -30.0
"""The encoder's log odds of danger from which on the network reads a row here, and what stands for its own else."""
PRIOR = 0.1
"""Strength of what puts the two judgements together."""
SMALL_TALK_SAMPLE = 600


SOURCES = {
    "": ("safety",),
    "_others": ("others",),
    "_everyday": ("everyday",),
    "_school": ("school_talk",),
    "_warm": ("warm",),
    "_reports": ("reports",),
    "_personal": ("personal",),
    "_small_talk": ("tiage",),
    "_ordinary": ("ordinary",),
    "_tricky": (TRICKY,),
    "_talk": ("talk:mathdial", "talk:cima", "talk:bridge"),
}
"""Sources of rows by the end of the names of their figures."""


def figures(
    scores: NDArray[np.float64], found: NDArray[np.bool_], rows: list[Row], among: NDArray[np.bool_]
) -> dict[str, float]:
    """Shares of rows that raise a concern."""
    urgency, source = np.array([row.urgency for row in rows]), np.array([row.source for row in rows])
    told: dict[str, float] = {}
    for name, sources in SOURCES.items():
        own = among & np.isin(source, sources)
        parts = {"recall": own & (urgency > 0), "false_alarms": own & (urgency == 0)}
        if name == "":
            parts |= {"recall_serious": own & (urgency > 1), "recall_acute": own & (urgency > 2)}
            if parts["recall"].any():
                told["auroc"] = auroc(scores[own].tolist(), (urgency[own] > 0).tolist())
        told |= {f"{each}{name}": float(found[those].mean()) for each, those in parts.items() if those.any()}
    return {name: round(share, 4) for name, share in told.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    everything = read_all(parser.parse_args().data)
    learned = trained_hashes(ENCODER_FOLDER / "trained.npy")
    rows = [r for r in everything if r.part == "test" or (r.part == "choose" and text_hash(r.text) not in learned)]
    odds = np.array([danger_odds(each.scores) for each in read_now([row.text for row in rows])])
    network = load_danger_network()
    read = np.array([network.read(r.text).logit if o >= ASKED else UNREAD for r, o in zip(rows, odds, strict=True)])
    signs = np.array([danger_sign(row.text) is not None for row in rows])
    english = np.array([may_be_english(row.text) for row in rows])
    model, scores = made(rows, odds, read, signs, english)
    suspected = english & (odds >= model.suspected)
    found = signs | (suspected & (scores >= model.threshold))
    test = np.array([row.part == "test" for row in rows])
    printed = {
        "chosen on": figures(scores, found, rows, ~test),
        "test": figures(scores, found, rows, test),
        "test, English": figures(scores, found, rows, test & english),
        "test, signs alone": figures(scores, signs, rows, test),
        "test, suspected": figures(scores, signs | suspected, rows, test),
        "test, sure": figures(scores, signs | (found & (scores >= model.sure)), rows, test),
    }
    DANGER_FILE.write_text(json.dumps({"model": asdict(model)} | printed, indent=1) + "\n", "utf-8")
    save_trained(DANGER_FILE.with_name("trained.npy"), [(row.text,) for row in everything if row.part != "test"])
    write_sample(everything)
    print(json.dumps(printed, indent=1))


def made(
    rows: list[Row],
    odds: NDArray[np.float64],
    read: NDArray[np.float64],
    signs: NDArray[np.bool_],
    english: NDArray[np.bool_],
) -> tuple[DangerModel, NDArray[np.float64]]:
    """The detector, and the scores of the rows."""
    labels, source = np.array([row.urgency > 0 for row in rows]), np.array([row.source for row in rows])
    choose = english & np.array([row.part == "choose" for row in rows])
    both, asked = np.column_stack([odds, read]), choose & (read > UNREAD)
    judge = LogisticRegression(C=PRIOR, class_weight="balanced").fit(both[asked], labels[asked])
    scores = judge.decision_function(both)
    harmless = {share: choose & ~labels & np.isin(source, names) for names, share in HARMLESS_SHARES.items()}
    threshold = max(threshold_of(scores, signs, those, share) for share, those in harmless.items())
    heard = choose & labels & ~signs & (scores >= threshold)
    suspected, sure = np.quantile(odds[heard], UNSUSPECTED), np.quantile(scores[heard], 1 - SURE_SHARE)
    numbers = (suspected, *judge.coef_[0], judge.intercept_[0], threshold, sure)
    return DangerModel(*(round(float(each), 4) for each in numbers)), scores


def threshold_of(
    scores: NDArray[np.float64], signs: NDArray[np.bool_], harmless: NDArray[np.bool_], share: float
) -> float:
    """The lowest score from which on, with the signs, no greater share of harmless rows raises a concern."""
    spare = max(0.0, share * harmless.sum() - (signs & harmless).sum())
    ordered = np.sort(scores[harmless & ~signs])[::-1]
    return float(ordered[int(spare)] + 1e-6)


def write_sample(rows: list[Row]) -> None:
    """The test part, as it ships."""
    folder = SAMPLES / "safety"
    folder.mkdir(exist_ok=True)
    sources = {"messages": "safety", "small_talk": "tiage"} | {name: name for name in ("everyday", "personal", "talk")}
    for name, wanted in sources.items():
        written = [
            json.dumps(
                {"id": r.group, "text": r.text, "concern": r.concern, "urgency": r.urgency, "who": r.who},
                ensure_ascii=False,
            )
            for r in rows
            if r.part == "test" and r.source.startswith(wanted)
        ]
        written = written[:SMALL_TALK_SAMPLE] if wanted == "tiage" else written
        (folder / f"{name}.jsonl").write_text("\n".join(written) + "\n", "utf-8")


if __name__ == "__main__":
    main()
