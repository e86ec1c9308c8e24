"""Recorded dialogues: read from JSON lines, taken apart into turns."""

import json
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import AliasChoices, BaseModel, Field, StringConstraints, ValidationError

from graphmem.errors import InvalidInput
from graphmem.model import Author

SOURCE_KEYS = {"student_incorrect_solution": "MathDial", "italian": "CIMA", "lesson_topic": "Bridge"}
"""Where a dialogue is from by a key that only its source has."""
SPEAKERS = {"student": Author.STUDENT, "teacher": Author.COMPANION, "tutor": Author.COMPANION}
"""Who a speaker of a file is to graphmem."""


class Said(NamedTuple):
    """One message of a recorded dialogue."""

    author: Author
    text: str


class _RowTurn(BaseModel):
    speaker: Literal["student", "teacher", "tutor"]
    text: Annotated[str, StringConstraints(strip_whitespace=True)]


class _Row(BaseModel):
    id: Annotated[str, StringConstraints(pattern=r"\S")] = Field(validation_alias=AliasChoices("dialogue_id", "id"))
    student: str | None = None
    source: str | None = None
    turns: list[_RowTurn] = Field(min_length=1)
    topic: str | list[str] = Field(
        "", validation_alias=AliasChoices("topic", "question", "lesson_topic", "english", "task")
    )


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
    path : Path     a JSON lines file; each line an object with `dialogue_id` (or `id`) and `turns`, a list of
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
        if not isinstance(row, dict):
            raise InvalidInput(f"{where}: a JSON object is needed, not {type(row).__name__}.")
        read = _Row.model_validate({name: value for name, value in row.items() if value is not None})
    except ValidationError as error:
        wrong = error.errors()[0]
        name = ".".join(str(each + 1) if isinstance(each, int) else each for each in wrong["loc"])
        given = f", not {wrong['input']!r}" if wrong["type"] == "literal_error" else ""
        raise InvalidInput(f"{where}, {name}: {wrong['msg']}{given}.") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidInput(f"{where}: not JSON ({error}). Each line must be one JSON object.") from error
    said = [Said(SPEAKERS[each.speaker], each.text) for each in read.turns if each.text]
    if not said:
        raise InvalidInput(f"{where}: every message is empty.")
    topic = read.topic if isinstance(read.topic, str) else ", ".join(read.topic)
    source = read.source or next((source for key, source in SOURCE_KEYS.items() if key in row), path.stem)
    runs = groupby(said, key=lambda message: message.author)
    messages = tuple(Said(author, " ".join(message.text for message in run)) for author, run in runs)
    return Dialogue(read.id, read.student or read.id, topic.strip(), source, messages)
