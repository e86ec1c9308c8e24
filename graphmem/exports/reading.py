"""Files that other services export, as the turns of a student: dated as they were, with their replies."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from graphmem.errors import InvalidInput
from graphmem.exports.formats import AUTHORS, COMPANION, EXPORT_FORMATS, STUDENT, ExportElement, Line
from graphmem.validation import MESSAGE_LIMIT

PIECE_CHARACTERS = 2**20
"""Characters that are read of a file at once."""


class Turn(NamedTuple):
    """What the student said, what was replied and, at the beginning of a chat, what was said before; or a note, or what
    `speaker` said."""

    id: str
    text: str
    at: datetime
    reply: str | None = None
    opener: str | None = None
    speaker: str | None = None
    noted: bool = False


@dataclass
class Chats:
    """What a file holds: turns by chat in the order of time, and how often what was left out for which reason."""

    format: str
    turns: list[list[Turn]]
    left_out: Counter[str] = field(default_factory=Counter)
    undated: int = 0


def read_export(file: Path, format_: str, student: str, speaker: str | None = None) -> Chats:
    """Read an export, all of it before anything is stored.

    Parameters
    ----------
    file : Path, JSON or JSON lines; of a JSON list one element at a time is read
    format_ : str, a name in EXPORT_FORMATS, or `auto`
    student : str, id of the student, who may be an author by this name
    speaker : str, the author who is the student, where neither that name nor `user` is; None: nobody else

    Returns
    -------
    Chats, the oldest first; a message that has no time has that of the one before it, the first one the file's

    Raises
    ------
    InvalidInput    the file is broken, of another format, or nobody in it is the student; the message says what to do

    Source: spec 18.
    """
    lines: dict[str, list[Line]] = {}
    found = Chats(format_, [])
    whose = {**AUTHORS, student.casefold(): STUDENT, **({speaker.casefold(): STUDENT} if speaker else {})}
    if speaker:
        whose = {name: who for name, who in whose.items() if who != STUDENT or name == speaker.casefold()}
    for number, element in enumerate(_elements(file), start=1):
        if found.format == "auto":
            found.format = _recognised(element, file, number)
        try:
            for part in EXPORT_FORMATS[found.format].read(element):
                if isinstance(part, str):
                    found.left_out[part] += 1
                elif reason := _unfit(part.text):
                    found.left_out[reason] += 1
                else:
                    lines.setdefault(part.chat, []).append(part)
        except (KeyError, TypeError, AttributeError, ValueError) as e:
            raise InvalidInput(
                f"Element {number} of {file.name} is not of {found.format}: {e!r}. Name another --format, one of "
                f"{', '.join(EXPORT_FORMATS)}."
            ) from e
    _check_somebody(lines, whose, file)
    at = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    for chat, said in lines.items():
        found.undated += sum(each.at is None for each in said)
        if turns := list(_turns(chat, _with_times(said, at), whose)):
            found.turns.append(turns)
        else:
            found.left_out["a chat in which the student says nothing"] += 1
    found.turns.sort(key=lambda turns: turns[0].at)
    return found


def _with_times(lines: list[Line], at: datetime) -> list[Line]:
    """Return lines in the order of time; one without a time has that of the line before it, the first one `at`."""
    dated: list[Line] = []
    for line in lines:
        dated.append(line._replace(at=line.at or (dated[-1].at if dated else at)))
    return sorted(dated, key=lambda line: line.at or at)


def _turns(chat: str, lines: list[Line], whose: Mapping[str, str]) -> Iterator[Turn]:
    """Yield the turns of a chat, which ends with what the student said and nobody replied to."""
    others = {each.author for each in lines if each.author and whose.get(each.author.casefold()) is None}
    # Between two people whoever is not the student replied.
    alone = others if len({each.author for each in lines if each.author}) <= 2 else set()
    said, opener = None, None
    for place, line in enumerate(lines):
        assert line.at is not None
        who = COMPANION if line.author in alone else whose.get((line.author or "").casefold())
        turn = Turn(_id(chat, place, line.text), line.text, line.at)
        if who == COMPANION and said is None:
            opener = line.text
        elif who == COMPANION and said is not None:
            said = said._replace(reply=line.text if said.reply is None else f"{said.reply}\n{line.text}")
        else:
            if said is not None:
                yield said
            said, opener = (turn._replace(opener=opener), None) if who == STUDENT else (None, opener)
            if said is None:
                yield turn._replace(speaker=line.author, noted=line.author is None)
    if said is not None:
        yield said


def _id(chat: str, place: int, text: str) -> str:
    """Return an id of a message that is the same at each reading of it."""
    return "import-" + hashlib.blake2b(f"{chat}\n{place}\n{text}".encode(), digest_size=16).hexdigest()


def _unfit(text: str) -> str | None:
    """Return why a text is left out, if it is."""
    if not text.strip():
        return "a message without text"
    return f"a message of more than {MESSAGE_LIMIT} characters" if len(text) > MESSAGE_LIMIT else None


def _check_somebody(lines: Mapping[str, list[Line]], whose: Mapping[str, str], file: Path) -> None:
    """Refuse a file in which nobody is the student, unless nobody speaks in it."""
    authors = {each.author for said in lines.values() for each in said if each.author}
    if not lines:
        raise InvalidInput(f"{file.name} holds no message.")
    if authors and not any(whose.get(each.casefold()) == STUDENT for each in authors):
        raise InvalidInput(
            f"Nobody in {file.name} is the student: name one with --speaker: {', '.join(sorted(authors))}."
        )


def _recognised(element: ExportElement, file: Path, number: int) -> str:
    for name, format_ in EXPORT_FORMATS.items():
        if format_.keys & element.keys():
            return name
    raise InvalidInput(
        f"Element {number} of {file.name} is of no known format: mend it, or name one with --format: "
        f"{', '.join(EXPORT_FORMATS)}."
    )


def _elements(file: Path) -> Iterator[ExportElement]:
    """Yield the objects of a file: of a JSON list, of the list in a JSON object, or one a line.

    Of a list only one element at a time is held.
    """
    decoder, text, number = json.JSONDecoder(), "", 0
    try:
        with file.open(encoding="utf-8-sig") as source:
            listed = False
            while True:
                text = text.lstrip(" \t\r\n,") if listed or number else text.lstrip()
                if not listed and not number and text.startswith("["):
                    listed, text = True, text[1:]
                    continue
                try:
                    element, end = decoder.raw_decode(text) if text else (None, 0)
                except json.JSONDecodeError:
                    element, end = None, 0
                if end:
                    text, number = text[end:], number + 1
                    yield from _objects_in(element, file, number)
                elif listed and text.startswith("]"):
                    return
                # A longer piece each time, so that a large element is not begun again too often.
                elif more := source.read(max(PIECE_CHARACTERS, len(text))):
                    text += more
                elif text or listed:
                    raise InvalidInput(
                        f"Element {number + 1} of {file.name} is broken, or the file is cut short: mend it, or export "
                        "it again."
                    )
                else:
                    return
    except UnicodeDecodeError as e:
        raise InvalidInput(f"{file.name} is not text: unpack an archive first, and give the JSON file in it.") from e


def _objects_in(element: Any, file: Path, number: int) -> Iterator[ExportElement]:
    if not isinstance(element, dict):
        raise InvalidInput(f"Element {number} of {file.name} is not an object.")
    for format_ in EXPORT_FORMATS.values():
        if format_.under and isinstance(element.get(format_.under), list):
            yield from element[format_.under]
            return
    yield element
