"""Labelled data in JSON lines: rows, talks with questions, rows that may be measured; recorded dialogues as turns."""

import hashlib
import json
import random
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

import numpy as np

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput
from graphmem.flows.findings import Senses
from graphmem.flows.turn import Incoming
from graphmem.llm.fallback import make_mind
from graphmem.model import Author, Message, Observation, Prediction, Recalled, SourceKind
from graphmem.offline.exemplars import load_bank
from graphmem.offline.mind import OfflineMind
from graphmem.samples.dialogues import Dialogue, DialogueTurn, dialogue_turns
from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.matching import MATCHED

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
class EvidenceQuestion:
    """A question, the ids of the turns that hold its evidence, and its category, where the file has one."""

    text: str
    gold: tuple[str, ...]
    category: str | None = None


@dataclass(frozen=True)
class Talk:
    """A conversation or meeting, and the questions about it."""

    id: str
    turns: tuple[Observation, ...]
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
    known = {turn.ref for turn in turns}
    if len(known) != len(turns):
        raise ValueError("a turn id occurs twice")
    questions = []
    for text, evidence, kind in asked:
        ids = dict.fromkeys(i for each in evidence for i in _ID_SEPARATORS.split(str(each)) if i in known)
        questions += [EvidenceQuestion(text, tuple(ids), kind)] if ids else []
    return Talk(str(name), turns, tuple(questions))


def _utterances(rows: Sequence[dict[str, Any]]) -> Iterator[Observation]:
    """Turns twenty seconds apart from the beginning of their session; empty ones are left out."""
    for (_, date), session in groupby(rows, key=lambda row: (row.get("session"), row["session_date"])):
        form = _LOCOMO_DATE if " on " in date else _BEAM_DATE
        start = datetime.strptime(date, form).replace(tzinfo=UTC)
        for number, row in enumerate(session):
            caption = row.get("image_caption")
            text = f"{row['text']} [shares: {caption}]" if caption else row["text"]
            if text.strip():
                at, speaker = start + number * A_TURN, row["speaker"].strip()
                yield Observation(SourceKind.CHAT, str(row["id"]), text.strip(), at, speaker)


def telling_words(text: str) -> frozenset[str]:
    """Return the words of a text that are no stop words, in lower case.

    Examples
    --------
    >>> sorted(telling_words("I have a dog, and the dog's name is Bello!"))
    ['bello', 'dog', 'name', 's']
    """
    return frozenset(word for word in map(str.lower, PLAIN_WORD.findall(text)) if word not in STOP_WORDS)


def is_found(turn: Observation, remembered: Sequence[Recalled]) -> bool:
    """Return whether the memories that name a turn as their source together hold half of its content words.

    A turn without content words is found when a memory names it.

    Source: spec 10, Measured by.
    """
    own = [each.memory for each in remembered if turn.ref in each.memory.source_refs]
    words = telling_words(turn.text)
    held = words & frozenset().union(*(telling_words(f"{memory.content}\n{memory.quote or ''}") for memory in own))
    return bool(own) and len(held) >= ENOUGH_EVIDENCE * len(words)


def share_found(question: EvidenceQuestion, turns: Mapping[str, Observation], remembered: Sequence[Recalled]) -> float:
    """Return the share of a question's gold turns that are found."""
    return sum(is_found(turns[i], remembered) for i in question.gold) / len(question.gold)


def recorded_turn(dialogue: Dialogue, place: int, turn: DialogueTurn, at: datetime) -> Incoming:
    """Return a student's message of a recorded dialogue with the tutor's reply, the task, and first the opening."""
    opener = turn.before if place == 0 else None
    return Incoming(f"{dialogue.id}#{place}", turn.text, at, turn.reply, dialogue.topic, opener)


@asynccontextmanager
async def held_out(gm: Graphmem, dialogues: Sequence[Dialogue]) -> AsyncIterator[Graphmem]:
    """The same graphmem, but what the offline mind has learned from these very dialogues is taken out of its bank."""
    bank = await load_bank(gm.embedder)
    offline = OfflineMind(bank.without({dialogue.id for dialogue in dialogues}), gm.embedder, gm.reader)
    mind = make_mind(gm.settings, offline)
    try:
        yield replace(gm, offline=offline, mind=mind)
    finally:
        await mind.aclose()


async def match_baselines(gm: Graphmem, dialogues: Sequence[Dialogue], seed: int) -> dict[str, float | None]:
    """Measure the match rates of the message before and of a random one; None where nothing was compared.

    Parameters
    ----------
    gm : Graphmem, whose models judge
    dialogues : sequence of Dialogue, whose first messages are left out
    seed : int, of the messages drawn from other dialogues

    Source: spec 4.
    """
    chance, texts = random.Random(seed), {d.id: [turn.text for turn in dialogue_turns(d)] for d in dialogues}
    hits: dict[str, list[bool]] = {"parrot": [], "random": []}
    for dialogue in dialogues:
        others = [text for name, said in texts.items() if name != dialogue.id for text in said]
        for before, turn in pairwise(dialogue_turns(dialogue)):
            hits["parrot"].append(await _would_match(gm, before.text, turn))
            if others:
                hits["random"].append(await _would_match(gm, chance.choice(others), turn))
    return {name: fmean(own) if own else None for name, own in hits.items()}


async def _would_match(gm: Graphmem, predicted: str, turn: DialogueTurn) -> bool:
    """Return whether a prediction would count as matched by a student's message."""
    asked, at = turn.before or "", gm.clock()
    guess, said, before = await gm.embedder.embed([predicted, turn.text, asked])
    (reading,) = await gm.reader.read([turn.text])
    senses = Senses(gm.affect, gm.matches, shipped=gm.is_shipped)
    sensed = senses.of(
        Message(Author.STUDENT, turn.text, at, said),
        reading,
        Message(Author.COMPANION, asked, at, before) if asked else None,
        Prediction(predicted, (), guess),
    )
    return sensed.match is not None and sensed.match >= MATCHED
