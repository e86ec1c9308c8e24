"""Dialogues of the demo, rows unchanged, and the bank of tutoring situations with their vectors.

The demo's students are left out of the bank altogether.
"""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from graphmem.model import Author
from graphmem.offline.exemplars import FOLDER, SOURCES, Situation, embedded, read_situations, save_vectors
from graphmem.samples import SAMPLES, sample_dialogues
from graphmem.samples.dialogues import Dialogue, load_dialogues
from graphmem.settings import Settings
from graphmem.text.embedder import make_embedder

from .options import Figures, Options, write_lines

SHOWN = {
    "mathdial": ("mathdial-test-201", "mathdial-test-297", "mathdial-test-323", "mathdial-test-345"),
    "cima": ("cima-prep-284", "cima-prep-823", "cima-prep-1130"),
    "bridge": ("4111481_50", "4054686_22", "4274213_164"),
}
"""Dialogues of the demo by source; the MathDial ones are four sessions of one student, Mariana."""
LONGEST = 600
"""Characters kept of a text."""

_GREETING = re.compile(r"^(?:hi|hey|hello|good (?:morning|afternoon|evening))\b[\s,.!:;-]*(?=\w)", re.IGNORECASE)


def make(given: Options) -> Figures:
    """Write dialogues, situations and vectors; return how many there are."""
    figures = Figures()
    for source, ids in SHOWN.items():
        path = given.data / "tutoring" / f"{source}.jsonl"
        rows: dict[str, str] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            rows.setdefault(json.loads(line)["dialogue_id"], line)
        text = "".join(f"{line}\n" for name, line in rows.items() if name in ids)
        (SAMPLES / source / "dialogues.jsonl").write_text(text, encoding="utf-8")
    for source in SOURCES:
        situations = chosen(given.data / "tutoring" / f"{source}.jsonl")
        write_lines(FOLDER / source / "situations.jsonl", [asdict(each) for each in situations])
        figures[source] = len(situations)
    asyncio.run(_save_vectors())
    return figures


async def _save_vectors() -> None:
    embedder = make_embedder(Settings(embedder="onnx:all-MiniLM-L6-v2"))
    save_vectors(await embedded(read_situations(), embedder), embedder)
    await embedder.aclose()


def neutral(text: str, name: str) -> str:
    """Return a text without the name of the student it addresses, without a greeting in front, and not too long.

    Examples
    --------
    >>> neutral("Hi Mariana, please talk me through it, mariana.", "Mariana")
    'please talk me through it.'
    >>> neutral("Hi!", "Mariana")
    'Hi!'
    """
    names = "|".join(re.escape(word) for word in (name, "[STUDENT]"))
    text = " ".join(text.split())
    text, removed = re.subn(rf"[\s,]*(?<!\w)(?:{names})(?!\w)", "", text, flags=re.IGNORECASE)
    return _GREETING.sub("", text.lstrip(" ,.!?-") if removed else text)[:LONGEST].strip()


def situations_of(dialogue: Dialogue) -> Iterator[Situation]:
    """Yield each answer of the student to something the tutor said."""
    texts = [neutral(said.text, dialogue.student) for said in dialogue.messages]
    for i, said in enumerate(dialogue.messages):
        if said.author is Author.STUDENT and i > 0 and texts[i] and texts[i - 1]:
            yield Situation(dialogue.id, texts[i - 1], texts[i - 2] if i > 1 else "", texts[i])


def chosen(path: Path) -> list[Situation]:
    """Return the situations of a source, each once: those of the demo's dialogues and students are left out."""
    shown = sample_dialogues()
    students, ids = {dialogue.student for dialogue in shown}, {dialogue.id for dialogue in shown}
    seen: dict[tuple[str, str, str], Situation] = {}
    for dialogue in load_dialogues(path):
        if dialogue.student not in students and dialogue.id not in ids:
            for situation in situations_of(dialogue):
                seen.setdefault((situation.asked, situation.before, situation.answer), situation)
    return list(seen.values())
