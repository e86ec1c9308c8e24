"""Labelled data in JSON lines: rows, talks with questions whose evidence is known, and rows that may be measured."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from graphmem.errors import InvalidInput
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


class RememberedSource(NamedTuple):
    """Part of a recalled memory that is scored: the turns it names as its sources, and its content."""

    refs: frozenset[str]
    content: str


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
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
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
    """Read talks of LoCoMo (`turns`, `qa`), BEAM (`messages`, `questions`) or QMSum (`turns`, `queries`), one a line.

    Questions without known evidence and LoCoMo's adversarial ones are left out.

    Raises
    ------
    InvalidInput    a line is of another format; names file and line

    Source: spec 10; Maharana et al. 2024, LoCoMo; Tavakoli et al. 2025, BEAM; Zhong et al. 2021, QMSum.
    """
    return parsed_rows(path, _talk_of_row, '"turns" and "qa" (LoCoMo) or "queries" (QMSum), or "messages" (BEAM), are')


def _talk_of_row(row: dict[str, Any]) -> Talk:
    name = next((row[key] for key in ("conversation_id", "meeting_id", "chat") if key in row), "talk")
    if "messages" in row:
        turns, asked = (
            tuple(_utterances(list(map(_of_beam, row["messages"])))),
            list(_questions_of_beam(row["questions"])),
        )
    else:
        turns = tuple(_utterances(row["turns"]))
        asked = list(_of_locomo(row["qa"]) if "qa" in row else _of_qmsum(row["queries"], len(turns)))
    known = {turn.id for turn in turns}
    if len(known) != len(turns):
        raise ValueError("a turn id occurs twice")
    questions = tuple(
        EvidenceQuestion(q.text, gold, q.category)
        for q in asked
        if (gold := tuple(dict.fromkeys(i for i in q.gold if i in known)))
    )
    return Talk(str(name), turns, questions)


def _utterances(rows: Sequence[dict[str, Any]]) -> Iterator[Utterance]:
    """Turns twenty seconds apart from the beginning of their session; empty ones are left out."""
    for (_, date), session in groupby(enumerate(rows), key=lambda r: (r[1].get("session"), r[1].get("session_date"))):
        form = _LOCOMO_DATE if " on " in (date or "") else _BEAM_DATE
        start = UNDATED if date is None else datetime.strptime(date, form).replace(tzinfo=UTC)
        for number, (place, row) in enumerate(session):
            caption = row.get("image_caption")
            text = f"{row['text']} [shares: {caption}]" if caption else row["text"]
            if text.strip():
                speaker = row["speaker"].strip()
                yield Utterance(str(row.get("id", place)), speaker, text.strip(), start + number * A_TURN)


def _of_beam(row: dict[str, Any]) -> dict[str, Any]:
    return {"id": row["id"], "speaker": row["role"], "text": row["text"], "session_date": row["date"]}


def _questions_of_beam(rows: Sequence[dict[str, Any]]) -> Iterator[EvidenceQuestion]:
    for row in rows:
        yield EvidenceQuestion(row["q"], tuple(map(str, row["evidence"])), str(row["ability"]))


def _of_locomo(rows: Sequence[dict[str, Any]]) -> Iterator[EvidenceQuestion]:
    for row in rows:
        if row["category"] != ADVERSARIAL:
            ids = tuple(i for entry in row["evidence"] for i in _ID_SEPARATORS.split(entry) if i)
            yield EvidenceQuestion(row["question"], ids, f"category_{row['category']}")


def _of_qmsum(rows: Sequence[dict[str, Any]], turns: int) -> Iterator[EvidenceQuestion]:
    for row in rows:
        spans = [range(int(start), min(int(end) + 1, turns)) for start, end in row["spans"]]
        yield EvidenceQuestion(row["query"], tuple(str(place) for span in spans for place in span))


def telling_words(text: str) -> frozenset[str]:
    """Return the words of a text that are no stop words, in lower case.

    Examples
    --------
    >>> sorted(telling_words("I have a dog, and the dog's name is Bello!"))
    ['bello', 'dog', 'name', 's']
    """
    return frozenset(word for word in map(str.lower, PLAIN_WORD.findall(text)) if word not in STOP_WORDS)


def is_found(turn: Utterance, remembered: Sequence[RememberedSource]) -> bool:
    """Return whether the memories that name a turn as their source together hold half of its content words.

    A turn without content words is found when a memory names it.

    Source: spec 10, Measured by.

    Examples
    --------
    >>> turn = Utterance("7", "Ann", "My dog Bello eats red apples", UNDATED)
    >>> is_found(turn, [RememberedSource(frozenset({"7"}), "dog Bello")]), is_found(turn, [])
    (False, False)
    >>> both = [RememberedSource(frozenset({"7"}), text) for text in ("dog Bello", "red things")]
    >>> is_found(turn, both)
    True
    """
    own = [r for r in remembered if turn.id in r.refs]
    words = telling_words(turn.text)
    held = words & frozenset().union(*(telling_words(r.content) for r in own))
    return bool(own) and len(held) >= ENOUGH_EVIDENCE * len(words)


def share_found(
    question: EvidenceQuestion, turns: Mapping[str, Utterance], remembered: Sequence[RememberedSource]
) -> float:
    """Return the share of a question's gold turns that are found."""
    return sum(is_found(turns[i], remembered) for i in question.gold) / len(question.gold)
