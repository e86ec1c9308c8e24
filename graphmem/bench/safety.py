"""Benchmark of the detector of danger on messages it was not trained on (spec 20, Measured by).

A file holds one message a line: `text`, `concern` (a kind or `none`), `urgency` (0 to 3); a message without `concern`
is ordinary talk. Without ordinary talk in the file that of the sample is taken; everyday trouble of children beside
dangers that sound like it, and talk about their own lives of students and of strangers (small talk), are always the
sample's.
"""

from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from graphmem.bench import Figures
from graphmem.bench.safety_parts import Detector, measure_parts
from graphmem.bench.talks import read_rows, text_hash, trained_hashes
from graphmem.errors import InvalidInput
from graphmem.samples import SAMPLES
from graphmem.settings import Settings
from graphmem.text.danger_signs import danger_sign
from graphmem.text.reader import read_now
from graphmem.text.safety import DANGER_FILE, find_danger

MESSAGES = SAMPLES / "safety" / "messages.jsonl"
PERSONAL = SAMPLES / "safety" / "personal.jsonl"
EVERYDAY = SAMPLES / "safety" / "everyday.jsonl"
SMALL_TALK = SAMPLES / "safety" / "small_talk.jsonl"
TALK = SAMPLES / "safety" / "talk.jsonl"


@dataclass(frozen=True)
class Labelled:
    """A message, its urgency, and the kind of danger it tells of: `none` for a look-alike, None for ordinary talk."""

    text: str
    concern: str | None
    urgency: int


def measure_safety(_: Settings, file: Path | None) -> Figures:
    """Recall and false alarms of the detector, on a file or on the sample that ships; rows trained on are left out.

    Raises
    ------
    InvalidInput    another format, or nothing is left to measure
    """
    known = trained_hashes(DANGER_FILE.with_name("trained.npy"))
    rows = [row for row in read_labelled(file or MESSAGES) if text_hash(row.text) not in known]
    if all(row.concern is not None for row in rows):
        rows += [Labelled(row.text, None, 0) for row in read_labelled(TALK)]
    danger = np.array([row.urgency > 0 for row in rows])
    serious = np.array([row.urgency > 1 for row in rows])
    talk = np.array([row.concern is None for row in rows])
    lookalike = ~danger & ~talk
    if not danger.any() or not lookalike.any():
        raise InvalidInput(f"{file or MESSAGES} holds no new message of danger, or no new harmless one.")
    readings = dict(zip((row.text for row in rows), read_now([row.text for row in rows]), strict=True))
    start = process_time()
    found = [find_danger(row.text, known=readings) for row in rows]
    seconds = process_time() - start
    raised = np.array([each is not None for each in found])
    signs = np.array([danger_sign(row.text) is not None for row in rows])
    heard = [(each, row) for each, row in zip(found, rows, strict=True) if each is not None and row.urgency]
    right = [each.kind.value == row.concern for each, row in heard]
    urgent = [abs(each.urgency - row.urgency) <= 1 for each, row in heard]
    return {
        "recall": float(raised[danger].mean()),
        "recall_serious": float(raised[serious].mean()),
        "false_alarms": float(raised[lookalike].mean()),
        "false_alarms_talk": float(raised[talk].mean()),
        "recall_everyday": _raised([row for row in read_labelled(EVERYDAY) if row.urgency]),
        "false_alarms_everyday": _raised([row for row in read_labelled(EVERYDAY) if not row.urgency]),
        "false_alarms_personal": _raised([row for row in read_labelled(PERSONAL) if not row.urgency]),
        "false_alarms_small_talk": _raised(read_labelled(SMALL_TALK)),
        "kind_right": float(np.mean(right)) if right else 0.0,
        "urgency_near": float(np.mean(urgent)) if urgent else 0.0,
        "signs_recall": float(signs[danger].mean()),
        "signs_false_alarms": float(signs[lookalike].mean()),
        "ms_per_message": 1000 * seconds / len(rows),
        "dangers": int(danger.sum()),
        "lookalikes": int(lookalike.sum()),
        "talk": int(talk.sum()),
    } | ({} if file else measure_parts([row.text for row in rows if row.urgency]))


def _raised(rows: list[Labelled]) -> float:
    """The share of messages that raise a concern."""
    return Detector().share([row.text for row in rows])


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
    return [_labelled(where, row) for where, row in read_rows(path)]


def _labelled(where: str, row: dict[str, Any]) -> Labelled:
    text, concern = row.get("text"), row.get("concern")
    urgency = row.get("urgency", 0 if concern in (None, "none") else 1)
    if not isinstance(text, str) or urgency not in (0, 1, 2, 3) or not isinstance(concern, str | None):
        raise InvalidInput(f'{where}: "text", "concern" and "urgency" (0 to 3) are needed.')
    return Labelled(text, concern, urgency)
