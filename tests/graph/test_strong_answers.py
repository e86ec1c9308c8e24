"""What comes of a strong reader's answers to one pupil's talk of four sessions, read whole; `-s` prints it."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from uuid import uuid4

from graphmem.app import Graphmem
from graphmem.bench.harness import LONG_SESSIONS, Learner, learner
from graphmem.flows.context import context
from graphmem.flows.findings import Incoming
from graphmem.flows.ledger import list_entries
from graphmem.flows.session_cache import open_memories
from graphmem.flows.surprise import responses_by_episode
from graphmem.flows.turn import handle_turn
from graphmem.jobs.runner import run_jobs
from graphmem.model import MESSAGES_AT_ONCE, Level, TurnOutcome
from tests.support.language import with_model
from tests.support.llm_server import LINE, Json, Seen, llm_server
from tests.support.recorded_model import RECORDED

TALK: Json = json.loads((RECORDED / "strong.json").read_text("utf-8"))
STANDS = {
    "Jonas gets 25% extra time in exams because of his dyslexia.",
    "Jonas wants hints again instead of worked examples.",
    "Jonas's apprenticeship as a carpenter starts on 2083-08-01.",
}
"""Ledger entries that hold in the end."""
OVER = (
    *(
        "bakery on Saturdays",
        "study mechanical engineering",
        "has his finals on",
        "must hand in",
        "promised to hand in",
    ),
    *("worked examples only", "2083-09-01", "hardly talks to him", "cannot sleep", "wants a hint first"),
)
"""Words of statements that hold no longer in the end."""


def answer(seen: Seen) -> str:
    """The recorded answer to a prompt; links name statements, whose numbers are looked up as a reader does."""
    if "<talk>" not in seen.question:
        newest = unescape(re.findall(r"<student>(.*?)</student>", seen.question, re.DOTALL)[-1])
        (said,) = (m for session in TALK["sessions"] for m in session["messages"] if m["text"] == newest)
        return json.dumps({"danger": "none", "used": []} | {name: said[name] for name in said if name != "text"})
    lines = "\n".join(unescape(text) for _, text in re.findall(LINE, seen.question, re.MULTILINE))
    known = re.findall(r"^(\d+) \([^)]*\) (.*)$", unescape(seen.question), re.MULTILINE)
    notes = [note for note in TALK["notes"] if note["quote"] in lines]
    numbers = {text: number for number, text in known} | {n["statement"]: f"n{i}" for i, n in enumerate(notes, 1)}
    found = [note | {"links": list(_numbered(note["links"], numbers))} for note in notes]
    beside = [each for each in TALK["beside"] if each["with"] in lines]
    return json.dumps({"notes": found} | {name: text for each in beside for name, text in each.items()})


def _numbered(links: list[str], numbers: dict[str, str]) -> Iterator[str]:
    for link in links:
        word, _, target = link.partition(" {")
        if not target:
            yield link
        elif number := numbers.get(target.rstrip("}")):  # what is over already is not shown
            yield f"{word} {number}"


async def session(pupil: Learner, said: Json) -> list[TurnOutcome]:
    """One session of the talk."""
    pupil.now = datetime.fromisoformat(said["date"]).replace(hour=15, tzinfo=UTC)
    await pupil.begin()
    outcomes = []
    for place, message in enumerate(said["messages"], 1):
        pupil.now += timedelta(seconds=50)
        opener = said["opener"] if place == 1 else None
        incoming = Incoming(f"{said['date']}-{place}", message["text"], pupil.now, opener=opener)
        outcomes.append(await handle_turn(pupil.gm, pupil.session, incoming))
        assert outcomes[-1].reply == message["reply"]
        if place % MESSAGES_AT_ONCE == 0 or place == len(said["messages"]):
            await run_jobs(pupil.gm, pupil.session)
    return outcomes


async def test_what_a_strong_reader_notes_is_held_as_it_says(gm: Graphmem) -> None:
    long: dict[str, Any] = {**LONG_SESSIONS}
    with llm_server(answer=answer) as server:
        async with with_model(gm, server, **long) as talking:
            pupil = await learner(talking, f"strong-{uuid4().hex[:8]}", called=TALK["student"])
            outcomes = [outcome for said in TALK["sessions"] for outcome in await session(pupil, said)]
            index = (await open_memories(pupil.gm, pupil.session)).index
            entries = await list_entries(pupil.gm, pupil.session)
            responses = await responses_by_episode(pupil.gm, pupil.session, [m.id for m in index.latest(len(index))])
            shown = (await context(pupil.gm, pupil.session, "What is Jonas planning, and how does he feel?")).prompt
            await pupil.end()
    held = {memory.content or "": memory for memory in index.latest(len(index))}
    print(*sorted(f"{text} | until {m.invalid_at}" for text, m in held.items()), shown, sep="\n")
    written = {
        note["statement"] for note in TALK["notes"] if not any(link.startswith("same") for link in note["links"])
    }
    taught = {text for each in TALK["beside"] for name, text in each.items() if name == "teach"}
    assert held.keys() == written | taught
    weights = {note["statement"]: note["importance"] for note in TALK["notes"]}
    assert all(held[text].importance == weights[text] for text in written)
    over = {text for text, memory in held.items() if memory.invalid_at is not None}
    assert {text for text in held if any(words in text for words in OVER)} <= over
    assert {entry.content for entry in entries if entry.is_active} == STANDS
    # What is over is not shown, or marked as past.
    past = [line for line in shown.splitlines() if any(words in line for words in OVER)]
    assert all(re.search(r", until \d{1,2} \w+ 2083\)", line) for line in past), past
    assert all(any(text in line for line in shown.splitlines()) for text in STANDS)
    # What surprised and was worth a note has its response.
    levels = {outcome.turn_id: outcome.level for outcome in outcomes if outcome.level is not Level.NORMAL}
    kept = {ref for memory in held.values() if memory.id in responses for ref in memory.source_refs}
    assert kept == levels.keys() & {ref for memory in held.values() for ref in memory.source_refs}
    assert sum("<talk>" in seen.question for seen in server.seen) / len(outcomes) <= 0.3
