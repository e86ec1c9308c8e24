"""Copy the dialogues of the demo out of the full data sets into graphmem/samples, rows unchanged.

Usage: python scripts/make_samples.py FOLDER, where FOLDER holds mathdial.jsonl, cima.jsonl and bridge.jsonl.
"""

import json
import sys
from pathlib import Path

from graphmem.samples import SAMPLES
from graphmem.samples.dialogues import load_dialogues

CHOSEN = {
    "mathdial": ("mathdial-test-201", "mathdial-test-297", "mathdial-test-323", "mathdial-test-345"),
    "cima": ("cima-prep-284", "cima-prep-823", "cima-prep-1130"),
    "bridge": ("4111481_50", "4054686_22", "4274213_164"),
}
"""Dialogue ids by source; the MathDial ones are four sessions of one student, Mariana."""


def chosen_rows(path: Path, ids: tuple[str, ...]) -> list[str]:
    """The lines of a file with these dialogue ids, each id once, in the order of the file."""
    rows: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        rows.setdefault(json.loads(line)["dialogue_id"], line)
    if missing := set(ids) - set(rows):
        raise SystemExit(f"{path} lacks {', '.join(sorted(missing))}: is this the full file?")
    return [line for name, line in rows.items() if name in ids]


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    for source, ids in CHOSEN.items():
        target = SAMPLES / source / "dialogues.jsonl"
        target.write_text("\n".join(chosen_rows(Path(sys.argv[1]) / f"{source}.jsonl", ids)) + "\n", encoding="utf-8")
        print(f"{target.name} of {source}: {len(load_dialogues(target))} dialogues")


if __name__ == "__main__":
    main()
