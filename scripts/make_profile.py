"""Make the heads of the standing profile: logistic regression on the vectors of the shipped model.

    python scripts/make_profile.py --understanding utterances.jsonl

Rows written for it lie in `scripts/data/profile.jsonl` (CC0), statements of memories with their part in
`profile_told.jsonl` and `disclosures.jsonl`, statements of what is hard or can be done in `work_statements.jsonl`,
questions for memories in `recollections.jsonl`, and messages of which is known whether they ask for memories in
`sloppy.jsonl`, `chat_memories.jsonl` and, as whole chats, `chats.jsonl`: that is told by the question of a message and
a few marks, whether all or last time is asked for by a head that the other rows make. Lasting facts and ordinary talk
come from labelled utterances (`{"text", "source", "kind", "lasting", "ledger", "about_self"}`). A fifth of the rows, by
a hash of their group, and some chats are only reported; strength is chosen by cross-validation on the rest.
"""

import argparse
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold, cross_val_predict

from graphmem.bench.chats import CHATS as CHATS_HELD_OUT
from graphmem.text.doc import Doc
from graphmem.text.embedder import ShippedNetwork
from graphmem.text.profile import MEMORY, PROFILE_FILE, asking_marks
from graphmem.text.query_parser import question_in

WRITTEN = Path(__file__).parent / "data" / "profile.jsonl"
ASKED = WRITTEN.with_name("sloppy.jsonl")
RECOLLECTIONS = WRITTEN.with_name("recollections.jsonl")
CHATS = WRITTEN.with_name("chats.jsonl")
CHAT_MEMORIES = WRITTEN.with_name("chat_memories.jsonl")
TOLD = WRITTEN.with_name("profile_told.jsonl")
OF_WORK = WRITTEN.with_name("work_statements.jsonl")
DISCLOSED = WRITTEN.with_name("disclosures.jsonl")
OTHER, OWN, NO = "other", "own", "no"
LEARNED, CHATS_APART = "learned", "test chats"
"""Groups of the messages of chats, which are held out as whole chats."""
CHAT_WORTH, FURTHER_WORTH, PLAIN_WORTH = 4.0, 1.0, 0.2
"""How much a message of a chat counts, a further question about a chat, and a plain question that stands alone: of
those there are many, and none that asks for anything else. Chosen with the held-out chats in view, as is the
strength."""
WHOLE, SURE = ("overview", "last_time"), 0.7
"""Parts that a message asks for where that is likely enough; else it asks for one thing."""
STRENGTHS = (1.0, 3.0, 10.0, 30.0)
LASTING = 2


@dataclass(frozen=True)
class Row:
    """A labelled text, the group it must not be parted from, and how much it counts for the head `asking`."""

    text: str
    label: str
    group: str
    worth: float = 1.0


def is_test(group: str) -> bool:
    """True for the fifth of the groups that nothing is fitted to, and for those that are held out by name."""
    return group in ("test", CHATS_APART) or (group != LEARNED and hashlib.sha256(group.encode()).digest()[0] % 5 == 0)


def written(about: str) -> list[Row]:
    rows = [json.loads(line) for line in WRITTEN.read_text("utf-8").splitlines()]
    return [Row(row["text"], row["label"], row["text"]) for row in rows if row["about"] == about]


def told() -> list[Row]:
    """Statements as memories hold them."""
    rows = [json.loads(line) for line in TOLD.read_text("utf-8").splitlines()]
    found = [Row(row["text"], row["label"], "test" if row["split"] == "test" else row["text"]) for row in rows]
    disclosed = map(json.loads, DISCLOSED.read_text("utf-8").splitlines())
    return found + [Row(row["text"], row["part"], row["family"]) for row in disclosed if "part" in row]


def of_work() -> list[Row]:
    """Statements of what is hard for a student, of what the student can do, and of neither."""
    labels = {"struggle": "struggles", "strength": "strengths", "none": OTHER}
    rows = [json.loads(line) for line in OF_WORK.read_text("utf-8").splitlines()]
    return [Row(row["text"], labels[row["label"]], row["text"]) for row in rows]


def asked(known: Sequence[Row], encode: Any) -> list[Row]:
    """Messages that ask for memories, with the part that a head made of the known rows takes them for, and others."""
    rows = [json.loads(line) for line in ASKED.read_text("utf-8").splitlines()]
    for student in map(json.loads, RECOLLECTIONS.read_text("utf-8").splitlines()):
        plain = {"asks": "memory", "split": student["split"], "worth": PLAIN_WORTH}
        rows += [plain | {"means": each["q"]} for each in student["questions"]]
    x = np.concatenate([encode([row.text]) for row in known])
    head = LogisticRegression(C=10.0, class_weight="balanced", max_iter=2000).fit(x, [row.label for row in known])
    found = []
    for row in rows:
        chances = head.predict_proba(encode([row["means"]]))[0]
        likely = str(head.classes_[chances.argmax()])
        part = likely if likely in WHOLE and chances.max() >= SURE else OWN
        group = "test" if row["split"] == "test" else row["means"]
        found.append(Row(row["means"], part if row["asks"] == "memory" else OTHER, group, row.get("worth", 1.0)))
    return found


def asking(known: Sequence[Row]) -> list[Row]:
    """Messages, and whether they ask for memories: those of `known` by what they ask for, and those of chats."""
    rows = [replace(row, label=NO if row.label == OTHER else MEMORY) for row in known]
    chats = [path.read_text("utf-8").splitlines() for path in (CHATS, CHATS_HELD_OUT)]
    for chat in map(json.loads, (*chats[0], *chats[1])):
        questions = {each["q"] for each in chat["questions"]}
        group = CHATS_APART if chat["split"] == "test" else LEARNED
        for said in chat["messages"]:
            if not said.startswith("#"):
                rows.append(Row(said, MEMORY if said in questions else NO, group, CHAT_WORTH))
    for chat in map(json.loads, CHAT_MEMORIES.read_text("utf-8").splitlines()):
        group = LEARNED if chat["split"] == "train" else "test"
        rows += [Row(each["q"], MEMORY, group, FURTHER_WORTH) for each in chat["questions"]]
        rows += [Row(each["text"], NO, group, CHAT_WORTH) for each in chat["later"]]
    return rows


def asking_head(rows: Sequence[Row], encode: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Weights and figures of the head that tells whether a message asks for memories."""
    docs = [Doc(row.text) for row in rows]
    vectors = np.concatenate([encode([question_in(doc).text]) for doc in track(docs, "asking")])
    x = np.hstack([vectors, np.stack([asking_marks(doc) for doc in docs])])
    y, test = np.array([row.label == MEMORY for row in rows]), np.array([is_test(row.group) for row in rows])
    worth = np.array([row.worth for row in rows])
    made = LogisticRegression(C=3.0, max_iter=3000).fit(x[~test], y[~test], worth[~test])
    sure = made.predict(x[test])
    of_chats = np.array([row.group == CHATS_APART for row in rows])[test]
    found: dict[str, Any] = {"rows": len(rows), "rows_test": int(test.sum())}
    for name, held in (("others", ~of_chats), ("chats", of_chats)):
        found[name] = {
            "recall": round(float(sure[held & y[test]].mean()), 3),
            "taken for such": round(float(sure[held & ~y[test]].mean()), 3),
        }
    weights = {
        "asking_labels": np.array([NO, MEMORY]),
        "asking_weights": np.vstack([np.zeros(x.shape[1]), made.coef_[0]]).astype(np.float32),
        "asking_bias": np.array([0.0, made.intercept_[0]], dtype=np.float32),
    }
    return weights, found


def from_talk(path: Path) -> tuple[list[Row], list[Row]]:
    """Statements and questions among the labelled utterances."""
    statements, questions = [], []
    for row in map(json.loads, path.read_text("utf-8").splitlines()):
        group = row["text"] if row["source"] == "written" else row["source"].split("#")[0]
        if row["text"].rstrip().endswith("?"):
            questions.append(Row(row["text"], "other", group))
        elif not row["lasting"]:
            statements.append(Row(row["text"], "none", group))
        elif row["kind"] == "trait" and row["ledger"] == "fact" and row["lasting"] > LASTING:
            statements.append(Row(row["text"], "need", group))
    return statements, questions


def fitted(name: str, rows: Sequence[Row], encode: Any) -> tuple[dict[str, Any], dict[str, float]]:
    """Weights and figures of one head."""
    x = np.concatenate([encode([row.text]) for row in track(rows, name)])
    y, groups = np.array([row.label for row in rows]), np.array([row.group for row in rows])
    test = np.array([is_test(row.group) for row in rows])

    labels, counts = np.unique(y[~test], return_counts=True)
    # Rare labels count more, but not as much as all of a common one: what is picked has to be right.
    weights_of = dict(zip(labels, np.sqrt(counts.mean() / counts), strict=True))

    def model(strength: float) -> LogisticRegression:
        return LogisticRegression(C=strength, class_weight=weights_of, max_iter=2000)

    def score(strength: float) -> float:
        guessed = cross_val_predict(model(strength), x[~test], y[~test], groups=groups[~test], cv=GroupKFold(5))
        return float(f1_score(y[~test], guessed, average="macro"))

    scores = {strength: score(strength) for strength in STRENGTHS}
    best = max(scores, key=lambda strength: scores[strength])
    made = model(best).fit(x[~test], y[~test])
    guessed = made.predict(x[test])
    figures = {
        "strength": best,
        "macro_f1_cross_validated": round(scores[best], 3),
        "macro_f1_test": round(float(f1_score(y[test], guessed, average="macro")), 3),
        "accuracy_test": round(float(np.mean(guessed == y[test])), 3),
        "rows": len(rows),
        "rows_test": int(test.sum()),
    }
    for row, guess in zip(np.array([row.text for row in rows])[test], guessed, strict=True):
        wanted = next(each.label for each in rows if each.text == row)
        if wanted != guess:
            print(f"  {wanted} read as {guess}: {row[:90]}")
    weights = {
        f"{name}_labels": made.classes_.astype(str),
        f"{name}_weights": made.coef_.astype(np.float32),
        f"{name}_bias": made.intercept_.astype(np.float32),
    }
    return weights, figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--understanding", type=Path, required=True, help="labelled utterances as JSON lines")
    parser.add_argument("--out", type=Path, default=PROFILE_FILE, help="file to write")
    args = parser.parse_args()

    encode = ShippedNetwork(1).encode
    talk = dict(zip(("statement", "question"), from_talk(args.understanding), strict=True))
    figures: dict[str, Any] = {}
    made, figures["work"] = fitted("work", of_work(), encode)
    print("work", figures["work"])
    for name, rows in talk.items():
        known = [*written(name), *rows]
        known += asked(known, encode) if name == "question" else told()
        weights, figures[name] = fitted(name, known, encode)
        made |= weights
        print(name, figures[name])
        if name == "question":
            weights, figures["asking"] = asking_head(asking(known), encode)
            made |= weights
            print("asking", figures["asking"])
    args.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(args.out, **made)
    args.out.with_name("figures.json").write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
