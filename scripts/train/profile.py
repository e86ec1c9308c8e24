"""Heads of the standing profile: logistic regression on the vectors of the shipped embedder.

Which part a statement tells, which part a question asks for, and whether a statement is of what is hard or can be done,
are learned from rows of `scripts/data`, from lasting facts and ordinary talk among labelled utterances. Whether a
message asks for memories is told by its question and a few marks. A fifth of the rows, by a hash of their group, and
some chats are only reported; strength is chosen by cross-validation on the rest.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold, cross_val_predict

from graphmem.bench.chats import CHATS
from graphmem.text.doc import Doc, question_in
from graphmem.text.profile import MEMORY, asking_marks

from .options import WRITTEN, Figures, Options, embedded, lines

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

    @property
    def is_test(self) -> bool:
        """True for the fifth of the groups that nothing is fitted to, and for those that are held out by name."""
        if self.group in ("test", CHATS_APART, LEARNED):
            return self.group != LEARNED
        return hashlib.sha256(self.group.encode()).digest()[0] % 5 == 0


def make(given: Options) -> Figures:
    """Write `profile.npz`: labels, weights and bias of each head."""
    talk = list(from_talk(given.data / "understanding" / "utterances.jsonl"))
    asks = [*written("profile", about="question"), *(row for is_question, row in talk if is_question)]
    asks += asked(asks)
    told = [*written("profile_told"), *written("disclosures", "part")]
    statements = [row for is_question, row in talk if not is_question]
    rows = {
        "work": [replace(row, label=WORK[row.label]) for row in written("work_statements")],
        "statement": [*written("profile", about="statement"), *statements, *told],
        "question": asks,
    }
    made, figures = dict[str, Any](), Figures()
    for name, own in rows.items():
        weights, figures[name] = fitted(name, own)
        made |= weights
    weights, figures["asking"] = asking_head(list(asking(asks)))
    np.savez_compressed(given.folder / "profile.npz", **(made | weights))
    return figures


WORK = {"struggle": "struggles", "strength": "strengths", "none": OTHER}
"""Labels of statements of what is hard for a student, of what the student can do, and of neither."""


def written(name: str, label: str = "label", **only: str) -> Iterator[Row]:
    """Yield the rows of a file that have a label, and some other values."""
    for row in lines(WRITTEN / f"{name}.jsonl"):
        if label in row and only.items() <= row.items():
            group = "test" if row.get("split") == "test" else row.get("family", row["text"])
            yield Row(row["text"], row[label], group)


def from_talk(path: Path) -> Iterator[tuple[bool, Row]]:
    """Yield questions and statements among the labelled utterances, with True for a question."""
    for row in lines(path):
        group = row["text"] if row["source"] == "written" else row["source"].split("#")[0]
        if row["text"].rstrip().endswith("?"):
            yield True, Row(row["text"], OTHER, group)
        elif not row["lasting"]:
            yield False, Row(row["text"], "none", group)
        elif row["kind"] == "trait" and row["ledger"] == "fact" and row["lasting"] > LASTING:
            yield False, Row(row["text"], "need", group)


def asked(known: Sequence[Row]) -> list[Row]:
    """Return messages that ask for memories, with the part that a head of known rows takes them for, and others."""
    rows = list(lines(WRITTEN / "sloppy.jsonl"))
    for student in lines(WRITTEN / "recollections.jsonl"):
        plain = {"asks": "memory", "split": student["split"], "worth": PLAIN_WORTH}
        rows += [plain | {"means": each["q"]} for each in student["questions"]]
    head = LogisticRegression(C=10.0, class_weight="balanced", max_iter=2000)
    head.fit(embedded([row.text for row in known]), [row.label for row in known])
    found = []
    for row, chances in zip(rows, head.predict_proba(embedded([row["means"] for row in rows])), strict=True):
        likely = str(head.classes_[chances.argmax()])
        part = likely if likely in WHOLE and chances.max() >= SURE else OWN
        group = "test" if row["split"] == "test" else row["means"]
        found.append(Row(row["means"], part if row["asks"] == "memory" else OTHER, group, row.get("worth", 1.0)))
    return found


def asking(known: Sequence[Row]) -> Iterator[Row]:
    """Yield messages, and whether they ask for memories: those known by what they ask for, and those of chats."""
    for row in known:
        yield replace(row, label=NO if row.label == OTHER else MEMORY)
    for chat in (*lines(WRITTEN / "chats.jsonl"), *lines(CHATS)):
        questions = {each["q"] for each in chat["questions"]}
        group = CHATS_APART if chat["split"] == "test" else LEARNED
        for said in chat["messages"]:
            if not said.startswith("#"):
                yield Row(said, MEMORY if said in questions else NO, group, CHAT_WORTH)
    for chat in lines(WRITTEN / "chat_memories.jsonl"):
        group = LEARNED if chat["split"] == "train" else "test"
        yield from (Row(each["q"], MEMORY, group, FURTHER_WORTH) for each in chat["questions"])
        yield from (Row(each["text"], NO, group, CHAT_WORTH) for each in chat["later"])


def asking_head(rows: Sequence[Row]) -> tuple[dict[str, Any], Figures]:
    """Return weights and figures of the head that tells whether a message asks for memories."""
    docs = [Doc(row.text) for row in rows]
    vectors = embedded([question_in(doc).text for doc in docs])
    x = np.hstack([vectors, np.stack([asking_marks(doc) for doc in docs])])
    y, test, worth = (
        np.array(each) for each in zip(*((r.label == MEMORY, r.is_test, r.worth) for r in rows), strict=True)
    )
    made = LogisticRegression(C=3.0, max_iter=3000).fit(x[~test], y[~test], worth[~test])
    sure, of_chats = made.predict(x), np.array([row.group == CHATS_APART for row in rows])
    found: Figures = {"rows": len(rows), "rows_test": int(test.sum())}
    for name, own in (("others", test & ~of_chats), ("chats", test & of_chats)):
        shares = {"recall": sure[own & y].mean(), "taken for such": sure[own & ~y].mean()}
        found[name] = {key: round(float(share), 3) for key, share in shares.items()}
    weights = np.vstack([np.zeros(x.shape[1]), made.coef_[0]])
    return named("asking", np.array([NO, MEMORY]), weights, np.array([0.0, made.intercept_[0]])), found


def fitted(name: str, rows: Sequence[Row]) -> tuple[dict[str, Any], Figures]:
    """Return weights and figures of one head."""
    x = embedded([row.text for row in rows])
    y, groups, test = (np.array(each) for each in zip(*((r.label, r.group, r.is_test) for r in rows), strict=True))
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
    return named(name, made.classes_.astype(str), made.coef_, made.intercept_), {
        "strength": best,
        "macro_f1_cross_validated": round(scores[best], 3),
        "macro_f1_test": round(float(f1_score(y[test], guessed, average="macro")), 3),
        "accuracy_test": round(float(np.mean(guessed == y[test])), 3),
        "rows": len(rows),
        "rows_test": int(test.sum()),
    }


def named(name: str, labels: Any, weights: Any, bias: Any) -> dict[str, Any]:
    """Return the arrays of a head under their names."""
    numbers = {f"{name}_weights": weights.astype(np.float32), f"{name}_bias": bias.astype(np.float32)}
    return {f"{name}_labels": labels} | numbers
