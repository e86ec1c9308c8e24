"""Whole chats of made-up students played to the service itself: what is answered, what is noticed to have changed, and
how often a concern is raised where nothing is wrong (spec 7, 10, 20).

A file holds one chat a line: `chat`, `messages` ("#day 5": five days pass), `questions` (`q`, the message that asks;
`told`, the messages that hold the `answer`, none where it was never told) and `changes` (`now`, a message, and `ends`,
the earlier ones of which something holds no more). Chats are harmless throughout.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.datasets import read_rows
from graphmem.bench.harness import BENCH_INSTITUTION, PASSWORD, own_database
from graphmem.errors import InvalidInput
from graphmem.flows import students
from graphmem.flows.session_cache import open_memories
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import MemoryRole, Session, Who
from graphmem.offline.recollection import (
    ALL,
    DAYS_LEFT,
    FOUND,
    FOUND_QUOTE,
    LAST_TIME,
    NOT_THAT,
    NOTHING,
    PAST,
    YOUR_NAME,
)
from graphmem.runtime import open_graphmem
from graphmem.samples import SAMPLES
from graphmem.settings import Settings
from graphmem.text.doc import Doc
from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.stems import stem

CHATS = SAMPLES / "chats" / "chats.jsonl"
HELD_WORDS = 0.5
"""Share of the telling words of an answer that a right reply has at least, beside all its numbers."""
_DAY = re.compile(r"#day (?P<days>\d+)$")
_NUMBER = re.compile(r"\d+")
_TELLING = tuple(
    wording.partition("{")[0] for wording in (*FOUND, *FOUND_QUOTE, *PAST, *ALL, *LAST_TIME, DAYS_LEFT, YOUR_NAME)
)


@dataclass(frozen=True)
class Chat:
    """What a student says.

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


def measure_chats(settings: Settings, file: Path | None) -> Figures:
    """Figures of chats played at a message a minute, each by a student of its own.

    Raises
    ------
    InvalidInput    another format
    """
    chats = read_chats(file or CHATS)
    played = ChatCounts()
    with own_database(settings) as own:
        # What is held in memory expires by the real time, and the chats go on for weeks.
        asyncio.run(_play(own.model_copy(update={"session_minutes": 1e5, "session_hours": 2e4}), chats, played))
    return {
        "questions": float(len(played.answered)),
        "answered": _share(played.answered),
        "answered or near": _share(played.near),
        "never told": float(len(played.invented)),
        "never told, answered": _share(played.invented),
        "changes": float(played.changes),
        "changes noticed": played.noticed / max(1, played.changes),
        "ended": float(played.ended),
        "ended rightly": played.rightly / max(1, played.ended),
        "messages": float(played.messages),
        "concerns": played.concerns / max(1, played.messages),
    }


def read_chats(path: Path) -> list[Chat]:
    """The chats of a file."""
    try:
        return [_chat(row) for _, row in read_rows(path)]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"{path} has no rows of chat, messages, questions and changes.") from error


def _chat(row: dict[str, Any]) -> Chat:
    questions = {each["q"]: str(each["answer"]) if each["told"] else "" for each in row["questions"]}
    ends: dict[str, frozenset[str]] = {}
    for each in row["changes"]:
        if each["ends"]:
            ends[each["now"]] = ends.get(each["now"], frozenset()) | frozenset(each["ends"])
    return Chat(str(row["chat"]), tuple(map(str, row["messages"])), questions, ends)


async def _play(settings: Settings, chats: Sequence[Chat], played: ChatCounts) -> None:
    console = Console(stderr=True)
    async with open_graphmem(settings, say=lambda _: None, background=False) as gm:
        for chat in track(chats, "Chatting", console=console, disable=not console.is_terminal):
            await _played(gm, chat, played, console)


async def _played(gm: Graphmem, chat: Chat, played: ChatCounts, console: Console) -> None:
    who, now = Who(BENCH_INSTITUTION, chat.id), gm.clock()
    then = replace(gm, clock=lambda: now)
    await students.enrol(gm, who, PASSWORD)
    _, session = await students.open_session(then, who, PASSWORD)
    said: dict[str, str] = {}
    for i, text in enumerate(chat.messages):
        if (passes := _DAY.match(text)) is not None:
            await close_session(then, session, wait=True)
            now += timedelta(days=int(passes["days"]))
            _, session = await students.open_session(then, who, PASSWORD)
            continue
        now += timedelta(minutes=1)
        said[f"said-{i}"] = text
        held = await _standing(then, session)
        outcome = await handle_turn(then, session, Incoming(f"said-{i}", text, now))
        await run_jobs(then, session)
        played.messages += 1
        if outcome.concern is not None:
            played.concerns += 1
            console.print(f"{chat.id}: {outcome.concern.kind}: {text}", highlight=False)
        if (answer := chat.questions.get(text)) is not None:
            _judge(text, answer, outcome.reply, played, console)
        ended = [said[ref] for ref in held - await _standing(then, session) if ref in said]
        wanted = chat.ends.get(text, frozenset())
        played.changes += len(wanted)
        played.ended += len(ended)
        played.rightly += sum(each in wanted for each in ended)
        played.noticed += len(wanted & set(ended))
    await close_session(then, session, wait=True)


async def _standing(gm: Graphmem, session: Session) -> frozenset[str]:
    """The turns of which every statement that was formed still holds."""
    index = (await open_memories(gm, session)).index
    said = [m for m in index.latest(len(index)) if m.role in (MemoryRole.SAID, MemoryRole.BELIEF)]
    over = {ref for m in said if m.invalid_at is not None for ref in m.source_refs}
    return frozenset(ref for m in said for ref in m.source_refs) - over


def _judge(question: str, answer: str, reply: str, played: ChatCounts, console: Console) -> None:
    silent = any(each in reply for each in NOTHING)
    near = reply.startswith(NOT_THAT)
    if not answer:
        played.invented.append(_tells(reply) and not near)
        return
    holds = not silent and holds_answer(answer, reply)
    played.answered.append(holds and not near)
    played.near.append(holds)
    if not holds:
        console.print(f"{question}\n    wanted {answer}, was told {reply}", highlight=False)


def _tells(reply: str) -> bool:
    """True if a reply tells something that was told before."""
    return reply.startswith(_TELLING)


def holds_answer(answer: str, reply: str) -> bool:
    """True if a reply has the numbers of an answer and most of its telling words.

    Examples
    --------
    >>> holds_answer("at Mo's, 6 pm", "You told me that it is at Mo's at 6."), holds_answer("6 days", "In 7 days.")
    (True, False)
    """
    if set(_NUMBER.findall(answer)) - set(_NUMBER.findall(reply)):
        return False
    telling = [word for word in Doc(answer).plain_words if len(word) > 1 and word not in STOP_WORDS]
    words = {stem(word) for word in telling if not _NUMBER.search(word)}
    return len(words & Doc(reply).stems) >= HELD_WORDS * len(words)


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits) if hits else 0.0
