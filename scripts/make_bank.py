"""Make the bank of tutoring situations out of the full data sets: texts by source, vectors by the shipped embedder.

Usage: python scripts/make_bank.py FOLDER, where FOLDER holds mathdial.jsonl, cima.jsonl and bridge.jsonl.
The demo's student is left out altogether.
"""

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from graphmem.model import Author
from graphmem.offline.exemplars import FOLDER, SOURCES, Situation, embedded, read_situations, save_vectors
from graphmem.samples import sample_dialogues
from graphmem.samples.dialogues import Dialogue, load_dialogues
from graphmem.settings import Settings
from graphmem.text.embedder import make_embedder

LONGEST = 600
"""Characters kept of a text."""

_GREETING = re.compile(r"^(?:hi|hey|hello|good (?:morning|afternoon|evening))\b[\s,.!:;-]*(?=\w)", re.IGNORECASE)


def neutral(text: str, name: str) -> str:
    """A text without the name of the student it addresses, without a greeting in front, and not too long.

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
    """Each answer of the student to something the tutor said."""
    texts = [neutral(said.text, dialogue.student) for said in dialogue.messages]
    for i, said in enumerate(dialogue.messages):
        if said.author is Author.STUDENT and i > 0 and texts[i] and texts[i - 1]:
            yield Situation(dialogue.id, texts[i - 1], texts[i - 2] if i > 1 else "", texts[i])


def chosen(folder: Path, source: str) -> list[Situation]:
    """The situations of a source, each once: those of demo dialogues, and of the demo's students, are left out."""
    shown = sample_dialogues()
    students, ids = {dialogue.student for dialogue in shown}, {dialogue.id for dialogue in shown}
    seen: dict[tuple[str, str, str], Situation] = {}
    for dialogue in load_dialogues(folder / f"{source}.jsonl"):
        if dialogue.student not in students and dialogue.id not in ids:
            for situation in situations_of(dialogue):
                seen.setdefault((situation.asked, situation.before, situation.answer), situation)
    return list(seen.values())


async def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    for source in SOURCES:
        rows = chosen(Path(sys.argv[1]), source)
        lines = [json.dumps(asdict(row), ensure_ascii=False) for row in rows]
        (FOLDER / source / "situations.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{source}: {len(rows)} situations")
    embedder = make_embedder(Settings(embedder="onnx:all-MiniLM-L6-v2"))
    save_vectors(await embedded(read_situations(), embedder), embedder)
    await embedder.aclose()


if __name__ == "__main__":
    asyncio.run(main())
