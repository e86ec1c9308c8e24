"""Recorded dialogues: read from JSON lines, taken apart into turns."""

import json
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from graphmem.errors import InvalidInput
from graphmem.model import Author

SPEAKERS = {"student": Author.STUDENT, "teacher": Author.COMPANION, "tutor": Author.COMPANION}
"""Who a speaker of a file is to graphmem."""


class Said(NamedTuple):
    """One message of a recorded dialogue."""

    author: Author
    text: str


class DialogueTurn(NamedTuple):
    """A student's message, what the tutor had said before it and what the tutor said to it, if anything."""

    before: str | None
    text: str
    reply: str | None


@dataclass(frozen=True)
class Dialogue:
    """A recorded tutoring dialogue; authors alternate.

    `student` is the name in the file or, where the file names nobody, the dialogue's own id, so that two
    dialogues of unnamed students are never taken for one student's.
    """

    id: str
    student: str
    topic: str
    source: str
    messages: tuple[Said, ...]


def load_dialogues(path: Path) -> list[Dialogue]:
    """Read recorded dialogues, one JSON object a line.

    Parameters
    ----------
    path : Path     a JSON lines file; each line an object with `dialogue_id` (or `id`) and `dialogue_turns`, a list of
        `{"speaker": "student" | "teacher" | "tutor", "text": ...}`; optional: `student`, `source`, and as
        topic one of `topic`, `task`, `question` (MathDial), `lesson_topic` (Bridge), `english` (CIMA). Other keys are
        ignored.

    Returns
    -------
    list of Dialogue, in the order of the file; messages of one speaker in a row are joined by a space, empty
    messages are left out, and so are blank lines

    Raises
    ------
    InvalidInput    no such file, no JSON, or not the shape above; names file and line

    Notes
    -----
    An id that occurs twice stays twice: Bridge has the same exchange labelled by several experts.

    Source: spec 18 (`graphmem replay`); the formats are those of MathDial, CIMA and Bridge.

    Examples
    --------
    >>> from graphmem.samples import SAMPLES
    >>> dialogue = load_dialogues(SAMPLES / "cima" / "dialogues.jsonl")[0]
    >>> dialogue.source, dialogue.messages[0].author.value
    ('CIMA', 'companion')
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as text: {error}. Give a JSON lines file of dialogues.") from error
    return [_dialogue(line, path, number) for number, line in enumerate(lines, start=1) if line.strip()]


def dialogue_turns(dialogue: Dialogue) -> list[DialogueTurn]:
    """The student's messages, each with the tutor's message before and after it.

    Examples
    --------
    >>> said = (Said(Author.COMPANION, "What is 3 + 4?"), Said(Author.STUDENT, "7"), Said(Author.COMPANION, "Yes."))
    >>> dialogue_turns(Dialogue("d", "Ann", "sums", "file", said))
    [DialogueTurn(before='What is 3 + 4?', text='7', reply='Yes.')]
    """
    texts = [None, *(said.text for said in dialogue.messages), None]
    return [
        DialogueTurn(texts[i], said.text, texts[i + 2])
        for i, said in enumerate(dialogue.messages)
        if said.author is Author.STUDENT
    ]


def _dialogue(line: str, path: Path, number: int) -> Dialogue:
    where = f"{path}, line {number}"
    try:
        row = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidInput(f"{where}: not JSON ({error}). Each line must be one JSON object.") from error
    if not isinstance(row, dict):
        raise InvalidInput(f"{where}: a JSON object is needed, not {type(row).__name__}.")
    name = row.get("dialogue_id", row.get("id"))
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput(f'{where}: "dialogue_id" must be a text that is not empty.')
    student = row.get("student") or name
    if not isinstance(student, str):
        raise InvalidInput(f'{where}: "student" must be a text, or be left out.')
    return Dialogue(name, student, _topic(row, where), _source(row, path), _messages(row.get("turns"), where))


def _messages(rows: Any, where: str) -> tuple[Said, ...]:
    if not isinstance(rows, list) or not rows:
        raise InvalidInput(f'{where}: "turns" must be a list of {{"speaker": ..., "text": ...}} with at least one.')
    said = [message for i, row in enumerate(rows, start=1) if (message := _said_of_row(row, f"{where}, turn {i}")).text]
    if not said:
        raise InvalidInput(f"{where}: every message is empty.")
    return tuple(
        Said(author, " ".join(message.text for message in run)) for author, run in groupby(said, key=lambda m: m.author)
    )


def _said_of_row(row: Any, where: str) -> Said:
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        raise InvalidInput(f'{where}: an object with "speaker" and a text as "text" is needed.')
    speaker = row.get("speaker")
    if not isinstance(speaker, str) or speaker not in SPEAKERS:
        raise InvalidInput(f"{where}: speaker must be one of {', '.join(sorted(SPEAKERS))}, not {speaker!r}.")
    return Said(SPEAKERS[speaker], row["text"].strip())


def _topic(row: dict[str, Any], where: str) -> str:
    for key in ("topic", "question", "lesson_topic", "english", "task"):
        value = row.get(key)
        if isinstance(value, str):
            return value.strip()
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            return ", ".join(value)
        if value is not None:
            raise InvalidInput(f'{where}: "{key}" must be a text or a list of texts.')
    return ""


def _source(row: dict[str, Any], path: Path) -> str:
    if isinstance(row.get("source"), str):
        return str(row["source"])
    for key, source in (("student_incorrect_solution", "MathDial"), ("italian", "CIMA"), ("lesson_topic", "Bridge")):
        if key in row:
            return source
    return path.stem
