"""The network that says what a new statement ends, from pairs of what is said and what was said before.

It learns from made-up students with their memories and what they say later (`endings.jsonl`, `endings_plain.jsonl`,
and in their own words `endings_voices.jsonl`), from what was formed in whole chats and what is said later or met
there, of which far less ends (`chat_memories`, `chat_endings.jsonl`). Of the small talk of `talk_endings.jsonl` nothing
ends, nor does what is said again. The split "test" is only measured, and so is what was met in four of the other chats,
by which bounds may be chosen.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from graphmem.text.contradiction import ended_chance
from graphmem.text.embedder import shipped_network
from graphmem.text.revision import ENDED_COSINE, SURELY_ENDED

from .options import WRITTEN, Figures, Options, lines
from .pairs import PairRow, Rows, chats_of, judged, message_of, of_chat, of_students, train
from .tower import typed


def make(given: Options) -> Figures:
    """Train the network further."""
    files = ("endings", "endings_plain", "endings_voices", "chat_endings", "talk_endings")
    students, plain, voices, met, talk = (list(lines(WRITTEN / f"{name}.jsonl")) for name in files)
    names = {chat["chat"] for chat in chats_of("train")}
    known = [each for each in met if each["chat"] in names]
    of_chats = list(from_chats(known, [each for each in talk if each["split"] != "test"]))
    learned, own = ([each for each in some if each["split"] != "test"] for some in ([*students, *plain], voices))
    told = {"asked": "news", "text": "text", "holds": "ends"}
    # What is told in own words is met in every round, as memories are such words.
    rows = Rows(of_students(learned, **told), of_chats, of_students(own, **told))
    train(rows, typed, given.folder)

    def chances(new: str, olds: Sequence[str]) -> list[float]:
        return [ended_chance(new, old, given.folder) for old in olds]

    def apart(told: Sequence[dict[str, Any]]) -> list[tuple[list[float], list[bool]]]:
        own = [each for each in told if each["split"] == "test"]
        return [
            (near(each["text"], student["statements"], chances(each["text"], student["statements"])),
             [i in each["ends"] for i in range(len(student["statements"]))])
            for student in own for each in student["news"]
        ]  # fmt: skip

    in_chats = [
        (chances(each["new"], [*each["ends"], *each["holds"]]),
         [True] * len(each["ends"]) + [False] * len(each["holds"]))
        for each in met if each["split"] == "test"
    ]  # fmt: skip
    in_talk = [chances(each["new"], each["holds"]) for each in talk if each["split"] == "test"]
    return {
        "learned from": len(rows.students) + len(rows.chats) + len(rows.own),
        "held out": judged(apart(students), SURELY_ENDED),
        "plainly said": judged(apart([each for each in students if each["plain"]]), SURELY_ENDED),
        "plainly said at home": judged(apart(plain), SURELY_ENDED),
        "in many voices": judged(apart(voices), SURELY_ENDED),
        "chats": judged(in_chats, SURELY_ENDED),
        "ends in talk": round(float(np.mean([max(own, default=0.0) >= SURELY_ENDED for own in in_talk])), 3),
    }


def from_chats(met: Sequence[dict[str, Any]], talk: Sequence[dict[str, Any]]) -> Iterator[PairRow]:
    """Yield what is said with what it ends and what it does not, of chats and small talk."""
    yield from (PairRow(each["new"], old, holds=False) for each in talk for old in each["holds"])
    for each in met:
        yield from (PairRow(each["new"], old, holds=True) for old in each["ends"])
        yield from (PairRow(each["new"], old, holds=False) for old in each["holds"])
    for chat in chats_of("train"):
        told = {one: chat["formed"].get(one, text) for one, text in chat["told"].items() if not one.isdigit()}
        yield from of_chat(told, chat["later"], "text", "ends", "keeps")
        yield from (PairRow(chat["told"][message_of(one)], content, holds=False) for one, content in told.items())


def near(text: str, statements: list[str], chances: list[float]) -> list[float]:
    """Return chances, but 0 of statements that are too far for one to end."""
    embed = shipped_network(2)
    cosines = embed.encode(statements) @ embed.encode([text])[0]
    return [chance if cosine >= ENDED_COSINE else 0.0 for chance, cosine in zip(chances, cosines, strict=True)]
