"""The network that says whether a statement answers a question.

It learns from made-up students with their memories and questions about them, from whole chats with questions about
them, and from what was recalled for questions in chats (`recollections`, `chat_memories`, `chat_answers.jsonl`). A
question meets what answers it, what only seems to, and the nearest of the rest by the embedder. From four chats and
half of the students held out it is fitted how much the network and the embedder count; others are only measured.
"""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from graphmem.text.contradiction import ANSWERS, about_odds, answer_fitness, telling_stems
from graphmem.text.doc import Doc
from graphmem.text.embedder import shipped_network
from graphmem.text.networks import load_pair_network

from .options import WRITTEN, Figures, Options, lines
from .pairs import PairRow, Rows, chats_of, judged, of_chat, of_students, train
from .tower import typed

RECALLED = 16
"""Statements that are taken for what was recalled of a chat: the nearest to a question."""
STUDENT_WORTH = 0.5
"""How much a question counts for the fit that was not asked in a chat."""


def make(given: Options) -> Figures:
    """Train the network further, or with `--head weights` only fit how much network and embedder count."""
    students, answered = list(lines(WRITTEN / "recollections.jsonl")), list(lines(WRITTEN / "chat_answers.jsonl"))
    told = {each["student"]: each["statements"] for each in lines(WRITTEN / "endings_voices.jsonl")}
    voices = [each | {"statements": told[each["student"]]} for each in lines(WRITTEN / "questions_voices.jsonl")]
    apart = [each for each in students if each["split"] == "test"]
    learning = chats_of("train")
    names = {chat["chat"] for chat in learning}
    of_chats = [
        row for chat in learning for row in of_chat(chat["told"], chat["questions"], "q", "answers", "similar")
    ] + [
        PairRow(each["question"], text, holds)
        for each in answered
        if each["chat"] in names
        for holds, texts in ((True, each["answers"]), (False, each["others"]))
        for text in texts
    ]
    known = [each for each in students if each["split"] != "test"]
    own = [each for each in voices if each["split"] != "test"]
    of = {"asked": "questions", "text": "q", "holds": "answers"}
    rows = Rows(of_students(known, **of), of_chats, of_students(own, **of))
    if given.head is None:
        train(rows, asked, given.folder)
    fit = weighed(given, apart[1::2])

    def judged_on(some: Sequence[dict[str, Any]]) -> dict[str, float]:
        questions = (
            (q["q"], student["statements"], [i in q["answers"] for i in range(len(student["statements"]))])
            for student in some
            for q in student["questions"]
        )
        return judged([(fitness(given, q, texts), holds) for q, texts, holds in questions], ANSWERS)

    in_chats = [
        (e["question"], [*e["answers"], *e["others"]], len(e["answers"])) for e in answered if e["split"] == "test"
    ]
    return {
        "learned from": len(rows.students) + len(rows.chats) + len(rows.own),
        "network, likeness, nothing": [round(float(each), 2) for each in (*fit.coef_[0], *fit.intercept_)],
        "held out": judged_on(apart[::2]),
        "in many voices": judged_on([each for each in voices if each["split"] == "test"]),
        "chats": judged(
            [(fitness(given, q, met), [i < n for i in range(len(met))]) for q, met, n in in_chats], ANSWERS
        ),
    }


def asked(text: str, rng: random.Random) -> str:
    """Return a question as it might be typed."""
    text = typed(text, rng)
    return text.rstrip("?") if rng.randrange(3) == 0 else text


def weighed(given: Options, students: Sequence[dict[str, Any]]) -> LogisticRegression:
    """Fit how much the network and the embedder count, by chats and students that the network has not seen."""
    network, embed = load_pair_network(given.folder), shipped_network(2)
    rows, labels, worth = list[tuple[float, float]](), list[bool](), list[float]()

    def learn(question: str, statements: Sequence[str], answers: Sequence[bool], counts: float) -> None:
        cosines = (embed.encode(list(statements)) @ embed.encode([question])[0]).tolist()
        rows.extend((network.logit(question, text), cosine) for text, cosine in zip(statements, cosines, strict=True))
        labels.extend(answers)
        worth.extend([counts] * len(statements))

    for chat in chats_of("fit"):
        formed = {one: text for one, text in chat["told"].items() if not one.isdigit()}
        vectors = embed.encode(list(formed.values()))
        for asks in chat["questions"]:
            if asks["answers"] and formed.keys().isdisjoint(asks["answers"]):
                continue
            near = np.argsort(-(vectors @ embed.encode([asks["q"]])[0]))[:RECALLED]
            ids = [list(formed)[i] for i in near]
            learn(asks["q"], [formed[one] for one in ids], [one in asks["answers"] for one in ids], 1.0)
    for student in students:
        for asks in student["questions"]:
            answers = [i in asks["answers"] for i in range(len(student["statements"]))]
            learn(asks["q"], student["statements"], answers, STUDENT_WORTH)
    return LogisticRegression(max_iter=3000).fit(rows, labels, worth)


def fitness(given: Options, question: str, statements: list[str]) -> Sequence[float]:
    """Return how well each statement answers a question, as it is used."""
    embed, stems = shipped_network(2), telling_stems(Doc(question))
    cosines = (embed.encode(statements) @ embed.encode([question])[0]).tolist()
    about = [about_odds(stems, text, cosine) for text, cosine in zip(statements, cosines, strict=True)]
    return answer_fitness(question, statements, about, given.folder)
