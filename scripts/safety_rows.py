"""Labelled messages that the detector of danger learns from, is set by and is measured on: each knows its part.

A fifth of DATA and of the written families (by the hash of their group) and the second file of small talk are the test
part; of the others one in seven chooses, and nothing learns from it but the encoder. What people report of others
(`reports.jsonl`) is only measured.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from train.sources import DATA, lines

from graphmem.bench.talks import is_held_out
from graphmem.model import Author
from graphmem.samples.dialogues import load_dialogues

ORDINARY = ("school_talk", "ordinary")
"""Further ordinary talk: what pupils type of their lives, with a few dangerous twins; messages and clauses that were
written for other models, none of danger."""
TRICKY = "tricky"
"""Harmless messages with the words and frames of dangerous ones: learned from and reported, and no bound is set on
them, who are rarer in talk than here."""
OF_MEMORY = ("The student", "On ", "Formerly")
"""How statements begin that are not in a student's own words."""
FURTHER = "more-"
"""What the ids of the further rows begin with."""
UNTOUCHED = "tiage-dev"
"""What the ids of the small talk begin with that nothing is chosen on."""


@dataclass(frozen=True)
class Row:
    """A labelled message; `group` is what it is split by."""

    text: str
    concern: str
    urgency: int
    who: str
    source: str
    group: str

    @property
    def part(self) -> str:
        """What it is for: `test`, `choose` or `learn`."""
        if (
            self.source == "reports"
            or self.group.startswith(UNTOUCHED)
            or (not self.group.startswith(FURTHER) and is_held_out(self.group))
        ):
            return "test"
        chooses = (
            self.source in ("safety", "written", "personal", "tiage", "others", "everyday", "warm", *ORDINARY)
            and hashlib.sha256(self.group.encode()).digest()[1] % 7 == 1
        )
        return "choose" if chooses else "learn"


def read_all(data: Path) -> list[Row]:
    """Messages of danger and look-alikes, then ordinary talk, each text once."""
    rows: dict[str, Row] = {}
    files = [
        data / "safety" / "safety.jsonl",
        *(
            DATA / f"{name}.jsonl"
            for name in ("safety", "personal", "others", "everyday", "warm", "school_talk", "reports")
        ),
    ]
    for path in files:
        for each in lines(path):
            group = each.get("group", each["id"])
            rows[each["text"]] = Row(each["text"], each["concern"], each["urgency"], each["who"], path.stem, group)
    for harmless in (*tutoring_talk(data), *small_talk(data)):
        rows.setdefault(harmless.text, harmless)
    for each in lines(data / "understanding" / "utterances.jsonl"):
        if each["source"] == "written" and each["ledger"] != "threat":
            rows.setdefault(each["text"], Row(each["text"], "none", 0, "none", "written", each["id"]))
    for harmless in written_harmless():
        rows.setdefault(harmless.text, harmless)
    return list(rows.values())


def written_harmless() -> Iterator[Row]:
    """Messages and clauses that were written for other models, or to deceive this one; none tells of danger."""
    # What is a secret may be danger.
    clauses = (each["text"] for each in lines(DATA / "ledger.jsonl") if each.get("ledger") != "secret")
    typed = (each["said"] for each in lines(DATA / "sloppy.jsonl"))
    for text in (*typed, *clauses, *told_before(DATA / "recollections.jsonl")):
        yield Row(text, "none", 0, "none", "ordinary", text)
    for each in lines(DATA / "ordinary.jsonl"):
        yield Row(each["text"], "none", 0, "none", TRICKY, each["text"])


def told_before(path: Path) -> Iterator[str]:
    """Questions for what was told before, and what students told in their own words, where that worries nobody."""
    for student in lines(path):
        yield from (asked["q"] for asked in student["questions"])
        # Those of the first students were not looked at for worries.
        if "worrying" in student:
            told = enumerate(student["statements"])
            yield from (t for i, t in told if i not in student["worrying"] and not t.startswith(OF_MEMORY))


def tutoring_talk(data: Path) -> Iterator[Row]:
    for name in ("mathdial", "cima", "bridge"):
        for dialogue in load_dialogues(data / "tutoring" / f"{name}.jsonl"):
            for message in dialogue.messages:
                if message.author is Author.STUDENT:
                    yield Row(message.text, "none", 0, "none", f"talk:{name}", dialogue.id)


def small_talk(data: Path) -> Iterator[Row]:
    for part in ("train", "dev"):
        for each in lines(data / "boundaries" / f"tiage_{part}.jsonl"):
            for turn in each["turns"]:
                yield Row(turn["text"], "none", 0, "none", "tiage", each["dialogue_id"])
