"""Make the sense of worth: logistic regressions on labelled tutoring dialogues and utterances.

    python scripts/make_worth.py --gold gold.jsonl --utterances utterances.jsonl

Students of `gold` whose name hashes to the test part are left out, so are utterances that stand in the dialogues of
those; `data/told.jsonl` holds plain statements of a student's life and family, `data/talk.jsonl` what friends say to
each other, to keep and not (praise, wishes, commonplaces), `data/turns_of_work.jsonl` turns of further tutoring
dialogues, of which one in five (`is_held_out`) is not learned from. Strengths are chosen by cross-validation over
students and dialogues. Figures are stored beside the weights.
"""

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import GroupKFold

from graphmem.bench.scores import auroc
from graphmem.bench.talks import is_held_out
from graphmem.text.clauses import statement_spans
from graphmem.text.doc import Doc
from graphmem.text.normalize import said
from graphmem.text.reader import read_now
from graphmem.text.worth import (
    CLAUSE_KINDS,
    TURN_KINDS,
    WORTH_FILE,
    TutoringTurn,
    clause_features,
    turn_features,
)

UTTERANCE_WEIGHT = 0.5
"""Weight of an utterance beside a clause of a dialogue."""
TALK_WEIGHT = 1.0
"""The same of a clause of talk among friends."""
STRENGTHS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
FOLDS = 4
SHOWN = {"nothing": "nothing", "wrong": "misconception", "mended": "understanding", "right": "understanding"}
"""What a turn of work was labelled as showing, by the kinds of the model."""
WORK = ("misconception", "understanding", "concept")
Array = NDArray[np.float64]


class Row(NamedTuple):
    """A clause or turn with its label; `group` is the student."""

    text: str
    label: int
    weight: float
    group: str
    turn: TutoringTurn | None = None
    written: bool = True


def is_test(group: str) -> bool:
    return hashlib.sha256(group.encode()).digest()[0] % 5 == 0


def dialogue_rows(dialogues: list[dict[str, Any]]) -> tuple[list[Row], list[Row]]:
    """Rows of clauses and of turns; turns of which nothing is known are left out."""
    clauses, turns = [], []
    for dialogue in dialogues:
        texts = ["", *(turn["text"] for turn in dialogue["turns"]), ""]
        for i, turn in enumerate(dialogue["turns"]):
            gold = [each for each in dialogue["gold"] if each["turn"] == i]
            if turn["speaker"] != "student" or not (gold or i in dialogue["nothing"]):
                continue
            kinds = {each["kind"] for each in gold}
            label = next((TURN_KINDS.index(k) for k in TURN_KINDS[1:] if k in kinds), 0)
            around = TutoringTurn(turn["text"], texts[i], texts[i + 2])
            written = dialogue["source"] == "written"
            turns.append(Row(turn["text"], label, 1.0, dialogue["student"], around, written))
            for start, end in statement_spans(Doc(turn["text"])):
                kind = _kind(turn["text"], start, end, gold)
                weight = 1.0 if kind or not gold else 0.4
                clauses.append(Row(turn["text"][start:end], kind, weight, dialogue["student"], None, written))
    return clauses, turns


def _kind(text: str, start: int, end: int, gold: list[dict[str, Any]]) -> int:
    for each in gold:
        place = text.find(each["quote"])
        common = min(end, place + len(each["quote"])) - max(start, place)
        if common > 0.3 * min(end - start, len(each["quote"])):
            return CLAUSE_KINDS.index("work" if each["kind"] in WORK else each["kind"])
    return 0


def utterance_rows(rows: list[dict[str, Any]], known: set[str]) -> list[Row]:
    found = []
    for row in rows:
        if said(row["text"]) in known:
            continue
        keeps = row["band"] in ("two", "three") or (row["band"] == "one" and row["lasting"] >= 1)
        kind = "nothing"
        if keeps:
            kind = "feeling" if row["modality"] == "emotional" else row["kind"].replace("concept", "work")
        found.append(Row(row["text"], CLAUSE_KINDS.index(kind), UTTERANCE_WEIGHT, row["id"]))
    return found


def talk_rows(path: Path) -> list[Row]:
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return [Row(row["text"], CLAUSE_KINDS.index(row["tells"]), TALK_WEIGHT, row["text"]) for row in rows]


def work_rows(path: Path) -> list[Row]:
    """Turns of tutoring dialogues; the group is the dialogue."""
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return [
        Row(
            row["text"],
            TURN_KINDS.index(SHOWN[row["shown"]]),
            1.0,
            row["dialogue"],
            TutoringTurn(row["text"], row["before"], row["reply"]),
            False,
        )
        for row in rows
    ]


def turn_features_of(rows: list[Row]) -> Array:
    return np.stack([turn_features(row.turn) for row in rows if row.turn is not None])


def held_out_figures(weights: Array, rows: list[Row]) -> dict[str, float]:
    """How well turns that show something, a misconception, an understanding are told from all others."""
    found, labels = probabilities(weights, turn_features_of(rows)), np.array([row.label for row in rows])
    shows = {"something": (1 - found[:, 0], labels > 0)}
    shows |= {name: (found[:, i], labels == i) for i, name in enumerate(TURN_KINDS) if i}
    return {"rows": len(rows)} | {
        f"auroc of {name}": round(auroc(list(chances), list(truth)), 3) for name, (chances, truth) in shows.items()
    }


def features(rows: list[Row]) -> Array:
    texts = [row.text for row in rows]
    read = read_now(texts)
    return np.stack([clause_features(Doc(text), reading) for text, reading in zip(texts, read, strict=True)])


def fitted(x: Array, rows: list[Row], strength: float, kinds: int) -> Array:
    model = LogisticRegression(C=strength, max_iter=3000)
    model.fit(x, [r.label for r in rows], sample_weight=[r.weight for r in rows])
    weights = np.full((kinds, x.shape[1] + 1), 0.0)
    weights[:, 0] = -20.0
    for place, kind in enumerate(model.classes_):
        weights[kind] = np.r_[model.intercept_[place], model.coef_[place]]
    return weights


def probabilities(weights: Array, x: Array) -> Array:
    scores = weights[:, 0] + x @ weights[:, 1:].T
    powers = np.exp(scores - scores.max(1, keepdims=True))
    found: Array = powers / powers.sum(1, keepdims=True)
    return found


def best(x: Array, rows: list[Row], more: tuple[Array, list[Row]] | None, kinds: int) -> tuple[float, dict[str, float]]:
    """The strength with the best ranking of what is worth keeping, students held out."""
    groups = [{"Mariana": "a", "Cody": "b", "Alejandra": "c"}.get(r.group, r.group) for r in rows]
    keep = np.array([r.label > 0 for r in rows])
    results = {}
    for strength in STRENGTHS:
        found = np.zeros(len(rows))
        for train, held in GroupKFold(FOLDS).split(x, keep, groups):
            mine = [rows[i] for i in train]
            xs = x[train] if more is None else np.vstack([x[train], more[0]])
            weights = fitted(xs, mine if more is None else [*mine, *more[1]], strength, kinds)
            found[held] = 1 - probabilities(weights, x[held])[:, 0]
        results[strength] = {"auc": roc_auc_score(keep, found), "ap": average_precision_score(keep, found)}
    strength = max(results, key=lambda s: results[s]["ap"])
    return strength, results[strength]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--gold", type=Path, required=True)
    parser.add_argument("--utterances", type=Path, required=True)
    arguments = parser.parse_args()
    dialogues = [json.loads(line) for line in arguments.gold.read_text().splitlines()]
    files = (arguments.utterances, Path(__file__).with_name("data") / "told.jsonl")
    utterances = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    clauses, turns = dialogue_rows([d for d in dialogues if not is_test(d["student"])])
    known = {said(turn["text"]) for dialogue in dialogues for turn in dialogue["turns"]}
    told = utterance_rows(utterances, known) + talk_rows(Path(__file__).with_name("data") / "talk.jsonl")
    figures: dict[str, Any] = {"clauses": len(clauses), "utterances": len(told)}
    weights = {}
    x, y = features(clauses), features(told)
    strength, figures["clause"] = best(x, clauses, (y, told), len(CLAUSE_KINDS))
    figures["clause"]["strength"] = strength
    weights["clauses"] = fitted(np.vstack([x, y]), [*clauses, *told], strength, len(CLAUSE_KINDS))
    further = work_rows(Path(__file__).with_name("data") / "turns_of_work.jsonl")
    turns += [row for row in further if not is_held_out(row.group)]
    z = turn_features_of(turns)
    strength, figures["turn"] = best(z, turns, None, len(TURN_KINDS))
    figures["turn"] |= {"strength": strength, "turns": len(turns)}
    weights["turns"] = fitted(z, turns, strength, len(TURN_KINDS))
    apart = [row for row in further if is_held_out(row.group)]
    for source in ("mathdial", "bridge"):
        own = [row for row in apart if row.group.startswith(source)]
        figures[f"held out, {source}"] = held_out_figures(weights["turns"], own)
    WORTH_FILE.parent.mkdir(exist_ok=True)
    clauses_, turns_ = (weights[name].astype(np.float32) for name in ("clauses", "turns"))
    np.savez_compressed(WORTH_FILE, clauses=clauses_, turns=turns_)
    WORTH_FILE.with_suffix(".json").write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
