"""Recorded answers of models to real dialogues, and what comes of them in the service.

A recorded answer is a list of notes for a dialogue, written by hand from what the prompt shows. The server gives those
whose quote stands in a line that is to be read, and finds the number of a known memory by words of it, as a model does.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

from graphmem.app import Graphmem
from graphmem.flows.context import context
from graphmem.flows.session_cache import open_memories
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.jobs.runner import run_jobs
from graphmem.model import MESSAGES_AT_ONCE, Memory, MemoryRole, Session
from graphmem.text.doc import Doc
from graphmem.text.memory_block import count_tokens
from tests.support.llm_server import LINE, Json, LlmServer, Seen

RECORDED = Path(__file__).parents[1] / "data" / "recorded"


def recorded_rows(name: str) -> list[Json]:
    """Rows of a file of recorded answers, or the dialogues."""
    return [json.loads(line) for line in (RECORDED / f"{name}.jsonl").read_text("utf-8").splitlines()]


class RecordedModel:
    """Answers to the requests that form memories, from recorded notes."""

    def __init__(self, rows: Sequence[Json]) -> None:
        self.notes: list[Json] = [note for row in rows for note in row["notes"]]

    def __call__(self, seen: Seen) -> str | None:
        if "<talk>" not in seen.question:
            return None
        heard = (
            text.partition(" (unexpected; foreseen:")[0] for _, text in re.findall(LINE, seen.question, re.MULTILINE)
        )
        lines = [" ".join(unescape(text).split()) for text in heard]
        everything = " ".join(unescape(seen.question).split())
        known = re.findall(r"^(\d+) \(\d{4}-\d\d-\d\d[^)]*\) (.*)$", seen.question, re.MULTILINE)
        found = [note for note in self.notes if self._is_said(note, lines, everything)]
        return json.dumps({"notes": [_written(note, known, found[:place]) for place, note in enumerate(found)]})

    @staticmethod
    def _is_said(note: Json, lines: list[str], everything: str) -> bool:
        quote = note.get("quote")
        if not isinstance(quote, str):
            return True
        words = " ".join(quote.split())
        return words in everything if note.get("anywhere") else any(words in line for line in lines)


def _written(note: Json, known: list[tuple[str, str]], earlier: list[Json]) -> Json:
    """A note as a model writes it, with the number of the memory, or of the note of this answer, that it is about."""
    sent = {name: value for name, value in note.items() if name not in {"of", "anywhere", "note", "link", "known"}}
    if "note" in note:
        sent["statement"] = note["note"]
    # Recorded instructions are about style and pace.
    if sent.get("ledger") == "instruction":
        sent["ledger"] = "style"
    of = note.get("of")
    told = [(f"n{i}", str(each.get("note", ""))) for i, each in enumerate(earlier, 1)]
    numbers = [number for number, text in (*known, *told) if of and str(of).casefold() in text.casefold()]
    links = [f"{note.get('link')} {numbers[-1]}"] if numbers else []
    return {"about": "student", "importance": 0.5, "links": links} | sent


@dataclass
class Outcome:
    """What came of recorded answers, as shares, with the memories to be read."""

    figures: dict[str, float]
    lines: list[str] = field(default_factory=list)


@dataclass
class _Clock:
    now: datetime

    def __call__(self) -> datetime:
        return self.now


async def played(gm: Graphmem, session: Session, dialogues: Sequence[Json], server: LlmServer | None = None) -> Outcome:
    """One student's dialogues put through the service, and what is held of their reference memories."""
    counts: dict[str, list[bool]] = {name: [] for name in ("held", "kept", "closed", "same", "answered")}
    lines: list[str] = []
    turns = 0
    clock = _Clock(gm.clock())
    told = replace(gm, clock=clock)
    for dialogue in dialogues:
        clock.now = max(clock.now, datetime.fromisoformat(dialogue["date"]).replace(hour=15, tzinfo=UTC))
        turns += await _talk(told, clock, session, dialogue)
    index = (await open_memories(told, session)).index
    memories = [m for m in index.latest(len(index)) if m.role not in (MemoryRole.EPISODE, MemoryRole.LESSON)]
    gold = {each["id"]: (each, f"{d['dialogue_id']}#{each['turn']}") for d in dialogues for each in d["gold"]}
    for dialogue in dialogues:
        for place in dialogue["nothing"]:
            formed = _of(memories, f"{dialogue['dialogue_id']}#{place}")
            counts["kept"].append(bool(formed))
    for each, ref in gold.values():
        formed = _of(memories, ref)
        counts["held"].append(any(holds(memory, each["statement"]) for memory in formed))
        lines.append(f"{'held' if counts['held'][-1] else 'LOST'}: {each['statement']} | {[m.content for m in formed]}")
        if each["ends"] in gold:
            ended, old = gold[each["ends"]]
            before = _of(memories, old)
            about = [memory for memory in before if holds(memory, ended["statement"])] or before
            counts["closed"].append(any(memory.invalid_at is not None for memory in about))
            lines.append(f"{'ended' if counts['closed'][-1] else 'OPEN'}: {ended['statement']}")
        if each["same_as"] in gold:
            counts["same"].append(any(memory.reinforcement_count for memory in formed))
    for asked in (each for dialogue in dialogues for each in dialogue.get("questions") or ()):
        shown = await context(told, session, asked["q"])
        texts = [*(entry.content or "" for entry in shown.ledger), *(fact.text for fact in shown.facts)]
        texts += [recalled.memory.words for recalled in shown.memories]
        wanted = [gold[each][0]["statement"] for each in asked["gold"]]
        found = [any(_says(text, statement) for text in texts) for statement in wanted]
        counts["answered"].append(sum(found) >= len(found) / 2)
    figures = {name: sum(each) / len(each) for name, each in counts.items() if each}
    if server is not None:
        figures |= usage_of(server, turns)
    return Outcome(figures | {"memories": float(len(memories)), "gold": float(len(gold))}, lines)


async def _talk(gm: Graphmem, clock: _Clock, session: Session, dialogue: Json) -> int:
    said = dialogue["turns"]
    places = [i for i, turn in enumerate(said) if turn["speaker"] == "student"]
    for count, i in enumerate(places, start=1):
        clock.now += timedelta(seconds=40)
        after = said[i + 1]["text"] if i + 1 < len(said) and said[i + 1]["speaker"] != "student" else "…"
        opener = said[i - 1]["text"] if i and said[i - 1]["speaker"] != "student" else None
        given: dict[str, Any] = {"task": dialogue["task"] or "", "opener": opener if count == 1 else None}
        await handle_turn(
            gm, session, Incoming(f"{dialogue['dialogue_id']}#{i}", said[i]["text"], clock.now, after, **given)
        )
        if count % MESSAGES_AT_ONCE == 0 or count == len(places):
            await run_jobs(gm, session)
    return len(places)


def _of(memories: Sequence[Memory], ref: str) -> list[Memory]:
    return [memory for memory in memories if ref in memory.source_refs]


def holds(memory: Memory, statement: str) -> bool:
    """True if a memory has at least half of a statement's content words, the student's name left out."""
    return _says(memory.words, statement)


def _says(text: str, statement: str) -> bool:
    wanted = Doc(statement.partition(" ")[2]).stems
    return len(wanted & Doc(text).stems) >= 0.5 * len(wanted)


def usage_of(server: LlmServer, turns: int) -> dict[str, float]:
    """Calls and tokens a turn, counted by the shipped tokenizer, and the calls of each purpose."""
    sent = [
        f"{seen.text}\n{json.dumps(seen.body['response_format']['json_schema'], separators=(',', ':'))}"
        for seen in server.seen
    ]
    tokens = count_tokens(sent)
    by_purpose: dict[str, float] = {}
    for seen, count in zip(server.seen, tokens, strict=True):
        name = str(seen.body["response_format"]["json_schema"]["name"])
        for key, value in ((f"calls_{name}", 1), (f"tokens_{name}", count)):
            by_purpose[key] = by_purpose.get(key, 0.0) + value / turns
    return {"turns": float(turns), "calls": len(sent) / turns, "tokens": sum(tokens) / turns} | by_purpose
