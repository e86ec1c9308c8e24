"""Parts of the benchmark of the detector of danger: the same dangers told in harder ways, and harmless talk (spec 20).

The rows of `samples/safety/parts.jsonl` were written in families before the detector was measured on them, and nothing
learns from them: `part`, `group` (the family), `text`, `urgency`, and where it applies what was `asked` before, or the
false `alarm` that was corrected before and that the text is added to.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphmem.bench import Figures
from graphmem.bench.talks import read_rows
from graphmem.model import ACUTE, ConcernKind, Danger, FalseAlarm
from graphmem.samples import SAMPLES
from graphmem.text.reader import MessageReading, read_now
from graphmem.text.safety import gravest, passages, without_false_alarms

PARTS = SAMPLES / "safety" / "parts.jsonl"
TUTORING = SAMPLES / "safety" / "talk.jsonl"
_LOOK_ALIKE = str.maketrans("aeopcxyi", "аеорсхуі")
_LEET = str.maketrans("aeiost", "431057")
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
DISGUISES: dict[str, Callable[[str], str]] = {
    "look_alike": lambda text: text.lower().translate(_LOOK_ALIKE),
    "leet": lambda text: text.lower().translate(_LEET),
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


class Detector:
    """Finds danger, and keeps the readings: the talk around a danger is the same for all."""

    def __init__(self) -> None:
        self._known: dict[str, MessageReading] = {}

    def find(self, text: str, asked: str = "") -> Danger | None:
        parts = passages(text, asked)
        unread = [part.text for part in parts if part.is_read and part.text not in self._known]
        self._known |= zip(unread, read_now(unread), strict=True)
        return gravest(parts, self._known)

    def share(self, texts: Sequence[str]) -> float:
        """The share of messages that raise a concern."""
        return float(np.mean([self.find(text) is not None for text in texts]))


def measure_parts(dangers: Sequence[str]) -> Figures:
    """Recall and false alarms by part.

    Parameters
    ----------
    dangers : further messages of danger, which are told in the harder ways, too
    """
    rows = [row for _, row in read_rows(PARTS)]
    detector, told = Detector(), [row["text"] for row in _of(rows, "plain")] + list(dangers)
    school = [row["text"].rstrip(".") for _, row in read_rows(TUTORING)]
    figures: Figures = {"recall_plain": detector.share(told)}
    for name, length, after in LONG:
        pads = [_talk(school, place, length) for place in range(len(told))]
        pairs = zip(pads, told, strict=True)
        figures[f"recall_{name}"] = detector.share([f"{a} {b}" if after else f"{b}. {a}" for a, b in pairs])
    figures["false_alarms_long"] = detector.share([_talk(school, place, 3_000) for place in range(40)])
    for name, disguise in DISGUISES.items():
        figures[f"recall_{name}"] = detector.share([disguise(text) for text in told])
    framed = [frame.format(text) for text in told for frame in GAME_FRAMES]
    figures["recall_beside_game"] = detector.share(framed)
    return figures | _measure_written(detector, rows)


def _measure_written(detector: Detector, rows: Sequence[dict[str, Any]]) -> Figures:
    """The figures of rows that are measured as they were written."""
    figures: Figures = {}
    for part in ("answer", "slang", "languages", "school"):
        own = _of(rows, part)
        found = [detector.find(row["text"], row.get("asked", "")) for row in own]
        danger = np.array([row["urgency"] > 0 for row in own])
        raised = np.array([each is not None for each in found])
        if danger.any():
            figures[f"recall_{part}"] = float(raised[danger].mean())
        figures[f"false_alarms_{part}"] = float(raised[~danger].mean())
        acute = np.array([each is not None and each.urgency == ACUTE for each in found])
        figures[f"acute_false_alarms_{part}"] = float(acute[~danger].mean())
    heard = [
        detector.find(without_false_alarms(f"{row['alarm']}. {row['text']}", [_alarm(row["alarm"])])) is not None
        for row in _of(rows, "corrected")
    ]
    return figures | {"recall_after_corrected": float(np.mean(heard))}


def _of(rows: Sequence[dict[str, Any]], part: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["part"] == part]


def _alarm(text: str) -> FalseAlarm:
    return FalseAlarm(text, ConcernKind.VIOLENCE, 2)


def _talk(school: Sequence[str], place: int, length: int) -> str:
    """Talk of a lesson of about a length, another for each place."""
    text = ""
    while len(text) < length:
        text += f"{school[place * 7 % len(school)]}. "
        place += 1
    return text.rstrip()
