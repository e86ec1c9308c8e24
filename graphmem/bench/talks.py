"""Labelled data in JSON lines: rows, talks with questions whose evidence is known, and rows that may be measured."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from graphmem.errors import InvalidInput
from graphmem.model import Recalled
from graphmem.text.lexicon import STOP_WORDS

T = TypeVar("T")

UNDATED = datetime(2024, 1, 8, 9, 0, tzinfo=UTC)
"""When a talk without dates begins."""
A_TURN = timedelta(seconds=20)
ADVERSARIAL = 5
"""LoCoMo's category of questions that have no answer in the talk."""
ENOUGH_EVIDENCE = 0.5
"""Share of a turn's content words that its memories must hold."""

_LOCOMO_DATE, _BEAM_DATE = "%I:%M %p on %d %B, %Y", "%B-%d-%Y"
_ID_SEPARATORS = re.compile(r"[;,\s]+")
PLAIN_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Utterance:
    """One turn of a talk, as it is observed."""

    id: str
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True)
class EvidenceQuestion:
    """A question, the ids of the turns that hold its evidence, and its category, where the file has one."""

    text: str
    gold: tuple[str, ...]
    category: str | None = None


@dataclass(frozen=True)
class Talk:
    """A conversation or meeting, and the questions about it."""

    id: str
    turns: tuple[Utterance, ...]
    questions: tuple[EvidenceQuestion, ...]


def is_held_out(group: str) -> bool:
    """Return whether a group of rows (a dialogue, a source) is held out of training: one in five, by its hash.

    Examples
    --------
    >>> [is_held_out(group) for group in ("f", "g", "h", "i")]
    [False, True, True, False]
    """
    return hashlib.sha256(group.encode()).digest()[0] % 5 == 0


def text_hash(*texts: str) -> int:
    """Return a 64-bit hash of texts, by which a row that was trained on is recognised."""
    return int.from_bytes(hashlib.sha256("\x1f".join(texts).encode()).digest()[:8], "big", signed=True)


def trained_hashes(path: Path) -> frozenset[int]:
    """Return the hashes of the rows that a shipped model was trained on, from the `.npy` file beside its weights."""
    return frozenset(np.load(path, allow_pickle=False).tolist()) if path.exists() else frozenset()


def untouched(rows: Iterable[T], texts: Callable[[T], tuple[str, ...]], *trained: Path) -> list[T]:
    """Return the rows that no model was trained on, by their texts and the files of hashes beside the weights."""
    known = frozenset[int]().union(*map(trained_hashes, trained))
    return [row for row in rows if text_hash(*texts(row)) not in known]


def save_trained(path: Path, rows: Sequence[tuple[str, ...]]) -> None:
    """Write the hashes of the rows that a model was trained on."""
    np.save(path, np.array(sorted({text_hash(*row) for row in rows}), dtype=np.int64))


def read_rows(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """Read the objects of a JSON lines file, each with its place in words.

    Raises
    ------
    InvalidInput    it cannot be read, or a line is no JSON object
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as text: {error}.") from error
    rows = []
    for where, line in ((f"{path}, line {number}", line) for number, line in enumerate(lines, 1) if line.strip()):
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise InvalidInput(f"{where}: not JSON ({error}). Each line must be one JSON object.") from error
        if not isinstance(row, dict):
            raise InvalidInput(f"{where}: a JSON object is needed, not {type(row).__name__}.")
        rows.append((where, row))
    if not rows:
        raise InvalidInput(f"{path} is empty.")
    return rows


def parsed_rows(path: Path, parse: Callable[[dict[str, Any]], T], needed: str) -> list[T]:
    """Parse each row of a file.

    Parameters
    ----------
    path : Path, JSON lines
    parse : makes one value of a row
    needed : str, what a row must hold, for the error

    Raises
    ------
    InvalidInput    a line is of another format; names file and line
    """
    found = []
    for where, row in read_rows(path):
        try:
            found.append(parse(row))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidInput(f"{where}: {needed} needed: {error!r}.") from error
    return found


def read_talks(path: Path) -> list[Talk]:
    """Read talks of LoCoMo (`turns`, `qa`) or BEAM (`messages`, `questions`), one a line.

    Questions without known evidence and LoCoMo's adversarial ones are left out.

    Raises
    ------
    InvalidInput    a line is of another format; names file and line

    Source: spec 10; Maharana et al. 2024, LoCoMo; Tavakoli et al. 2025, BEAM.
    """
    return parsed_rows(path, _talk_of_row, '"turns" and "qa" (LoCoMo) or "messages" and "questions" (BEAM) are')


def _talk_of_row(row: dict[str, Any]) -> Talk:
    if "messages" in row:
        name, asked = row.get("chat", "talk"), [(q["q"], q["evidence"], q["ability"]) for q in row["questions"]]
        said = [{**each, "speaker": each["role"], "session_date": each["date"]} for each in row["messages"]]
    else:
        name, said = row.get("conversation_id", "talk"), row["turns"]
        held = [q for q in row["qa"] if q["category"] != ADVERSARIAL]
        asked = [(q["question"], q["evidence"], f"category_{q['category']}") for q in held]
    turns = tuple(_utterances(said))
    known = {turn.id for turn in turns}
    if len(known) != len(turns):
        raise ValueError("a turn id occurs twice")
    questions = []
    for text, evidence, kind in asked:
        ids = dict.fromkeys(i for each in evidence for i in _ID_SEPARATORS.split(str(each)) if i in known)
        questions += [EvidenceQuestion(text, tuple(ids), kind)] if ids else []
    return Talk(str(name), turns, tuple(questions))


def _utterances(rows: Sequence[dict[str, Any]]) -> Iterator[Utterance]:
    """Turns twenty seconds apart from the beginning of their session; empty ones are left out."""
    for (_, date), session in groupby(rows, key=lambda row: (row.get("session"), row["session_date"])):
        form = _LOCOMO_DATE if " on " in date else _BEAM_DATE
        start = datetime.strptime(date, form).replace(tzinfo=UTC)
        for number, row in enumerate(session):
            caption = row.get("image_caption")
            text = f"{row['text']} [shares: {caption}]" if caption else row["text"]
            if text.strip():
                yield Utterance(str(row["id"]), row["speaker"].strip(), text.strip(), start + number * A_TURN)


def telling_words(text: str) -> frozenset[str]:
    """Return the words of a text that are no stop words, in lower case.

    Examples
    --------
    >>> sorted(telling_words("I have a dog, and the dog's name is Bello!"))
    ['bello', 'dog', 'name', 's']
    """
    return frozenset(word for word in map(str.lower, PLAIN_WORD.findall(text)) if word not in STOP_WORDS)


def is_found(turn: Utterance, remembered: Sequence[Recalled]) -> bool:
    """Return whether the memories that name a turn as their source together hold half of its content words.

    A turn without content words is found when a memory names it.

    Source: spec 10, Measured by.
    """
    own = [each.memory for each in remembered if turn.id in each.memory.source_refs]
    words = telling_words(turn.text)
    held = words & frozenset().union(*(telling_words(f"{memory.content}\n{memory.quote or ''}") for memory in own))
    return bool(own) and len(held) >= ENOUGH_EVIDENCE * len(words)


def share_found(question: EvidenceQuestion, turns: Mapping[str, Utterance], remembered: Sequence[Recalled]) -> float:
    """Return the share of a question's gold turns that are found."""
    return sum(is_found(turns[i], remembered) for i in question.gold) / len(question.gold)
