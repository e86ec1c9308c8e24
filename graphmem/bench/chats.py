"""Whole chats of made-up students: questions answered, changes noticed, false concerns (spec 7, 10, 20).

A file holds one chat a line: `chat`, `messages` ("#day 5": five days pass), `questions` (`q`, the message that asks;
`told`, the messages that hold the `answer`, none where it was never told) and `changes` (`now`, a message, and `ends`,
the earlier ones of which something holds no more). Chats are harmless throughout.
"""

import re
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.harness import Learner, in_process, learner, show_figures
from graphmem.bench.scores import shares
from graphmem.bench.talks import parsed_rows
from graphmem.flows.turn import Incoming
from graphmem.model import MemoryRole
from graphmem.offline.answers import ANSWER_BEGINNINGS, NOT_SURE, NOTHING
from graphmem.progress import print_line, tracked
from graphmem.samples import SAMPLES
from graphmem.settings import Settings
from graphmem.text.doc import Doc
from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.stems import stem

CHATS = SAMPLES / "chats" / "chats.jsonl"
ANSWER_SHARE = 0.5
"""Share of the telling words of an answer that a right reply has at least, beside all its numbers."""
_DAY_LINE = re.compile(r"#day (?P<days>\d+)$")


CHAT_SHARES = {
    "answered": ("answered", "questions"),
    "answered or near": ("near", "questions"),
    "never told, answered": ("invented", "never told"),
    "changes noticed": ("noticed", "changes"),
    "ended rightly": ("rightly", "ended"),
    "concerns": ("concerns", "messages"),
}
"""Each share with its counters."""


@dataclass(frozen=True)
class Chat:
    """Messages of a student.

    questions : by their text, the answer, empty where it was never stated
    ends : by a message, the earlier ones of which something holds no more after it
    """

    id: str
    messages: tuple[str, ...]
    questions: dict[str, str]
    ends: dict[str, frozenset[str]]


def measure_chats(settings: Settings, file: Path | None) -> Figures:
    """Measure chats played at a message a minute, each by a student of its own.

    Raises
    ------
    InvalidInput    another format
    """
    chats, counts = read_chats(file or CHATS), Counter[str]()

    async def played(gm: Graphmem) -> Figures:
        for chat in tracked(chats, "Chatting"):
            counts.update(await _play_chat(await learner(gm, chat.id), chat))
            show_figures({f"answered until {chat.id}": shares(counts, CHAT_SHARES)["answered"]})
        return {whole: float(counts[whole]) for _, whole in CHAT_SHARES.values()} | shares(counts, CHAT_SHARES)

    return in_process(settings, played)


def read_chats(path: Path) -> list[Chat]:
    """Read the chats of a file."""
    return parsed_rows(path, _chat, "chat, messages, questions and changes are")


def _chat(row: dict[str, Any]) -> Chat:
    questions = {each["q"]: str(each["answer"]) if each["told"] else "" for each in row["questions"]}
    ends: dict[str, frozenset[str]] = {}
    for each in row["changes"]:
        if each["ends"]:
            ends[each["now"]] = ends.get(each["now"], frozenset()) | frozenset(each["ends"])
    return Chat(str(row["chat"]), tuple(map(str, row["messages"])), questions, ends)


async def _play_chat(student: Learner, chat: Chat) -> Counter[str]:
    await student.begin()
    said, counts = dict[str, str](), Counter[str]()
    for i, text in enumerate(chat.messages):
        if (passes := _DAY_LINE.match(text)) is not None:
            await student.end()
            student.now += timedelta(days=int(passes["days"]))
            await student.begin()
            continue
        student.now += timedelta(minutes=1)
        said[f"said-{i}"] = text
        held = await _standing_turns(student)
        outcome = await student.say(Incoming(f"said-{i}", text, student.now))
        if outcome.concern is not None:
            print_line(f"{chat.id}: {outcome.concern.kind}: {text}")
        if (answer := chat.questions.get(text)) is not None:
            counts += _answer_counts(text, answer, outcome.reply)
        ended = {said[ref] for ref in held - await _standing_turns(student) if ref in said}
        wanted = chat.ends.get(text, frozenset())
        right = len(wanted & ended)
        counts += Counter(messages=1, concerns=outcome.concern is not None, noticed=right, rightly=right)
        counts += Counter(changes=len(wanted), ended=len(ended))
    await student.end()
    return counts


async def _standing_turns(student: Learner) -> frozenset[str]:
    """Return the turns of which every statement that was formed still holds."""
    said = [m for m in await student.memories() if m.role in (MemoryRole.SAID, MemoryRole.BELIEF)]
    over = {ref for m in said if m.invalid_at is not None for ref in m.source_refs}
    return frozenset(ref for m in said for ref in m.source_refs) - over


def _answer_counts(question: str, answer: str, reply: str) -> Counter[str]:
    near = reply.startswith(NOT_SURE.partition("{")[0])
    if not answer:
        return Counter({"never told": 1, "invented": reply.startswith(ANSWER_BEGINNINGS) and not near})
    right = NOTHING not in reply and holds_answer(answer, reply)
    if not right:
        print_line(f"{question}\n    wanted {answer}, reply {reply}")
    return Counter(questions=1, answered=right and not near, near=right)


def holds_answer(answer: str, reply: str) -> bool:
    """Return whether a reply has the numbers of an answer and most of its telling words.

    Examples
    --------
    >>> holds_answer("at Mo's, 6 pm", "You told me that it is at Mo's at 6."), holds_answer("6 days", "In 7 days.")
    (True, False)
    """
    if set(re.findall(r"\d+", answer)) - set(re.findall(r"\d+", reply)):
        return False
    telling = [word for word in Doc(answer).plain_words if len(word) > 1 and word not in STOP_WORDS]
    words = {stem(word) for word in telling if not re.search(r"\d", word)}
    return len(words & Doc(reply).stems) >= ANSWER_SHARE * len(words)
