"""Benchmark of the detector of danger on messages it was not trained on (spec 20, Measured by).

A file holds one message a line: `text`, `concern` (a kind or `none`), `urgency` (0 to 3); a message without `concern`
is ordinary talk. Without ordinary talk in the file that of the sample is taken; everyday trouble of children beside
dangers that sound like it, talk about their own lives of students and of strangers (small talk), and dangers and what
sounds like them in 24 languages are always the sample's. On the sample the same dangers are told in harder ways, too,
and rows of `samples/safety/parts.jsonl` count, which were written in families before the detector was measured on them:
`part`, `group` (the family), `text`, `urgency`, and where it applies what was `asked` before, or the false `alarm` that
was corrected before and that the text is added to.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from graphmem.bench import Figures
from graphmem.bench.talks import parsed_rows, read_rows, untouched
from graphmem.errors import InvalidInput
from graphmem.language.analysis import MessageAnalysis
from graphmem.language.encoder import read_now
from graphmem.model import ACUTE, ConcernKind, Danger, FalseAlarm
from graphmem.samples import SAMPLES
from graphmem.settings import Settings
from graphmem.text.safety import DANGER_FILE, danger_sign, find_danger, passages, without_false_alarms

SAFETY_SAMPLE = SAMPLES / "safety"
MESSAGES, TALK, PARTS = (SAFETY_SAMPLE / f"{name}.jsonl" for name in ("messages", "talk", "parts"))
FURTHER_FILES = ("everyday", "voices", "personal", "small_talk", "many_languages")
_LOOK_ALIKE_LETTERS = str.maketrans("aeopcxyi", "аеорсхуі")
_LEET_TABLE = str.maketrans("aeiost", "431057")
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
DISGUISES: dict[str, Callable[[str], str]] = {
    "look_alike": lambda text: text.lower().translate(_LOOK_ALIKE_LETTERS),
    "leet": lambda text: text.lower().translate(_LEET_TABLE),
    "full_width": lambda text: text.translate(_FULL_WIDTH),
    "apart": lambda text: "  ".join(" ".join(word) for word in text.split()),
    "dotted": lambda text: " ".join(".".join(word) for word in text.split()),
    "no_blanks": lambda text: text.replace(" ", ""),
}
LONG = (("after_1200", 1_200, True), ("after_3000", 3_000, True), ("before_1200", 1_200, False))
"""Characters of harmless talk, and whether a danger stands after it."""
GAME_FRAMES = (
    "i play roblox a lot. {}",
    "in minecraft i am fine but {}",
    "{} anyway, fortnite later?",
    "we read romeo and juliet today, {}",
)
"""Beside a game's or a book's name."""


@dataclass(frozen=True)
class Labelled:
    """A message, its urgency, and the kind of danger it tells of: `none` for a look-alike, None for ordinary talk.

    asked : what was asked before it
    """

    text: str
    concern: str | None = None
    urgency: int = 0
    asked: str = ""


def measure_safety(_: Settings, file: Path | None) -> Figures:
    """Recall and false alarms of the detector, on a file or on the sample that ships; rows trained on are left out.

    Raises
    ------
    InvalidInput    another format, or nothing is left to measure
    """
    place = file or MESSAGES
    rows = untouched(read_labelled(place), lambda row: (row.text,), DANGER_FILE.with_name("trained.npy"))
    if all(row.concern is not None for row in rows):
        rows += [replace(row, concern=None) for row in read_labelled(TALK)]
    danger = np.array([row.urgency > 0 for row in rows])
    talk = np.array([row.concern is None for row in rows])
    lookalike = ~danger & ~talk
    if not danger.any() or not lookalike.any():
        raise InvalidInput(f"{place} holds no new message of danger, or no new harmless one.")
    known = {each.text: each for each in read_now([row.text for row in rows])}
    start = process_time()
    found = [find_danger(row.text, known=known) for row in rows]
    seconds = process_time() - start
    raised = np.array([each is not None for each in found])
    signs = np.array([danger_sign(row.text) is not None for row in rows])
    heard = [(each, row) for each, row in zip(found, rows, strict=True) if each is not None and row.urgency]
    figures = {
        "recall": raised[danger].mean(),
        "recall_serious": raised[[row.urgency > 1 for row in rows]].mean(),
        "false_alarms": raised[lookalike].mean(),
        "false_alarms_talk": raised[talk].mean(),
    }
    for name in FURTHER_FILES:
        figures |= Detector().rates(name, read_labelled(SAFETY_SAMPLE / f"{name}.jsonl"))
    figures |= {
        "kind_right": fraction(each.kind.value == row.concern for each, row in heard),
        "urgency_near": fraction(abs(each.urgency - row.urgency) <= 1 for each, row in heard),
        "signs_recall": signs[danger].mean(),
        "signs_false_alarms": signs[lookalike].mean(),
        "ms_per_message": 1000 * seconds / len(rows),
        "dangers": danger.sum(),
        "lookalikes": lookalike.sum(),
        "talk": talk.sum(),
    }
    figures |= {} if file else measure_parts([row.text for row in rows if row.urgency])
    return {name: float(value) for name, value in figures.items()}


def read_labelled(path: Path) -> list[Labelled]:
    """Read labelled messages, one JSON object a line.

    Raises
    ------
    InvalidInput    a line is of another format; names file and line

    Examples
    --------
    >>> read_labelled(TALK)[0].urgency
    0
    """
    return parsed_rows(path, _labelled, '"text", "concern" and "urgency" (0 to 3) are')


def _labelled(row: dict[str, Any]) -> Labelled:
    text, concern = row["text"], row.get("concern")
    urgency = row.get("urgency", 0 if concern in (None, "none") else 1)
    if not isinstance(text, str) or urgency not in (0, 1, 2, 3) or not isinstance(concern, str | None):
        raise ValueError("a text that is none, or another urgency")
    return Labelled(text, concern, urgency, row.get("asked", ""))


def fraction(values: Iterable[bool]) -> float:
    """Return the share of what is true; 0 of nothing."""
    held = list(values)
    return sum(held) / max(1, len(held))


class Detector:
    """Finds danger, caching the encoder's outputs: the talk around a danger is the same for all."""

    def __init__(self) -> None:
        self._known: dict[str, MessageAnalysis] = {}

    def find(self, text: str, asked: str = "") -> Danger | None:
        unread = [part.text for part in passages(text, asked) if part.is_read and part.text not in self._known]
        self._known |= {each.text: each for each in read_now(unread)}
        return find_danger(text, asked, self._known)

    def share(self, texts: Iterable[str]) -> float:
        """Return the share of messages that raise a concern."""
        return fraction(self.find(text) is not None for text in texts)

    def rates(self, name: str, rows: Sequence[Labelled], *, acute: bool = False) -> Figures:
        """Return recall and false alarms, where there are such rows; with `acute` also false alarms of that urgency."""
        found = {urgent: [self.find(r.text, r.asked) for r in rows if bool(r.urgency) == urgent] for urgent in (1, 0)}
        figures = {
            f"{measure}_{name}": fraction(each is not None for each in found[urgent])
            for urgent, measure in ((1, "recall"), (0, "false_alarms"))
            if found[urgent]
        }
        alarms = fraction(each is not None and each.urgency == ACUTE for each in found[0])
        return figures | ({f"acute_false_alarms_{name}": alarms} if acute else {})


def measure_parts(dangers: Sequence[str]) -> Figures:
    """Recall and false alarms by part.

    Parameters
    ----------
    dangers : further messages of danger, which are told in the harder ways, too
    """
    parts: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for _, row in read_rows(PARTS):
        parts[row["part"]].append(row)
    detector, told = Detector(), [row["text"] for row in parts["plain"]] + list(dangers)
    school = [row["text"].rstrip(".") for _, row in read_rows(TALK)]
    figures: Figures = {"recall_plain": detector.share(told)}
    for name, length, after in LONG:
        pads = [_school_talk(school, place, length) for place in range(len(told))]
        pairs = zip(pads, told, strict=True)
        figures[f"recall_{name}"] = detector.share(f"{a} {b}" if after else f"{b}. {a}" for a, b in pairs)
    figures["false_alarms_long"] = detector.share(_school_talk(school, place, 3_000) for place in range(40))
    for name, disguise in DISGUISES.items():
        figures[f"recall_{name}"] = detector.share(map(disguise, told))
    figures["recall_beside_game"] = detector.share(frame.format(text) for text in told for frame in GAME_FRAMES)
    for name in ("answer", "slang", "languages", "school"):
        figures |= detector.rates(name, list(map(_labelled, parts[name])), acute=True)
    corrected = (
        without_false_alarms(f"{row['alarm']}. {row['text']}", [FalseAlarm(row["alarm"], ConcernKind.VIOLENCE, 2)])
        for row in parts["corrected"]
    )
    return figures | {"recall_after_corrected": detector.share(corrected)}


def _school_talk(school: Sequence[str], place: int, length: int) -> str:
    """Talk of a lesson of about a length, another for each place."""
    text = ""
    while len(text) < length:
        text += f"{school[place * 7 % len(school)]}. "
        place += 1
    return text.rstrip()
