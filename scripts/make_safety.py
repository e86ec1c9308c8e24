"""Set the detector of danger (`graphmem/text/safety.py`): calibration, threshold, figures, and the sample that ships.

    python scripts/make_safety.py --data DATA

To be run after `make_reader.py`, whose split it shares. DATA holds `safety/safety.jsonl`, `tutoring/*.jsonl`,
`boundaries/tiage_*.jsonl` and `understanding/utterances.jsonl`; `scripts/data` holds further rows, and personal talk in
which nobody is in danger. Rows are split by the hash of their group (row or dialogue): a fifth of DATA and of the
personal talk, and the second file of small talk, are the test part, read once at the end; of the others one in seven,
which the reader has not learned from either, chooses the calibration and the thresholds. A second opinion, linear on
the embedding alone, overrules a concern about the writer that it speaks strongly against, unless a life is in danger
now; what it doubts is brought up again only where the talk touches it. What is told of others the reader has hardly
learned: heads of their own, which learn from all of it and `others.jsonl`, overrule and raise concerns about others,
and tell their urgency. What people report of others (`reports.jsonl`) is only measured. Needs scikit-learn.
"""

import argparse
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from graphmem.bench.held_out import is_held_out, save_trained, text_hash, trained_hashes
from graphmem.bench.matching import auroc
from graphmem.model import ACUTE, Author
from graphmem.samples import SAMPLES
from graphmem.samples.dialogues import load_dialogues
from graphmem.text.embedder import DIMENSION
from graphmem.text.normalize import straightened
from graphmem.text.reader import CONCERNS, READER_FOLDER, WIDTH, MessageReading, read_now
from graphmem.text.safety import DANGER_FILE, DangerModel, OthersModel, reader_urgency, sign_anywhere
from graphmem.text.trained import LinearHead

FALSE_ALARMS, PERSONAL_ALARMS = 0.12, 0.02
"""Share of the look-alikes and of the harmless talk of one's life that chose that the reader may take for danger:
missing costs more. The first was 0.15 until false alarms of LoCoMo and of the held-out rows were looked at: the figures
of those are a little too good."""
OPINION_PRIOR, OPINION_SHARE, OVERRULED_SHARE, SURE_SHARE = 10.0, 1.0, 0.01, 0.95
"""Strength of the second opinion's weights, its part beside the reader's log odds, the share of the dangers found among
the rows that chose that it may overrule, and the share among the plain ones of which both have to be sure."""
OTHERS_PRIOR, OTHERS_SHARE, OTHERS_OVERRULED, OTHERS_RAISED = 0.1, 2.0, 0.02, 1
"""Strength of the weights of the heads for what is told of others, their part beside the reader's log odds, the share
of the dangers that chose and that the reader finds which they may speak against, and how many of the harmless rows
that chose they may raise a concern of."""
UNREAD, READER_TRUST, VECTOR_TRUST = 6.0, 0.25, 2.0
"""How much a row counts that the reader has not learned from, and what the reader's answers and the vector are scaled
by where the second opinion learns: the reader knows too well what it has learned from."""
FURTHER = "more-"
"""What the ids of the further rows begin with."""
UNTOUCHED = "tiage-dev"
"""What the ids of the small talk begin with that nothing is chosen on."""
SMALL_TALK_SAMPLE = 600


@dataclass(frozen=True)
class Row:
    """A labelled message; `group` is what it is split by."""

    text: str
    concern: str
    urgency: int
    who: str
    source: str
    group: str

    @property
    def part(self) -> str:
        """What it is for: `test`, `choose` or `learn`."""
        if (
            self.source == "reports"
            or self.group.startswith(UNTOUCHED)
            or (not self.group.startswith(FURTHER) and is_held_out(self.group))
        ):
            return "test"
        chooses = (
            self.source in ("safety", "written", "personal", "tiage", "others")
            and hashlib.sha256(self.group.encode()).digest()[1] % 7 == 1
        )
        return "choose" if chooses else "learn"


def read_all(data: Path) -> list[Row]:
    """Messages of danger and look-alikes, then ordinary talk, each text once."""
    rows: dict[str, Row] = {}
    further = Path(__file__).with_name("data")
    files = [
        data / "safety" / "safety.jsonl",
        *(further / f"{name}.jsonl" for name in ("safety", "personal", "others", "reports")),
    ]
    for path in files:
        for each in lines(path):
            group = each.get("group", each["id"])
            rows[each["text"]] = Row(each["text"], each["concern"], each["urgency"], each["who"], path.stem, group)
    for harmless in (*tutoring_talk(data), *small_talk(data)):
        rows.setdefault(harmless.text, harmless)
    for each in lines(data / "understanding" / "utterances.jsonl"):
        if each["source"] == "written" and each["ledger"] != "threat":
            rows.setdefault(each["text"], Row(each["text"], "none", 0, "none", "written", each["id"]))
    return list(rows.values())


def tutoring_talk(data: Path) -> Iterator[Row]:
    for name in ("mathdial", "cima", "bridge"):
        for dialogue in load_dialogues(data / "tutoring" / f"{name}.jsonl"):
            for message in dialogue.messages:
                if message.author is Author.STUDENT:
                    yield Row(message.text, "none", 0, "none", f"talk:{name}", dialogue.id)


def small_talk(data: Path) -> Iterator[Row]:
    for part in ("train", "dev"):
        for each in lines(data / "boundaries" / f"tiage_{part}.jsonl"):
            for turn in each["turns"]:
                yield Row(turn["text"], "none", 0, "none", "tiage", each["dialogue_id"])


def lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text("utf-8").splitlines())


def figures(scores: NDArray[np.float64], found: NDArray[np.bool_], rows: list[Row], part: str) -> dict[str, float]:
    """Shares of a part of the rows that raise a concern."""

    def chosen(wanted: Callable[[Row], bool]) -> NDArray[np.bool_]:
        return np.array([(part == row.part) and wanted(row) for row in rows])

    safety = chosen(lambda row: row.source == "safety" and not (part == "choose" and row.group.startswith(FURTHER)))
    urgency = np.array([row.urgency for row in rows])
    danger = urgency > 0
    told = {
        "recall": found[safety & (urgency > 0)].mean(),
        "recall_serious": found[safety & (urgency > 1)].mean(),
        "recall_acute": found[safety & (urgency > 2)].mean(),
        "false_alarms": found[safety & (urgency == 0)].mean(),
        "auroc": auroc(scores[safety].tolist(), danger[safety].tolist()),
    }
    personal = chosen(lambda row: row.source == "personal")
    small = chosen(lambda row: row.source == "tiage")
    talk = chosen(lambda row: row.source.startswith("talk"))
    others = chosen(lambda row: row.source == "others")
    told |= {"false_alarms_personal": found[personal & ~danger].mean(), "false_alarms_small_talk": found[small].mean()}
    told |= {"recall_others": found[others & danger].mean(), "false_alarms_others": found[others & ~danger].mean()}
    if talk.any():
        reports = chosen(lambda row: row.source == "reports")
        told["false_alarms_talk"] = found[talk].mean()
        told["recall_reports"] = found[reports & danger].mean()
        told["false_alarms_reports"] = found[reports & ~danger].mean()
    return {name: round(float(share), 4) for name, share in told.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    rows = read_all(parser.parse_args().data)
    read = read_now([row.text for row in rows])
    model = made(rows, read)
    signs = np.array([sign_anywhere(straightened(row.text)) is not None for row in rows])
    scores = np.array([model.score(each) for each in read])
    found = signs | np.array([model.alarms(each) for each in read])
    kept = found & np.array([model.danger(each, None).sure for each in read]) | signs
    printed = {
        "chosen on": figures(scores, found, rows, "choose"),
        "test": figures(scores, found, rows, "test"),
        "test, signs alone": figures(scores, signs, rows, "test"),
        "test, sure": figures(scores, kept, rows, "test"),
    }
    save(model)
    DANGER_FILE.with_suffix(".json").write_text(json.dumps(printed, indent=1) + "\n", "utf-8")
    save_trained(DANGER_FILE.with_name("trained.npy"), [(row.text,) for row in rows if row.part != "test"])
    write_sample(rows)
    print(json.dumps(printed, indent=1))


def made(rows: list[Row], read: list[MessageReading]) -> DangerModel:
    """The detector: first of the writer's own danger, then of others'."""
    labels, part = np.array([row.urgency > 0 for row in rows]), np.array([row.part for row in rows])
    source = np.array([row.source for row in rows])
    signs = np.array([sign_anywhere(straightened(row.text)) is not None for row in rows])
    choose, learn = (part == "choose") & (source != "others"), (part == "learn") & (source != "others")
    logits, vectors = np.array([each.danger_logit for each in read]), np.stack([each.vector for each in read])
    calibration = LogisticRegression(C=1.0).fit(logits[choose, None], labels[choose])
    scores = calibration.decision_function(logits[:, None])
    # The further rows are harder than what students write, on purpose: the threshold is set on the others.
    plain = np.array([row.source == "safety" and not row.group.startswith(FURTHER) for row in rows])
    personal = np.isin(source, ("personal", "tiage"))
    threshold = max(
        threshold_of(scores, signs, choose & ~labels & plain, FALSE_ALARMS),
        threshold_of(scores, signs, choose & ~labels & personal, PERSONAL_ALARMS),
    )
    second = LogisticRegression(C=OPINION_PRIOR, max_iter=400).fit(vectors[learn], labels[learn])
    together = logits + OPINION_SHARE * second.decision_function(vectors)
    heads = train(rows, read, part == "learn")
    others = OthersModel(heads["concern"], heads["urgency"], heads["about"], OTHERS_SHARE, 0.0, np.inf)
    odds = np.array([others.log_odds(each) for each in read])
    stands = np.array([each.about_other >= 0.5 or reader_urgency(each) >= ACUTE for each in read])
    heard, spoken = scores >= threshold, (part == "choose") & labels & np.isin(source, ("safety", "others"))
    model = DangerModel(
        others=replace(others, overruled=float(np.quantile(odds[spoken & heard], OTHERS_OVERRULED))),
        opinion=second.coef_[0].astype(np.float32),
        opinion_offset=float(second.intercept_[0]),
        opinion_share=OPINION_SHARE,
        scale=float(calibration.coef_[0, 0]),
        offset=float(calibration.intercept_[0]),
        threshold=threshold,
        overruled=float(np.quantile(together[choose & labels & heard & ~signs & ~stands], OVERRULED_SHARE)),
        sure=0.0,
    )
    found = signs | np.array([model.alarms(each) for each in read])
    told = choose & ~labels & ~found & np.array([others.is_about_other(each) for each in read])
    raised = float(np.sort((logits + OTHERS_SHARE * odds)[told])[-1 - OTHERS_RAISED] + 1e-6)
    sure = float(np.quantile(together[choose & labels & plain & found], 1 - SURE_SHARE))
    return replace(model, others=replace(model.others, raised=raised), sure=sure)


def train(rows: list[Row], read: list[MessageReading], learn: NDArray[np.bool_]) -> dict[str, LinearHead]:
    """The second opinion: kind of danger or none, and of dangers the urgency and whom they are about."""
    trust = np.repeat([READER_TRUST, VECTOR_TRUST], [WIDTH, DIMENSION])
    features = trust * np.stack([each.features for each in read])
    known = trained_hashes(READER_FOLDER / "trained.npy")
    count = np.array([1.0 if text_hash(row.text) in known else UNREAD for row in rows])
    danger = learn & np.array([row.urgency > 0 for row in rows])
    kinds = np.array([CONCERNS.index(row.concern) for row in rows])
    urgency = np.array([row.urgency for row in rows])
    other = np.array([row.who == "other" for row in rows])

    def head(answers: NDArray[Any], those: NDArray[np.bool_], prior: float, **kind: Any) -> LinearHead:
        made = LogisticRegression(C=prior, max_iter=1000, **kind).fit(features[those], answers[those], count[those])
        weights, bias = (trust * made.coef_).astype(np.float16), made.intercept_
        if len(made.classes_) == 2:  # of two answers the model keeps only the difference
            weights, bias = np.concatenate([0 * weights, weights]), np.concatenate([0 * bias, bias])
        return LinearHead(tuple(map(str, made.classes_)), weights.astype(np.float32), bias.astype(np.float32))

    return {
        "concern": head(kinds, learn, OTHERS_PRIOR),
        "urgency": head(urgency, danger, OTHERS_PRIOR, class_weight="balanced"),
        "about": head(other, danger, OTHERS_PRIOR),
    }


def save(model: DangerModel) -> None:
    others = model.others
    heads = {"concern": others.concern, "urgency": others.urgency, "about": others.about}
    arrays: dict[str, Any] = {f"{name}_labels": np.array(head.labels) for name, head in heads.items()}
    arrays |= {f"{name}_weights": head.weights.astype(np.float16) for name, head in heads.items()}
    arrays |= {f"{name}_bias": head.bias for name, head in heads.items()}
    arrays |= {f"others_{name}": np.float64(getattr(others, name)) for name in ("share", "overruled", "raised")}
    arrays |= {each.name: getattr(model, each.name) for each in fields(model) if each.name != "others"}
    np.savez_compressed(DANGER_FILE, **arrays)


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
    for name, wanted in (
        ("messages", "safety"), ("personal", "personal"), ("small_talk", "tiage"), ("talk", "talk")
    ):  # fmt: skip
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
