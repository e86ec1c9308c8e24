"""The chats that are played for `graphmem bench chats`, and how replies are judged."""

from pathlib import Path

import pytest

from graphmem.bench.chats import CHATS, holds_answer, read_chats
from graphmem.errors import InvalidInput


def test_questions_and_changes_are_messages_of_their_chat() -> None:
    chats = read_chats(CHATS)
    assert len(chats) == 12
    for chat in chats:
        places = {text: i for i, text in enumerate(chat.messages)}
        assert len(chat.questions) >= 14
        assert chat.questions.keys() <= places.keys()
        assert all(places[old] < places[now] for now, ended in chat.ends.items() for old in ended)


def test_another_format_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text('{"chat": "a", "messages": []}\n', "utf-8")
    with pytest.raises(InvalidInput, match="questions"):
        read_chats(wrong)


@pytest.mark.parametrize(
    ("answer", "reply", "holds"),
    [
        ("kiwi", "As far as I remember, you are allergic to kiwi.", True),
        ("45 euro", "You told me that the skates cost 45.", False),
        ("45", "You told me that the skates cost 45.", True),
        ("8 o'clock", "I have nothing noted about that. What is it?", False),
    ],
)
def test_a_reply_holds_an_answer_by_its_numbers_and_most_of_its_words(answer: str, reply: str, holds: bool) -> None:
    assert holds_answer(answer, reply) is holds
