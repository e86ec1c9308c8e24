"""The reference that surprise is calibrated with: how much ordinary talk surprises, in `graphmem/maths/ordinary.json`.

It is made of real tutoring dialogues; how new a message is (spec 6) is measured by chats (TIAGE) as much. Dialogues
whose id is held out are no part of it; with labelled messages of danger and weight they become the sample of
`graphmem bench surprise`, beside which the figures of both parts lie.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from graphmem.bench import surprise as bench
from graphmem.bench.talks import is_held_out, save_trained
from graphmem.flows.findings import Senses
from graphmem.maths import surprise
from graphmem.samples.dialogues import SPEAKERS
from graphmem.text.affect import load_affect
from graphmem.text.matching import load_match

from .options import Figures, Options, lines, rounded, write_lines

SHARES = (*np.arange(0, 0.9, 0.05).round(2).tolist(), 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 1.0)
SOME_EVENTS = 150

Talk = tuple[bench.TalkTurn, ...]
Tables = dict[str, Sequence[float]]


def make(given: Options) -> Figures:
    """Write the reference and the sample."""
    tutoring = [given.data / "tutoring" / f"{name}.jsonl" for name in ("mathdial", "cima", "bridge")]
    told = [
        given.data / name / f"{file}.jsonl" for name, file in (("understanding", "utterances"), ("safety", "safety"))
    ]
    dialogues = {row["dialogue_id"]: row for path in tutoring for row in lines(path)}
    events = [row for path in told for row in lines(path) if row.get("source", "written") == "written"]
    events = [row for row in events if bench.is_grave(row)]
    known = [talk for name, row in dialogues.items() if not is_held_out(name) and (talk := talk_of(row["turns"]))]
    held = [row for name, row in dialogues.items() if is_held_out(name)]
    chats = [
        talk_of(row["turns"], row["turns"][0]["speaker"])
        for row in lines(given.data / "boundaries" / "tiage_train.jsonl")
    ]
    senses = Senses(load_affect(), load_match(), shipped=True)
    reference(known, chats, senses)
    apart = [row for row in events if is_held_out(row["id"])]
    sample = [{"dialogue_id": row["dialogue_id"], "turns": row["turns"]} for row in held]
    write_lines(bench.SURPRISE_SAMPLE, sample + [{"id": row["id"], "text": row["text"]} for row in apart])
    save_trained(bench.REFERENCE_FILE, [tuple(text for _, text in talk) for talk in known])
    seen = random.Random(0).sample([row["text"] for row in events if not is_held_out(row["id"])], SOME_EVENTS)
    kept = [talk for row in held if (talk := talk_of(row["turns"]))]
    found = {
        "reference": bench.surprise_figures(known, seen, senses),
        "held out": bench.surprise_figures(kept, [row["text"] for row in apart], senses),
    }
    return rounded(found)


def talk_of(turns: Sequence[dict[str, str]], student: str = "student") -> Talk:
    """Return a talk, of whose speakers one is the student."""
    return tuple((SPEAKERS["student" if t["speaker"] == student else "tutor"], t["text"]) for t in turns if t["text"])


def table(values: Sequence[float]) -> Sequence[float]:
    """Return the values at the shares."""
    return [round(float(value), 4) for value in np.quantile(values, SHARES)]


def write(tables: Tables) -> None:
    """Write the reference, and have it used from here on."""
    found = {"shares": SHARES} | tables
    rows = (f"  {json.dumps(name)}: {json.dumps(values)}" for name, values in found.items())
    surprise.ORDINARY_FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    vars(surprise).update(ORDINARY=found, ORDINARY_SHARES=SHARES)


def scored(talks: Sequence[Talk], senses: Senses) -> list[bench.ScoredTurn]:
    """Return the scored turns of talks."""
    return [turn for i, talk in enumerate(talks) for turn in bench.scored_turns(talk, senses, seed=i)]


def reference(talks: Sequence[Talk], chats: Sequence[Talk], senses: Senses) -> None:
    """Write tables of the parts first, then of the sum of what they make of the parts."""
    first = scored(talks, senses)
    names = [part.name for part in fields(surprise.MessageParts) if part.name in surprise.ORDINARY]
    tables = {n: table([v for own, *_ in first if (v := getattr(own.parts, n)) is not None]) for n in names}
    # Of tutoring and of chats as many messages.
    both = [[away for *_, away in own if away is not None] for own in (first, scored(chats, senses))]
    tables["novelty"] = table([d for each in both for d in random.Random(0).sample(each, min(map(len, both)))])
    tables["error"] = table([1 - sensed.match for _, sensed, _ in first if sensed.match is not None])
    write(tables | {"sum": SHARES})
    write(tables | {"sum": table([own.surprising for own, *_ in scored(talks, senses)])})
