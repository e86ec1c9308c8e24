"""Recorded dialogues: the samples that ship, and what the loader refuses."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from graphmem.errors import InvalidInput
from graphmem.model import Author
from graphmem.samples import SAMPLES, sample_dialogues
from graphmem.samples.dialogues import Dialogue, Said, dialogue_turns, load_dialogues

SOURCES = {"mathdial": "CC BY-SA 4.0", "cima": "CC BY 2.5", "bridge": "MIT License"}


def write(folder: Path, *rows: object) -> Path:
    path = folder / "dialogues.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_the_demo_has_four_sessions_of_one_student_and_three_dialogues_each_of_two_more_sources() -> None:
    dialogues = sample_dialogues()
    assert [d.source for d in dialogues] == ["MathDial"] * 4 + ["CIMA"] * 3 + ["Bridge"] * 3
    assert len({d.student for d in dialogues if d.source == "MathDial"}) == 1
    assert len({d.id for d in dialogues}) == 10
    assert 40 <= sum(len(dialogue_turns(d)) for d in dialogues) <= 50
    assert all(8 <= len(d.messages) <= 12 for d in dialogues if d.source == "MathDial")


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_names_its_authors_and_licence(source: str) -> None:
    text = (SAMPLES / source / "ATTRIBUTION.md").read_text(encoding="utf-8")
    assert SOURCES[source] in text
    assert "https://github.com/" in text


@pytest.mark.parametrize("source", SOURCES)
def test_a_sample_written_and_read_again_is_the_same(source: str, tmp_path: Path) -> None:
    original = load_dialogues(SAMPLES / source / "dialogues.jsonl")
    names = {Author.STUDENT: "student", Author.COMPANION: "tutor"}
    rows = [
        {
            "dialogue_id": d.id,
            "student": d.student,
            "topic": d.topic,
            "source": d.source,
            "turns": [{"speaker": names[said.author], "text": said.text} for said in d.messages],
        }
        for d in original
    ]
    assert load_dialogues(write(tmp_path, *rows)) == original


def test_authors_alternate_and_no_message_is_empty() -> None:
    for dialogue in sample_dialogues():
        authors = [said.author for said in dialogue.messages]
        assert all(a is not b for a, b in pairwise(authors))
        assert all(said.text.strip() for said in dialogue.messages)


def test_messages_of_one_speaker_in_a_row_are_joined_and_empty_ones_left_out(tmp_path: Path) -> None:
    said = [("tutor", "Well."), ("tutor", " What is 3 + 4? "), ("student", ""), ("student", "7"), ("teacher", "Yes.")]
    row = {"id": "d", "turns": [{"speaker": speaker, "text": text} for speaker, text in said]}
    (dialogue,) = load_dialogues(write(tmp_path, row, "", "   "))
    assert dialogue.messages == (
        Said(Author.COMPANION, "Well. What is 3 + 4?"),
        Said(Author.STUDENT, "7"),
        Said(Author.COMPANION, "Yes."),
    )
    assert (dialogue.student, dialogue.topic, dialogue.source) == ("d", "", "dialogues")


def test_turns_have_what_came_before_and_what_came_after() -> None:
    said = (
        Said(Author.STUDENT, "hi"),
        Said(Author.COMPANION, "hello"),
        Said(Author.STUDENT, "why"),
    )
    assert dialogue_turns(Dialogue("d", "s", "", "f", said)) == [(None, "hi", "hello"), ("hello", "why", None)]


GOOD = {"id": "d", "turns": [{"speaker": "student", "text": "hi"}]}


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ([], "JSON object"),
        ({"turns": GOOD["turns"]}, "dialogue_id"),
        ({"id": " ", "turns": GOOD["turns"]}, "id: "),
        ({"id": "d"}, "turns"),
        ({"id": "d", "turns": []}, "turns"),
        ({"id": "d", "turns": ["hi"]}, "turns.1"),
        ({"id": "d", "turns": [{"speaker": "student"}]}, "turns.1"),
        ({"id": "d", "turns": [{"speaker": "parrot", "text": "hi"}]}, "'parrot'"),
        ({"id": "d", "turns": [{"speaker": ["student"], "text": "hi"}]}, "speaker"),
        ({"id": "d", "turns": [{"speaker": "student", "text": " "}]}, "empty"),
        ({**GOOD, "student": 7}, "student"),
        ({**GOOD, "question": 7}, "question"),
    ],
)
def test_a_bad_line_is_refused_with_file_and_line(row: object, named: str, tmp_path: Path) -> None:
    path = write(tmp_path, GOOD, "", row)
    with pytest.raises(InvalidInput) as refused:
        load_dialogues(path)
    assert f"{path}, line 3" in str(refused.value)
    assert named in str(refused.value)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "missing.jsonl", binary, tmp_path):
        with pytest.raises(InvalidInput, match="cannot be read"):
            load_dialogues(path)
