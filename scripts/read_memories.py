"""Put recorded talk through the service without a language model, and print what is kept, to be read by people.

    python scripts/read_memories.py FILE [--conversation ID | --every N] [--first N] [--skip N] [--questions N]

FILE holds dialogues as for `graphmem replay`, or conversations of LoCoMo (`recall/locomo_dev.jsonl`), of which the
speaker who talks first is the student, and the other's turns are the replies. Printed are the messages with the
memories, facts and ledger entries formed of each, then the contexts of some questions: those of the file, or the
tutor's own next lines. Needs the local Neo4j's jars; the database is thrown away.
"""

import argparse
import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from graphmem.app import Graphmem
from graphmem.bench.harness import BENCH_INSTITUTION, PASSWORD, own_database
from graphmem.bench.voe import held_out
from graphmem.flows import students
from graphmem.flows.context import context
from graphmem.flows.ledger import list_entries
from graphmem.flows.session_cache import open_memories
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import Author, Session, Who
from graphmem.runtime import open_graphmem
from graphmem.samples.dialogues import Dialogue, load_dialogues
from graphmem.settings import Settings
from graphmem.store import turns

BUDGET, PAUSE, FACTS = 400, timedelta(minutes=1), 200
OVERVIEW = (
    "What do you know about this student?",
    "What does this student struggle with?",
    "What can this student do well?",
)


@dataclass
class Talk:
    """One student's talk: sessions of (day, task, messages), messages as (author is the student, text)."""

    student: str
    sessions: list[tuple[datetime, str, list[tuple[bool, str]]]] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)


def locomo_talk(row: dict[str, Any], questions: int) -> Talk:
    speakers = list(dict.fromkeys(turn["speaker"] for turn in row["turns"]))
    talk = Talk(speakers[0])
    days: dict[int, tuple[datetime, str, list[tuple[bool, str]]]] = {}
    for turn in row["turns"]:
        at = datetime.strptime(turn["session_date"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        days.setdefault(turn["session"], (at, "", []))[2].append((turn["speaker"] == speakers[0], turn["text"]))
    talk.sessions = list(days.values())
    asked = [each["question"] for each in row["qa"] if each.get("category") != 5 and speakers[0] in each["question"]]
    talk.questions = asked[:: max(1, len(asked) // max(1, questions))][:questions]
    return talk


def dialogue_talks(dialogues: Sequence[Dialogue]) -> Iterator[Talk]:
    students_: dict[str, Talk] = {}
    for dialogue in dialogues:
        talk = students_.setdefault(dialogue.student, Talk(dialogue.student))
        day = datetime(2026, 1, 5, 15, tzinfo=UTC) + timedelta(days=len(talk.sessions))
        messages = [(said.author is Author.STUDENT, said.text) for said in dialogue.messages]
        talk.sessions.append((day, dialogue.topic, messages))
        talk.questions = [*OVERVIEW, *(text for own, text in messages if not own)][: len(OVERVIEW) + 1]
    yield from students_.values()


@dataclass
class Clock:
    now: datetime

    def __call__(self) -> datetime:
        return self.now


async def show(gm: Graphmem, talk: Talk) -> None:
    who = Who(BENCH_INSTITUTION, re.sub(r"\W+", "-", f"read-{talk.student}"))
    clock = Clock(gm.clock())
    told = replace(gm, clock=clock)
    await students.enrol(gm, who, PASSWORD, talk.student if talk.student.isalpha() else None)
    said: dict[str, str] = {}
    session: Session | None = None
    for number, (at, task, messages) in enumerate(talk.sessions):
        clock.now = at
        if session is not None:
            await close_session(told, session)
        _, session = await students.open_session(told, who, PASSWORD)
        said |= await play(told, clock, session, number, task, messages)
    if session is None:
        return
    await print_kept(told, session, said)
    for question in talk.questions:
        found = await context(told, session, question, BUDGET)
        print(f"\n?? {question}\n{found.prompt or '(empty)'}")
    await close_session(told, session)


async def play(
    gm: Graphmem, clock: Clock, session: Session, number: int, task: str, messages: list[tuple[bool, str]]
) -> dict[str, str]:
    said, opener = {}, None
    for place, (own, text) in enumerate(messages):
        after = messages[place + 1] if place + 1 < len(messages) else None
        reply = after[1] if after is not None and not after[0] else None
        if not own:
            opener = text if place == 0 else opener
            continue
        clock.now += PAUSE
        turn_id = f"{number}#{place}"
        outcome = await handle_turn(gm, session, Incoming(turn_id, text, clock.now, reply, task or None, opener))
        opener = None
        await run_jobs(gm, session)
        raised = "" if outcome.concern is None else f" !! CONCERN {outcome.concern.kind} {outcome.concern.urgency}"
        fact = "" if outcome.fact is None else f"\n      FACT {outcome.fact.text} {outcome.fact.tags}"
        said[turn_id] = f"{text}{raised}\n      >> {reply}{fact}"
    return said


async def print_kept(gm: Graphmem, session: Session, said: dict[str, str]) -> None:
    gm.cache.drop_memories(session)
    index = (await open_memories(gm, session)).index
    of_turn = defaultdict(list)
    for memory in index.latest(len(index)):
        for ref in memory.source_refs:
            of_turn[ref].append(memory)
    for ref, text in said.items():
        print(f"\n[{ref}] {text}")
        for m in of_turn.get(ref, ()):
            notes = [m.role.value, m.modality.value, m.kind.value, m.domain.value, f"snr {m.snr}"]
            notes += [] if m.aspect is None else [m.aspect.value]
            notes += [] if m.invalid_at is None else ["ENDED"]
            notes += [f"said {m.reinforcement_count + 1}"] if m.reinforcement_count else []
            print(f"   => {m.content}   ({', '.join(notes)})")
    for entry in await list_entries(gm, session):
        print(f"LEDGER {entry.category.value} {entry.importance} active={entry.is_active}: {entry.content}")
    for fact in await turns.list_ring(gm.graph, session, FACTS):
        print(f"FACT {fact.created_at:%Y-%m-%d} {fact.text} {fact.tags}")


def talks_of(args: argparse.Namespace) -> list[Talk]:
    rows = [json.loads(line) for line in args.file.read_text("utf-8").splitlines()]
    if "qa" in rows[0]:
        known = {row["conversation_id"]: row for row in rows}
        if args.conversation not in known:
            raise SystemExit(f"--conversation must be one of {', '.join(known)}, not {args.conversation}.")
        return [locomo_talk(known[args.conversation], args.questions)]
    if "expert_reply" in rows[0]:
        # Bridge's replies stand beside the turns.
        for row in rows:
            row["turns"] = [*row["turns"], {"speaker": "tutor", "text": " ".join(row["novice_reply"])}]
        copy = Path("/tmp") / f"read-{args.file.name}"
        copy.write_text("\n".join(map(json.dumps, rows)), "utf-8")
        args.file = copy
    dialogues = list({each.id: each for each in load_dialogues(args.file)}.values())[args.skip :: args.every]
    return list(dialogue_talks(dialogues[: args.first]))


async def read(settings: Settings, args: argparse.Namespace) -> None:
    talks = talks_of(args)
    async with open_graphmem(settings, say=lambda _: None, background=False) as opened:
        dialogues = [] if args.conversation else load_dialogues(args.file)
        async with held_out(opened, dialogues) as gm:
            for talk in talks:
                talk.sessions = talk.sessions[: args.sessions]
                print(f"\n==================== {talk.student}")
                await show(gm, talk)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--conversation", help="of LoCoMo")
    parser.add_argument("--sessions", type=int, default=None, help="first sessions of a student")
    for name, default in (("every", 1), ("first", 10), ("skip", 0), ("questions", 10)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    quick = {"model": "offline", "argon2_ops": 1, "argon2_mib": 8, "session_minutes": 1e5, "session_hours": 2e4}
    with own_database(Settings()) as own:
        asyncio.run(read(own.model_copy(update=quick), args))


if __name__ == "__main__":
    main()
