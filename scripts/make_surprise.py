"""Make the reference that surprise is calibrated with: how much ordinary talk surprises.

    python scripts/make_surprise.py --talk mathdial.jsonl cima.jsonl bridge.jsonl --chat tiage_train.jsonl \\
        --told utterances.jsonl safety.jsonl

Talk: real tutoring dialogues as `graphmem replay` takes them. Chat: how new a message is (spec 6) is measured by it as
much as by tutoring. Told: labelled messages with `id`, `text` and `band` or `urgency`; written ones only. Dialogues
whose id is held out (`is_held_out`) are no part of the reference; they become the sample of `graphmem bench surprise`,
and the figures of both parts lie in `figures.json` beside it.
"""

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from graphmem.bench import surprise as bench
from graphmem.bench.talks import is_held_out
from graphmem.flows.scoring import Senses
from graphmem.maths import surprise
from graphmem.samples.dialogues import SPEAKERS
from graphmem.text.affect import load_affect
from graphmem.text.match_model import load_match

ORDINARY_SHARES = (*np.arange(0, 0.9, 0.05).round(2).tolist(), 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 1.0)
SOME_EVENTS = 150

Row = dict[str, Any]
Talk = tuple[bench.TalkTurn, ...]
Tables = dict[str, tuple[float, ...]]


def read(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def talk_of(row: Row) -> Talk:
    return tuple((SPEAKERS[turn["speaker"]], turn["text"]) for turn in row["turns"] if turn["text"])


def chat_of(row: Row) -> Talk:
    """A chat, in which the one who begins is the student."""
    first = row["turns"][0]["speaker"]
    return tuple((SPEAKERS["student" if t["speaker"] == first else "tutor"], t["text"]) for t in row["turns"])


def table(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(round(float(value), 4) for value in np.quantile(values, ORDINARY_SHARES))


def write(tables: Tables) -> None:
    """Write `graphmem/maths/ordinary.json`, and have it used from here on."""
    found = {"shares": ORDINARY_SHARES} | tables
    rows = (f"  {json.dumps(name)}: {json.dumps(values)}" for name, values in found.items())
    surprise.ORDINARY_FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    vars(surprise).update(ORDINARY=found, ORDINARY_SHARES=ORDINARY_SHARES)


def turns(talks: Sequence[Talk], senses: Senses) -> list[bench.ScoredTurn]:
    return [turn for i, talk in enumerate(talks) for turn in bench.scored_turns(talk, senses, seed=i)]


def distances(talks: Sequence[Talk], chats: Sequence[Talk], senses: Senses) -> list[float]:
    """How far messages are from all before them, in tutoring and in chat, as many messages of each."""
    both = [[t.distance for t in turns(each, senses) if t.distance is not None] for each in (talks, chats)]
    return [distance for each in both for distance in random.Random(0).sample(each, min(map(len, both)))]


def reference(talks: Sequence[Talk], chats: Sequence[Talk], senses: Senses) -> None:
    """Tables of the parts first, then of the sum of what they make of the parts."""

    first = turns(talks, senses)
    names = [part.name for part in fields(surprise.MessageParts) if part.name in surprise.ORDINARY]
    tables = {n: table([v for t in first if (v := getattr(t.score.parts, n)) is not None]) for n in names}
    tables["novelty"] = table(distances(talks, chats, senses))
    tables["error"] = table([1 - t.sensed.match for t in first if t.sensed.match is not None])
    write(tables | {"sum": ORDINARY_SHARES})
    write(tables | {"sum": table([t.score.surprising for t in turns(talks, senses)])})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--talk", type=Path, nargs="+", required=True, help="real tutoring dialogues")
    parser.add_argument("--chat", type=Path, required=True, help="real chats, whose turns name their speaker")
    parser.add_argument("--told", type=Path, nargs="+", required=True, help="labelled messages of students")
    args = parser.parse_args()

    dialogues = {row["dialogue_id"]: row for path in args.talk for row in read(path)}
    rows = [row for path in args.told for row in read(path) if row.get("source", "written") == "written"]
    events = [row for row in rows if bench.is_grave(row)]
    known = [talk for name, row in dialogues.items() if not is_held_out(name) and (talk := talk_of(row))]
    held = [row for name, row in dialogues.items() if is_held_out(name)]
    senses = Senses(load_affect(), load_match(), shipped=True)
    reference(known, [chat_of(row) for row in read(args.chat)], senses)

    sample = [{"dialogue_id": row["dialogue_id"], "turns": row["turns"]} for row in held]
    sample += [{"id": row["id"], "text": row["text"]} for row in events if is_held_out(row["id"])]
    bench.SURPRISE_SAMPLE.parent.mkdir(exist_ok=True)
    np.save(bench.REFERENCE_FILE, np.array(sorted(map(bench.talk_hash, known)), dtype=np.int64))
    lines = (json.dumps(row, ensure_ascii=False) for row in sample)
    bench.SURPRISE_SAMPLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    seen = random.Random(0).sample([row["text"] for row in events if not is_held_out(row["id"])], SOME_EVENTS)
    kept = [talk for row in held if (talk := talk_of(row))]
    figures = {
        "reference": bench.surprise_figures(known, seen, senses),
        "held out": bench.surprise_figures(kept, [r["text"] for r in events if is_held_out(r["id"])], senses),
    }
    text = json.dumps({k: {n: round(v, 4) for n, v in each.items()} for k, each in figures.items()}, indent=2)
    (bench.SURPRISE_SAMPLE.parent / "figures.json").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
