"""Set the detector of danger (`graphmem/text/safety.py`): calibration, threshold, figures, and the sample that ships.

    python scripts/make_safety.py --data DATA

To be run after `make_reader.py`, whose split it shares. DATA holds `safety/safety.jsonl`, `tutoring/*.jsonl`,
`boundaries/tiage_*.jsonl` and `understanding/utterances.jsonl`; `scripts/data` holds further rows, and personal talk in
which nobody is in danger. Rows are split by the hash of their group (row or dialogue): a fifth of DATA and of the
personal talk, and the second file of small talk, are the test part, read once at the end; of the others one in seven,
which nothing has learned from, chooses thresholds and what counts how much. What the reader tells says which messages
are suspected; the network of `make_danger.py`, which comes before this, reads those. What people report of others
(`reports.jsonl`) is only measured. Needs scikit-learn.
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

from graphmem.bench.scores import auroc
from graphmem.bench.talks import is_held_out, save_trained, text_hash, trained_hashes
from graphmem.model import Author
from graphmem.samples import SAMPLES
from graphmem.samples.dialogues import load_dialogues
from graphmem.text.danger_network import DangerReading, load_danger_network
from graphmem.text.danger_signs import danger_sign
from graphmem.text.embedder import DIMENSION
from graphmem.text.language import may_be_english
from graphmem.text.reader import CONCERNS, READER_FOLDER, WIDTH, MessageReading, passage_readings
from graphmem.text.safety import DANGER_FILE, DangerModel
from graphmem.text.trained import LinearHead

FALSE_ALARMS, PERSONAL_ALARMS, EVERYDAY_ALARMS, WARM_ALARMS, ORDINARY_ALARMS = 0.12, 0.04, 0.16, 0.12, 0.0165
"""Share of the look-alikes, of the harmless talk of one's life, of everyday trouble, of the warm talk of friends and of
ordinary talk that chose that may be taken for danger: missing costs more. The first was 0.15, the next two 0.02 and
0.1, until figures of LoCoMo and of the held-out rows were looked at, and the fourth 0.03 and 0.1, which cost recall:
the figures of those are a little too good."""
UNSUSPECTED, SURE_SHARE = 0.001, 0.9
"""Share of the dangers found among the rows that chose that the network need not be asked about (0.005 until a plain
sentence of a child was seen to be missed), and share of the plain ones that are sure."""
FIRST_PRIOR, JUDGE_PRIOR = 0.1, 1e-3
"""Strength of the weights of what judges by all that the reader tells, and of what puts three judgements together: few
rows choose these, and a stronger one would leave the reader out. The second was set with held-out rows in view."""
UNREAD, READER_TRUST, VECTOR_TRUST = 6.0, 0.25, 2.0
"""How much a row counts that the reader has not learned from, and what the reader's answers and the vector are scaled
by where it learns: the reader knows too well what it has learned from."""
ORDINARY = ("school_talk", "ordinary")
"""Further ordinary talk: what pupils type of their lives, with a few dangerous twins; messages and clauses that were
written for other models, none of danger."""
TRICKY = "tricky"
"""Harmless messages with the words and frames of dangerous ones: learned from and reported, and no bound is set on
them, who are rarer in talk than here."""
OF_MEMORY = ("The student", "On ", "Formerly")
"""How statements begin that are not in a student's own words."""
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
            self.source in ("safety", "written", "personal", "tiage", "others", "everyday", "warm", *ORDINARY)
            and hashlib.sha256(self.group.encode()).digest()[1] % 7 == 1
        )
        return "choose" if chooses else "learn"


def read_all(data: Path) -> list[Row]:
    """Messages of danger and look-alikes, then ordinary talk, each text once."""
    rows: dict[str, Row] = {}
    further = Path(__file__).with_name("data")
    files = [
        data / "safety" / "safety.jsonl",
        *(
            further / f"{name}.jsonl"
            for name in ("safety", "personal", "others", "everyday", "warm", "school_talk", "reports")
        ),
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
    for harmless in written_harmless(further):
        rows.setdefault(harmless.text, harmless)
    return list(rows.values())


def written_harmless(further: Path) -> Iterator[Row]:
    """Messages and clauses that were written for other models, or to deceive this one; none tells of danger."""
    # What is a secret may be danger.
    clauses = (each["text"] for each in lines(further / "ledger.jsonl") if each.get("ledger") != "secret")
    typed = (each["said"] for each in lines(further / "sloppy.jsonl"))
    for text in (*typed, *clauses, *told_before(further / "recollections.jsonl")):
        yield Row(text, "none", 0, "none", "ordinary", text)
    for each in lines(further / "ordinary.jsonl"):
        yield Row(each["text"], "none", 0, "none", TRICKY, each["text"])


def told_before(path: Path) -> Iterator[str]:
    """Questions for what was told before, and what students told in their own words, where that worries nobody."""
    for student in lines(path):
        yield from (asked["q"] for asked in student["questions"])
        # Those of the first students were not looked at for worries.
        if "worrying" in student:
            told = enumerate(student["statements"])
            yield from (t for i, t in told if i not in student["worrying"] and not t.startswith(OF_MEMORY))


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
    everyday = chosen(lambda row: row.source == "everyday")
    told["recall_everyday"] = found[everyday & danger].mean()
    told["false_alarms_everyday"] = found[everyday & ~danger].mean()
    school = chosen(lambda row: row.source == "school_talk")
    ordinary = chosen(lambda row: row.source == "ordinary")
    told |= {"recall_school": found[school & danger].mean(), "false_alarms_school": found[school & ~danger].mean()}
    told["false_alarms_ordinary"] = found[ordinary].mean()
    if part == "test":
        told["false_alarms_tricky"] = found[chosen(lambda row: row.source == TRICKY)].mean()
    warm = chosen(lambda row: row.source == "warm")
    told |= {"recall_warm": found[warm & danger].mean(), "false_alarms_warm": found[warm & ~danger].mean()}
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
    read = passage_readings([row.text for row in rows])
    signs = np.array([danger_sign(row.text) is not None for row in rows])
    network = load_danger_network()
    again = [network.read(row.text) if row.part != "learn" else None for row in rows]
    model = made(rows, read, again, signs)
    scores = np.array([np.nan if two is None else model.score(one, two) for one, two in zip(read, again, strict=True)])
    suspected = np.array(
        [may_be_english(row.text) and model.is_suspected(each) for row, each in zip(rows, read, strict=True)]
    )
    found = signs | (suspected & (scores >= model.threshold))
    printed = {
        "chosen on": figures(scores, found, rows, "choose"),
        "test": figures(scores, found, rows, "test"),
        "test, signs alone": figures(scores, signs, rows, "test"),
        "test, suspected": figures(scores, signs | suspected, rows, "test"),
        "test, sure": figures(scores, signs | (found & (scores >= model.sure)), rows, "test"),
    }
    save(model)
    DANGER_FILE.with_suffix(".json").write_text(json.dumps(printed, indent=1) + "\n", "utf-8")
    save_trained(DANGER_FILE.with_name("trained.npy"), [(row.text,) for row in rows if row.part != "test"])
    write_sample(rows)
    print(json.dumps(printed, indent=1))


def made(
    rows: list[Row], read: list[MessageReading], again: list[DangerReading | None], signs: NDArray[np.bool_]
) -> DangerModel:
    """The detector; its parts and thresholds are chosen on rows that nothing has learned from."""
    labels, source = np.array([row.urgency > 0 for row in rows]), np.array([row.source for row in rows])
    choose = np.array([row.part == "choose" and may_be_english(row.text) for row in rows])
    model = DangerModel(first_head(rows, read), np.zeros(3), 0.0, np.zeros(4), 0.0, 0.0)
    evidence = np.array([model.evidence(each) for each in read])
    logits = np.array([0.0 if each is None else each.logit for each in again])
    first = LogisticRegression(C=1.0, class_weight="balanced").fit(evidence[choose], labels[choose])
    both = np.column_stack([evidence, logits])
    second = LogisticRegression(C=JUDGE_PRIOR, class_weight="balanced").fit(both[choose], labels[choose])
    suspicion, scores = first.decision_function(evidence), second.decision_function(both)
    # The further rows are harder than what students write, on purpose: the threshold is set on the others.
    plain = np.array([row.source == "safety" and not row.group.startswith(FURTHER) for row in rows])
    harmless = {
        FALSE_ALARMS: plain,
        PERSONAL_ALARMS: np.isin(source, ("personal", "tiage")),
        EVERYDAY_ALARMS: np.isin(source, ("everyday", "others")),
        WARM_ALARMS: source == "warm",
        ORDINARY_ALARMS: np.isin(source, (*ORDINARY, "tiage")),
    }
    threshold = max(threshold_of(scores, signs, choose & ~labels & those, s) for s, those in harmless.items())
    heard = choose & labels & ~signs & (scores >= threshold)
    return replace(
        model,
        suspicion=np.append(first.coef_[0], first.intercept_),
        suspected=float(np.quantile(suspicion[heard], UNSUSPECTED)),
        judgement=np.append(second.coef_[0], second.intercept_),
        threshold=threshold,
        sure=float(np.quantile(scores[heard & plain], 1 - SURE_SHARE)),
    )


def first_head(rows: list[Row], read: list[MessageReading]) -> LinearHead:
    """The kind of danger or none, by all that the reader tells."""
    trust = np.repeat([READER_TRUST, VECTOR_TRUST], [WIDTH, DIMENSION])
    features = trust * np.stack([each.features for each in read])
    known = trained_hashes(READER_FOLDER / "trained.npy")
    count = np.array([1.0 if text_hash(row.text) in known else UNREAD for row in rows])
    kinds = np.array([CONCERNS.index(row.concern) for row in rows])
    learn = np.array([row.part == "learn" for row in rows])
    made = LogisticRegression(C=FIRST_PRIOR, max_iter=1000).fit(features[learn], kinds[learn], count[learn])
    weights = (trust * made.coef_).astype(np.float16).astype(np.float32)
    return LinearHead(tuple(map(str, made.classes_)), weights, made.intercept_.astype(np.float32))


def save(model: DangerModel) -> None:
    arrays: dict[str, Any] = {each.name: getattr(model, each.name) for each in fields(model) if each.name != "first"}
    arrays |= {
        "first_labels": np.array(model.first.labels),
        "first_weights": model.first.weights.astype(np.float16),
        "first_bias": model.first.bias,
    }
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
