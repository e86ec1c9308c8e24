"""Real tutoring dialogues that ship with graphmem, each source in a folder with its attribution and licence."""

from pathlib import Path

from graphmem.samples.dialogues import Dialogue, load_dialogues

SAMPLES = Path(__file__).parent
"""Where they are: `<source>/dialogues.jsonl`, `<source>/ATTRIBUTION.md`."""


def written_story() -> list[Dialogue]:
    """Two written sessions of one student, for what the real dialogues do not hold: a name, a promise, a secret."""
    return load_dialogues(SAMPLES / "written" / "dialogues.jsonl")


def sample_dialogues() -> list[Dialogue]:
    """The dialogues of the demo: four sessions of one MathDial student, then three of CIMA and three of Bridge.

    Examples
    --------
    >>> [dialogue.source for dialogue in sample_dialogues()].count("MathDial")
    4
    """
    sources = ("mathdial", "cima", "bridge")
    return [dialogue for source in sources for dialogue in load_dialogues(SAMPLES / source / "dialogues.jsonl")]
