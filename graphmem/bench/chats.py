"""Whole chats of made-up students: questions answered, changes noticed, false concerns (spec 7, 10, 20).

A file holds one chat a line: `chat`, `messages` ("#day 5": five days pass), `questions` (`q`, the message that asks;
`told`, the messages that hold the `answer`, none where it was never told) and `changes` (`now`, a message, and `ends`,
the earlier ones of which something holds no more). Chats are harmless throughout.
"""

import re
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.harness import Learner, in_process, learner, show_figures
from graphmem.bench.scores import share_true
from graphmem.bench.talks import parsed_rows
from graphmem.flows.session_cache import open_memories
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


@dataclass(frozen=True)
class Chat:
    """Messages of a student.

    questions : by their text, the answer, empty where it was never told
    ends : by a message, the earlier ones of which something holds no more after it
    """

    id: str
    messages: tuple[str, ...]
    questions: dict[str, str]
    ends: dict[str, frozenset[str]]


@dataclass
class ChatCounts:
    """Counts of what came of some chats."""

    messages: int = 0
    concerns: int = 0
    answered: list[bool] = field(default_factory=list)
    near: list[bool] = field(default_factory=list)
    invented: list[bool] = field(default_factory=list)
    changes: int = 0
    ended: int = 0
    rightly: int = 0
    noticed: int = 0

    @property
    def figures(self) -> Figures:
        """The figures so far."""
        return {
            "questions": float(len(self.answered)),
            "answered": share_true(self.answered),
            "answered or near": share_true(self.near),
            "never told": float(len(self.invented)),
            "never told, answered": share_true(self.invented),
            "changes": float(self.changes),
            "changes noticed": self.noticed / max(1, self.changes),
            "ended": float(self.ended),
            "ended rightly": self.rightly / max(1, self.ended),
            "messages": float(self.messages),
            "concerns": self.concerns / max(1, self.messages),
        }


def measure_chats(settings: Settings, file: Path | None) -> Figures:
    """Measure chats played at a message a minute, each by a student of its own.

    Raises
    ------
    InvalidInput    another format
    """
    chats, counts = read_chats(file or CHATS), ChatCounts()

    async def played(gm: Graphmem) -> Figures:
        for chat in tracked(chats, "Chatting"):
            await _play_chat(await learner(gm, chat.id), chat, counts)
            show_figures({f"answered until {chat.id}": share_true(counts.answered)})
        return counts.figures

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


async def _play_chat(student: Learner, chat: Chat, counts: ChatCounts) -> None:
    await student.begin()
    said: dict[str, str] = {}
    for i, text in enumerate(chat.messages):
        if (passes := _DAY_LINE.match(text)) is not None:
            await student.end()
            student.clock.now += timedelta(days=int(passes["days"]))
            await student.begin()
            continue
        student.clock.now += timedelta(minutes=1)
        said[f"said-{i}"] = text
        held = await _standing_turns(student)
        outcome = await student.say(Incoming(f"said-{i}", text, student.clock.now))
        counts.messages += 1
        if outcome.concern is not None:
            counts.concerns += 1
            print_line(f"{chat.id}: {outcome.concern.kind}: {text}")
        if (answer := chat.questions.get(text)) is not None:
            _judge(text, answer, outcome.reply, counts)
        ended = [said[ref] for ref in held - await _standing_turns(student) if ref in said]
        wanted = chat.ends.get(text, frozenset())
        counts.changes += len(wanted)
        counts.ended += len(ended)
        counts.rightly += sum(each in wanted for each in ended)
        counts.noticed += len(wanted & set(ended))
    await student.end()


async def _standing_turns(student: Learner) -> frozenset[str]:
    """Return the turns of which every statement that was formed still holds."""
    index = (await open_memories(student.gm, student.session)).index
    said = [m for m in index.latest(len(index)) if m.role in (MemoryRole.SAID, MemoryRole.BELIEF)]
    over = {ref for m in said if m.invalid_at is not None for ref in m.source_refs}
    return frozenset(ref for m in said for ref in m.source_refs) - over


def _judge(question: str, answer: str, reply: str, counts: ChatCounts) -> None:
    near = reply.startswith(NOT_SURE.partition("{")[0])
    if not answer:
        counts.invented.append(reply.startswith(ANSWER_BEGINNINGS) and not near)
        return
    right = NOTHING not in reply and holds_answer(answer, reply)
    counts.answered.append(right and not near)
    counts.near.append(right)
    if not right:
        print_line(f"{question}\n    wanted {answer}, reply {reply}")


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
