"""Talks with questions whose evidence is known, and when evidence counts as found (spec 10, Measured by)."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from graphmem.errors import InvalidInput
from graphmem.text.lexicon import STOP_WORDS

UNDATED = datetime(2024, 1, 8, 9, 0, tzinfo=UTC)
"""When a talk without dates begins."""
A_TURN = timedelta(seconds=20)
ADVERSARIAL = 5
"""LoCoMo's category of questions that have no answer in the talk."""
ENOUGH_EVIDENCE = 0.5
"""Share of a turn's content words that its memories must hold."""

_DATE = "%I:%M %p on %d %B, %Y"
_IDS = re.compile(r"[;,\s]+")
_WORD = re.compile(r"[^\W_]+")


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
    category: int | None = None


@dataclass(frozen=True)
class Talk:
    """A conversation or meeting, and what is asked about it."""

    id: str
    turns: tuple[Utterance, ...]
    questions: tuple[EvidenceQuestion, ...]


class RememberedSource(NamedTuple):
    """Part of a recalled memory that is scored: the turns it names as its sources, and its content."""

    refs: frozenset[str]
    content: str


def read_rows(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """The objects of a JSON lines file, each with its place in words.

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


def read_talks(path: Path) -> list[Talk]:
    """Read conversations of LoCoMo (`turns`, `qa`) or meetings of QMSum (`turns`, `queries`), one a line.

    Questions without known evidence and LoCoMo's adversarial ones are left out.

    Raises
    ------
    InvalidInput    a line is of neither format; names file and line

    Source: spec 10; Maharana et al. 2024, LoCoMo; Zhong et al. 2021, QMSum.
    """
    return [_talk(where, row) for where, row in read_rows(path)]


def _talk(where: str, row: dict[str, Any]) -> Talk:
    if "turns" not in row or not ({"qa", "queries"} & row.keys()):
        raise InvalidInput(f'{where}: "turns" and "qa" (as LoCoMo) or "queries" (as QMSum) are needed.')
    try:
        turns = tuple(_dated(row["turns"]))
        known = {turn.id for turn in turns}
        if len(known) != len(turns):
            raise ValueError("a turn id occurs twice")
        asked = _of_locomo(row["qa"]) if "qa" in row else _of_qmsum(row["queries"], len(turns))
        questions = tuple(
            EvidenceQuestion(q.text, gold, q.category)
            for q in asked
            if (gold := tuple(dict.fromkeys(i for i in q.gold if i in known)))
        )
        name = row.get("conversation_id") or row.get("meeting_id") or f"talk-{len(turns)}"
        return Talk(str(name), turns, questions)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"{where}: a turn or question is not as in LoCoMo or QMSum: {error!r}.") from error


def _dated(rows: Sequence[dict[str, Any]]) -> Iterator[Utterance]:
    """Turns twenty seconds apart from the beginning of their session; empty ones are left out."""
    for (_, date), session in groupby(enumerate(rows), key=lambda r: (r[1].get("session"), r[1].get("session_date"))):
        start = UNDATED if date is None else datetime.strptime(date, _DATE).replace(tzinfo=UTC)
        for number, (place, row) in enumerate(session):
            caption = row.get("image_caption")
            text = f"{row['text']} [shares: {caption}]" if caption else row["text"]
            if text.strip():
                yield Utterance(
                    str(row.get("id", place)), row["speaker"].strip(), text.strip(), start + number * A_TURN
                )


def _of_locomo(rows: Sequence[dict[str, Any]]) -> Iterator[EvidenceQuestion]:
    for row in rows:
        if row["category"] != ADVERSARIAL:
            ids = tuple(i for entry in row["evidence"] for i in _IDS.split(entry) if i)
            yield EvidenceQuestion(row["question"], ids, int(row["category"]))


def _of_qmsum(rows: Sequence[dict[str, Any]], turns: int) -> Iterator[EvidenceQuestion]:
    for row in rows:
        spans = [range(int(start), min(int(end) + 1, turns)) for start, end in row["spans"]]
        yield EvidenceQuestion(row["query"], tuple(str(place) for span in spans for place in span))


def telling_words(text: str) -> frozenset[str]:
    """The words of a text that are no stop words, in lower case.

    Examples
    --------
    >>> sorted(telling_words("I have a dog, and the dog's name is Bello!"))
    ['bello', 'dog', 'name', 's']
    """
    return frozenset(word for word in map(str.lower, _WORD.findall(text)) if word not in STOP_WORDS)


def is_found(turn: Utterance, remembered: Sequence[RememberedSource]) -> bool:
    """True if the memories that name a turn as their source together hold at least half of its content words.

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
    """Share of a question's gold turns that are found."""
    return sum(is_found(turns[i], remembered) for i in question.gold) / len(question.gold)
