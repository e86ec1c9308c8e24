"""Make what tells kinds of talk (`graphmem.text.talk.TalkKind`): logistic regression over the reader and words.

    python scripts/make_talk.py --data DATA

DATA holds `boundaries/tiage_*.jsonl` and `tutoring/*.jsonl`. `scripts/data/talk_acts.jsonl` holds written turns,
`talk_acts_real.jsonl` labels of turns of TIAGE, MathDial, Bridge and CIMA by their hash (their texts keep their own
licences): a part of each drawn by lot, and of TIAGE further turns that say neither "I" nor "you" or that ask. A turn
of which no kind could be told was left out; one that also asks the other counts as talk about the companion, and "tell
me about sharks" as a question.

Held out are TIAGE's dev part and a fifth of the written turns (by their text) and of the tutoring talk (by the
dialogue), without what was learned word for word from elsewhere: figures on them stand in `talk.json`. The strength is
chosen by cross-validation on the others. Needs scikit-learn.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from make_domain import share
from make_ledger import lines, turns_of_talk
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, f1_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from graphmem.bench.talks import is_held_out, text_hash
from graphmem.text.dialogue_acts import Act, act_of
from graphmem.text.doc import Doc
from graphmem.text.reader import read_now
from graphmem.text.talk import TALK_FILE, TalkKind, talk_features

FURTHER = Path(__file__).with_name("data")
TUTORING = ("mathdial", "bridge", "cima")
STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0)
FOLDS = StratifiedKFold(5, shuffle=True, random_state=1)
RIGHT = 0.9
"""Share of what is told with `sure_from` or a higher chance that is right."""
RULES = {
    Act.INSTRUCTION: TalkKind.REQUEST,
    Act.SORROW: TalkKind.OWN,
    Act.FRUSTRATION: TalkKind.OWN,
    Act.CONFUSION: TalkKind.WORK,
    Act.QUESTION: TalkKind.QUESTION,
    Act.STEP: TalkKind.WORK,
    Act.GOODBYE: TalkKind.GOODBYE,
    Act.THANKS: TalkKind.THANKS,
    Act.GREETING: TalkKind.GREETING,
    Act.AGREEMENT: TalkKind.REACTION,
    Act.DISCLOSURE: TalkKind.OWN,
    Act.STATEMENT: TalkKind.OPINION,
    Act.UNREADABLE: TalkKind.REACTION,
}
"""The kind that each act by rule comes nearest to; the rules know nothing of story, companion and ability."""
Rows = list[tuple[str, str]]
"""Turns and their kinds."""


def written() -> tuple[Rows, Rows]:
    """Written turns to learn from, and those held out."""
    rows = [(each["text"], each["talk"]) for each in lines(FURTHER / "talk_acts.jsonl")]
    return [row for row in rows if not is_held_out(row[0])], [row for row in rows if is_held_out(row[0])]


def real_talk(texts: Sequence[str], part: str) -> Rows:
    """Labelled turns of a part of the real talk."""
    known = {each["hash"]: each["talk"] for each in lines(FURTHER / "talk_acts_real.jsonl") if each["part"] == part}
    found = [(text, known[text_hash(text)]) for text in dict.fromkeys(texts) if text_hash(text) in known]
    print(f"{len(found)} of {len(known)} labels of {part} found")
    return found


def tutoring(data: Path, name: str) -> tuple[Rows, Rows]:
    """Labelled turns of students to learn from, and those of dialogues that are held out."""
    turns = [
        (turn["text"], is_held_out(f"{name}:{dialogue['dialogue_id']}"))
        for dialogue in lines(data / "tutoring" / f"{name}.jsonl")
        for turn in dialogue["turns"]
        if turn["speaker"] == "student"
    ]
    held = {text for text, is_held in turns if is_held}
    rows = real_talk([text for text, _ in turns], name)
    return [row for row in rows if row[0] not in held], [row for row in rows if row[0] in held]


def features(rows: Rows) -> NDArray[np.float32]:
    texts = [text for text, _ in rows]
    return np.stack([talk_features(Doc(text), each) for text, each in zip(texts, read_now(texts), strict=True)])


def sets(data: Path) -> tuple[Rows, dict[str, Rows]]:
    """Rows to learn from, and those held out by where they are from."""
    learned, held = written()
    train, dev = (real_talk(turns_of_talk(data / "boundaries" / f"tiage_{p}.jsonl"), p) for p in ("train", "dev"))
    taught = [tutoring(data, name) for name in TUTORING]
    learned = [*learned, *train, *(row for rows, _ in taught for row in rows)]
    seen = {text.lower() for text, _ in learned}
    parts = {"written": held, "small_talk": dev, "tutoring": [row for _, rows in taught for row in rows]}
    return learned, {name: [row for row in rows if row[0].lower() not in seen] for name, rows in parts.items()}


def model(strength: float) -> LogisticRegression:
    return LogisticRegression(C=strength, max_iter=3000)


def chosen_strength(x: NDArray[np.float32], wanted: Sequence[str]) -> tuple[float, NDArray[np.float64]]:
    """The strength that tells most rows right in cross-validation, and the chances it gave there."""
    kinds = np.unique(wanted)
    tried = {s: cross_val_predict(model(s), x, wanted, cv=FOLDS, method="predict_proba") for s in STRENGTHS}
    rights = {s: share(kinds[chances.argmax(axis=1)], wanted) for s, chances in tried.items()}
    print(rights)
    best = max(STRENGTHS, key=rights.__getitem__)
    return best, tried[best]


def sure_from(likeliest: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """The lowest chance from which on so many as `RIGHT` are right."""
    order = np.argsort(-likeliest)
    shares = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    return round(float(likeliest[order][np.flatnonzero(shares >= RIGHT)[-1]]), 2)


def figures(made: LogisticRegression, rows: Rows, sure: float) -> dict[str, Any]:
    """Share that is told right, F1 of each kind, and beside them the rules' share."""
    wanted, chances = [kind for _, kind in rows], made.predict_proba(features(rows))
    told = [str(made.classes_[place]) for place in chances.argmax(axis=1)]
    ruled = [RULES[act_of(Doc(text))].value for text, _ in rows]
    kinds = sorted(set(wanted))
    certain = chances.max(axis=1) >= sure
    f1 = f1_score(wanted, told, labels=kinds, average=None)
    return {
        "rows": len(rows),
        "of_each": dict(Counter(wanted).most_common()),
        "right": share(told, wanted),
        "macro_f1": round(float(np.mean(f1)), 3),
        "f1": {kind: round(float(value), 2) for kind, value in zip(kinds, f1, strict=True)},
        "sure": round(float(certain.mean()), 3),
        "right_where_sure": share(np.array(told)[certain], np.array(wanted)[certain]),
        "right_by_the_rules": share(ruled, wanted),
        "macro_f1_by_the_rules": round(float(f1_score(wanted, ruled, labels=kinds, average="macro")), 3),
    }


def show_confusion(made: LogisticRegression, rows: Rows) -> None:
    """Print what was told (columns) for each kind (rows), and the turns told wrong."""
    told, wanted = made.predict(features(rows)), [kind for _, kind in rows]
    print(" " * 10, *(f"{kind[:5]:>5}" for kind in made.classes_))
    for kind, counts in zip(made.classes_, confusion_matrix(wanted, told, labels=made.classes_), strict=True):
        print(f"{kind:10}", *(f"{count:5}" for count in counts))
    for (text, kind), wrong in zip(rows, told, strict=True):
        if kind != wrong:
            print(f"  {kind} told as {wrong}: {text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of boundaries and tutoring")
    learned, held = sets(parser.parse_args().data)
    x, wanted = features(learned), [kind for _, kind in learned]
    strength, chances = chosen_strength(x, wanted)
    kinds = np.unique(wanted)
    sure = sure_from(chances.max(axis=1), kinds[chances.argmax(axis=1)] == np.array(wanted))
    made = model(strength).fit(x, wanted)
    TALK_FILE.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        TALK_FILE,
        talk_labels=made.classes_.astype(str),
        talk_weights=made.coef_.astype(np.float32),
        talk_bias=made.intercept_.astype(np.float32),
    )
    found = {
        "learned_from": len(learned),
        "strength": strength,
        "sure_from": sure,
        "held_out": {name: figures(made, rows, sure) for name, rows in held.items()},
    }
    TALK_FILE.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))
    show_confusion(made, [row for rows in held.values() for row in rows])


if __name__ == "__main__":
    main()
