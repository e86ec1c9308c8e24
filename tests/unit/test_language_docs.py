"""The page on language models: both prompts as they are, and examples that the code makes and reads."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from graphmem.llm.memory import MemoryOutput, memory_prompt, notes_of_answer
from graphmem.llm.prompts import ReplyOutput, instructions, reply_prompt, response
from graphmem.model import (
    Alternative,
    Author,
    Companion,
    Conversation,
    EdgeType,
    Effect,
    Heard,
    KnownItem,
    LedgerCategory,
    Message,
    Mismatch,
    Prediction,
    Recalled,
    Remember,
    Remembered,
    Respond,
    Scope,
)
from tests.support.memories import memory

PAGE = Path(__file__).parents[2] / "docs" / "language_model.md"
AT = datetime(2026, 1, 12, 16, 5, tzinfo=UTC)
BEFORE = datetime(2026, 1, 5, tzinfo=UTC)
MOVED = "exam got moved to the 14th btw, and heres the board i promised"
HINTS = "pls dont give me the answers ok? just hints"
HELLO = "Hi Nia! Ready for circuits?"
REPLY = Respond(
    Conversation(
        Companion("Ada", "a patient tutor", 0.5),
        (Message(Author.COMPANION, HELLO, AT), Message(Author.STUDENT, MOVED, AT)),
        task="Two lamps in a row: what becomes of the current?",
    ),
    Remembered(
        memories=(
            Recalled(memory("m1", "Nia learns best when she draws the circuit.", timestamp=BEFORE), 0.5, 0.5, ()),
        ),
        name="Nia",
        today=AT,
    ),
    expected=Prediction("yes lets go", chance=0.6, alternatives=(Alternative("can we do it tomorrow?", 0.2),)),
)
NOTED = Remember(
    (
        Heard(MOVED, AT, before=HELLO, student="Nia", violated=Mismatch("yes lets go", MOVED)),
        Heard(HINTS, AT + timedelta(minutes=2), before="Thanks for the board!", student="Nia"),
    ),
    (
        KnownItem("m1", "Nia's exam is on 2026-01-10.", BEFORE, ""),
        KnownItem("l1", "Nia promised to bring the circuit board.", BEFORE, "promise"),
    ),
)


def blocks() -> list[str]:
    """The fenced blocks of the page, in order."""
    return re.findall(r"^```\w*\n(.*?)\n```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_the_page_shows_both_prompts_and_what_they_are_filled_with() -> None:
    shown = blocks()
    assert [shown[0], shown[3]] == [instructions("reply"), instructions("memory")]
    assert shown[1] == reply_prompt(REPLY).question
    assert shown[4] == memory_prompt(NOTED).question


def test_the_answers_of_the_page_are_read_as_it_says() -> None:
    shown = blocks()
    found = response(ReplyOutput.model_validate_json(shown[2]), REPLY)
    assert found.reply.text.startswith("Thanks for the board!")
    assert (found.danger, found.came_true, found.used) == (None, 0.0, ("m1",))
    assert [found.prediction.text, *(each.text for each in found.prediction.alternatives)] == [
        "theyre in a row?",
        "idk",
    ]
    notes = notes_of_answer(MemoryOutput.model_validate_json(shown[5]), NOTED)
    (exam, board), (hints,) = notes.of
    assert exam.statement == "Nia's exam is on 2026-01-14."
    assert [(link.kind, link.known) for link in exam.links] == [(Effect.ENDS, "m1")]
    assert exam.due is not None
    assert exam.due.date().isoformat() == "2026-01-15"
    assert [(link.kind, link.known) for link in board.links] == [(Effect.SETTLES, "l1")]
    assert EdgeType.CAUSES not in {link.kind for link in hints.links}
    assert (hints.ledger, hints.scope) == (LedgerCategory.INSTRUCTION, Scope.STYLE)
    assert [lesson.text for _, lesson in notes.learned] == ["Nia tells her news before she starts to work."]
    assert notes.teach == "Give one hint at a time."
