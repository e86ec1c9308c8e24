"""Set the detector of danger (`graphmem/text/safety.py`): calibration, threshold, figures, and the sample that ships.

    python scripts/make_safety.py --data DATA

To be run after `make_reader.py`, whose split it shares. DATA holds `safety/safety.jsonl`, `tutoring/*.jsonl`,
`boundaries/tiage_*.jsonl` and `understanding/utterances.jsonl`; `scripts/data` holds further rows, and personal talk in
which nobody is in danger. Rows are split by the hash of their group (row or dialogue): a fifth of DATA and of the
personal talk, and the second file of small talk, are the test part, read once at the end; of the others one in seven,
which the reader has not learned from either, chooses the calibration and the thresholds. A second opinion, linear on
the embedding alone, learns from the others: what it speaks against strongly raises no concern, unless a life is in
danger now or another person is meant; what it doubts is brought up again only where the talk touches it. What people
report of others (`reports.jsonl`) is only measured. Needs scikit-learn.
"""

import argparse
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from graphmem.bench.held_out import is_held_out, save_trained
from graphmem.bench.matching import auroc
from graphmem.model import ACUTE, Author
from graphmem.samples import SAMPLES
from graphmem.samples.dialogues import load_dialogues
from graphmem.text.normalize import straightened
from graphmem.text.reader import read_now
from graphmem.text.safety import DANGER_FILE, sign_anywhere

FALSE_ALARMS = 0.12
"""Share of the look-alikes that chose that may raise a concern: missing costs more. It was 0.15 until false alarms of
LoCoMo and of the held-out rows were looked at: the figures of those are a little too good."""
PERSONAL_ALARMS = 0.02
"""Share of the harmless personal talk that chose that may."""
OPINION_PRIOR, OPINION_SHARE, OVERRULED_SHARE, SURE_SHARE = 10.0, 1.0, 0.01, 0.95
"""Strength of the second opinion's weights, its part beside the reader's log odds, the share of the dangers found among
the rows that chose that it may overrule, and the share among the plain ones of which both have to be sure."""
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
            self.source in ("safety", "written", "personal", "tiage")
            and hashlib.sha256(self.group.encode()).digest()[1] % 7 == 1
        )
        return "choose" if chooses else "learn"


def read_all(data: Path) -> list[Row]:
    """Messages of danger and look-alikes, then ordinary talk, each text once."""
    rows: dict[str, Row] = {}
    further = Path(__file__).with_name("data")
    files = [
        data / "safety" / "safety.jsonl",
        *(further / f"{name}.jsonl" for name in ("safety", "personal", "reports")),
    ]
    for path in files:
        for each in lines(path):
            source = path.stem
            rows[each["text"]] = Row(each["text"], each["concern"], each["urgency"], each["who"], source, each["id"])
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
    told |= {"false_alarms_personal": found[personal & ~danger].mean(), "false_alarms_small_talk": found[small].mean()}
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
    labels = np.array([row.urgency > 0 for row in rows])
    part = np.array([row.part for row in rows])
    choose = part == "choose"
    logits = np.array([each.danger_logit for each in read])
    calibration = LogisticRegression(C=1.0).fit(logits[choose, None], labels[choose])
    scores = calibration.decision_function(logits[:, None])
    signs = np.array([sign_anywhere(straightened(row.text)) is not None for row in rows])
    # The further rows are harder than what students write, on purpose: the threshold is set on the others.
    plain = np.array([row.source == "safety" and not row.group.startswith(FURTHER) for row in rows])
    personal = np.array([row.source in ("personal", "tiage") for row in rows])
    threshold = max(
        threshold_of(scores, signs, choose & ~labels & plain, FALSE_ALARMS),
        threshold_of(scores, signs, choose & ~labels & personal, PERSONAL_ALARMS),
    )
    vectors, learn = np.stack([each.vector for each in read]), part == "learn"
    second = LogisticRegression(C=OPINION_PRIOR, max_iter=400).fit(vectors[learn], labels[learn])
    together = logits + OPINION_SHARE * second.decision_function(vectors)
    raised = scores >= threshold
    urgent = np.array([each.urgency[1:].argmax() + 1 >= ACUTE for each in read])
    stands = urgent | np.array([each.about_other >= 0.5 for each in read])
    overruled = float(np.quantile(together[choose & labels & raised & ~signs & ~stands], OVERRULED_SHARE))
    found = (raised & (stands | (together >= overruled))) | signs
    sure = float(np.quantile(together[choose & labels & plain & found], 1 - SURE_SHARE))
    kept = found & (signs | urgent | (together >= sure))
    printed = {
        "chosen on": figures(scores, found, rows, "choose"),
        "test": figures(scores, found, rows, "test"),
        "test, signs alone": figures(scores, signs, rows, "test"),
        "test, sure": figures(scores, kept, rows, "test"),
    }
    stored = {
        "scale": round(float(calibration.coef_[0, 0]), 4),
        "offset": round(float(calibration.intercept_[0]), 4),
        "threshold": round(threshold, 4),
        "opinion_offset": round(float(second.intercept_[0]), 4),
        "opinion_share": OPINION_SHARE,
        "overruled": round(overruled, 4),
        "sure": round(sure, 4),
        "opinion": [round(float(each), 3) for each in second.coef_[0]],
        "figures": printed,
    }
    text = json.dumps(stored, indent=1)
    # The weights on one line: nobody reads them.
    weights = json.dumps(stored["opinion"])
    DANGER_FILE.write_text(re.sub(r'("opinion": )\[[^\]]*\]', rf"\g<1>{weights}", text) + "\n", "utf-8")
    save_trained(DANGER_FILE.with_name("trained.npy"), [(row.text,) for row in rows if row.part != "test"])
    write_sample(rows)
    print(json.dumps(printed, indent=1))


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
