"""Real tutoring dialogues and a curriculum, each in a folder with its attribution and licence."""

from pathlib import Path

from graphmem.samples.dialogues import Dialogue, load_dialogues

SAMPLES = Path(__file__).parent
"""Where they are: `<source>/dialogues.jsonl` or `<world>/world.csv`, beside it `ATTRIBUTION.md`."""


def sample_worlds() -> list[str]:
    """Names of the worlds that ship: folders that hold a `world.csv`.

    Examples
    --------
    >>> sample_worlds()
    ['mathematics']
    """
    return sorted(path.parent.name for path in SAMPLES.glob("*/world.csv"))


def written_story() -> list[Dialogue]:
    """Three written sessions of one student, for what the real dialogues do not hold: a name, a promise, a secret."""
    return load_dialogues(SAMPLES / "written" / "dialogues.jsonl")


def sample_dialogues() -> list[Dialogue]:
    """The shipped dialogues: four sessions of one MathDial student, then three of CIMA and three of Bridge.

    Examples
    --------
    >>> [dialogue.source for dialogue in sample_dialogues()].count("MathDial")
    4
    """
    sources = ("mathdial", "cima", "bridge")
    return [dialogue for source in sources for dialogue in load_dialogues(SAMPLES / source / "dialogues.jsonl")]
