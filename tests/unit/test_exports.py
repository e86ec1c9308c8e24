"""Exports of other services: what is read of each, what is left out, and files that will not do."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphmem import exports
from graphmem.errors import InvalidInput
from graphmem.exports import EXPORT_FORMATS, read_export

EXPORTS = Path(__file__).parents[1] / "data" / "exports"
FILES = {
    "chatgpt": "chatgpt.json",
    "mem0": "mem0.json",
    "letta": "letta.af",
    "graphiti": "graphiti.json",
    "honcho": "honcho.json",
    "jsonl": "chats.jsonl",
}
BELLO = datetime(2024, 3, 1, 8, 0, tzinfo=UTC)


def test_every_format_has_a_sample_and_a_line_in_the_docs() -> None:
    assert FILES.keys() == EXPORT_FORMATS.keys()
    docs = (Path(__file__).parents[2] / "docs" / "formats.md").read_text("utf-8")
    assert all(f"| `{name}` |" in docs for name in EXPORT_FORMATS)


@pytest.mark.parametrize(
    ("format_", "turns", "left_out"),
    [
        (
            "chatgpt",
            [
                [("My dog is called Bello.", "A good name!", None)],
                [("My teacher Ms Hill says I add fractions wrong.", "Let us make the bottoms the same first.", None)],
            ],
            {
                "another version of an edited message": 1,
                "a message of the system or a tool": 2,
                "a picture or a file": 1,
            },
        ),
        ("mem0", [[("Has a dog named Bello", None, None)], [("Is preparing for a maths test", None, None)]], {}),
        (
            "letta",
            [
                [
                    ("My dog is called Bello.", "A good name!", None),
                    ("I hate number lines.", "Then we draw pizzas.", None),
                ]
            ],
            {"a message of the system or a tool": 3, "a memory block, in the agent's words": 1},
        ),
        (
            "graphiti",
            [[("My dog is called Bello.", "A good name!", None)], [("Ada explained her solution to Ben.", None, None)]],
            {"an episode of JSON": 1},
        ),
        ("honcho", [[("My dog is called Bello.", "A good name!", None), ("I have a cat.", None, "ben")]], {}),
        (
            "jsonl",
            [[("My dog is called Bello.", "A good name!", None)], [("I hate number lines.", None, None)]],
            {"a message of the system or a tool": 1},
        ),
    ],
)
def test_a_sample_is_recognised_and_read(
    format_: str, turns: list[list[tuple[str, str | None, str | None]]], left_out: dict[str, int]
) -> None:
    found = read_export(EXPORTS / FILES[format_], "auto", "ada")
    assert found.format == format_
    assert [[(each.text, each.reply, each.speaker) for each in chat] for chat in found.turns] == turns
    assert dict(found.left_out) == left_out
    assert read_export(EXPORTS / FILES[format_], format_, "ada") == found


@pytest.mark.parametrize("format_", ["chatgpt", "graphiti", "honcho", "jsonl"])
def test_a_message_is_dated_as_it_was(format_: str) -> None:
    (first, *_), *_ = read_export(EXPORTS / FILES[format_], "auto", "ada").turns
    assert abs((first.at - BELLO).total_seconds()) <= 10


def test_what_was_said_before_the_first_message_is_its_opener_and_notes_are_nobodys() -> None:
    assert read_export(EXPORTS / "chats.jsonl", "auto", "ada").turns[0][0].opener == "Do you have a pet?"
    assert all(each.noted for chat in read_export(EXPORTS / "mem0.json", "auto", "ada").turns for each in chat)
    assert read_export(EXPORTS / "letta.af", "auto", "ada").undated == 2


def test_ids_are_the_same_each_time_and_when_the_chat_goes_on(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Hello."}, {"role": "user", "content": "Hello."}]
    (file := tmp_path / "chats.jsonl").write_text(json.dumps({"messages": messages}))
    first, second = read_export(file, "auto", "ada").turns[0]
    assert first.id != second.id
    file.write_text(json.dumps({"messages": [*messages, {"role": "user", "content": "Bye."}]}))
    assert [each.id for each in read_export(file, "auto", "ada").turns[0]][:2] == [first.id, second.id]


def test_a_large_list_is_read_element_by_element(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "PIECE_CHARACTERS", 50)
    chats = [{"id": str(n), "messages": [{"role": "user", "content": f"I like {n} horses.\n"}]} for n in range(100)]
    for text in (json.dumps(chats, indent=1), "\n".join(map(json.dumps, chats)), json.dumps(chats)):
        (file := tmp_path / "chats").write_text(text)
        assert len(read_export(file, "auto", "ada").turns) == 100


CHAT = '{"messages": [{"role": "user", "content": "Hello."}]}'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"[{CHAT}, {CHAT[:30]}", "Element 2 of .* is broken, or the file is cut short"),
        (f"{CHAT}\n{CHAT[:-3]}", "Element 2 of .* is broken, or the file is cut short"),
        ("<html>", "Element 1 of .* is broken, or the file is cut short"),
        ("", "holds no message"),
        ("[]", "holds no message"),
        ("[1]", "is not an object"),
        ('{"a": 1}', "of no known format"),
        ('{"messages": [{"text": "Hello."}]}', "is not of jsonl"),
        ('{"messages": [{"role": "user", "content": "Hello.", "at": "yesterday"}]}', "is not of jsonl"),
        ('{"peer_id": "mia", "session_id": "s", "content": "Hello."}', "name one with --speaker: mia"),
    ],
)
def test_a_file_that_will_not_do_is_refused_before_anything_is_stored(tmp_path: Path, text: str, told: str) -> None:
    (file := tmp_path / "export.json").write_text(text)
    with pytest.raises(InvalidInput, match=told):
        read_export(file, "auto", "ada")


def test_an_archive_is_told_to_be_unpacked(tmp_path: Path) -> None:
    (file := tmp_path / "export.zip").write_bytes(b"PK\x03\x04\xff\xfe\x80")
    with pytest.raises(InvalidInput, match="unpack an archive first"):
        read_export(file, "auto", "ada")


def test_the_student_may_have_another_name_in_the_file() -> None:
    (chat,) = read_export(EXPORTS / "honcho.json", "auto", "nobody", speaker="Ben").turns
    assert [(each.text, each.opener) for each in chat if each.speaker is None] == [("I have a cat.", "A good name!")]
