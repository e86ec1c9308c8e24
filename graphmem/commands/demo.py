"""The main job, as a stranger sees it: real tutoring dialogues over HTTP, and what came of them."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from secrets import token_hex, token_urlsafe
from statistics import median
from time import monotonic, perf_counter
from typing import Any
from urllib.parse import quote

from rich.console import Console
from rich.markup import escape

from graphmem.app import server_secret
from graphmem.bearer import make_token
from graphmem.bench.harness import served
from graphmem.bench.recorded import MatchBaselines, match_baselines
from graphmem.commands.memories import incoming_turns
from graphmem.local import server
from graphmem.model import Role
from graphmem.runtime import neo4j_access, open_graph, open_graphmem
from graphmem.samples import sample_dialogues, written_story
from graphmem.samples.dialogues import Dialogue, load_dialogues
from graphmem.settings import Settings
from graphmem.store import schema
from graphmem.store.queries import browser_query
from graphmem.text.sanitize import clipped
from graphmem_client import AsyncClient
from graphmem_client.generated import Context, LedgerEntry, Turn

DEMO_INSTITUTION = "demo"
FORMING_SECONDS = 20.0
LINE_CHARACTERS = 110
STORY_QUESTION = "Where does Kim live, and which fraction is bigger, 1/4 or 1/8?"


@dataclass(frozen=True)
class Scene:
    """One dialogue as the demo plays it: whose it is, when, and whether the companion replies by itself."""

    student: str
    dialogue: Dialogue
    at: datetime
    own_reply: bool
    name: str | None = None


@dataclass(frozen=True)
class Told:
    """A turn as it was played: what was expected, said and answered, and how long the answer took in ms."""

    student: str
    dialogue: str
    expected: str | None
    text: str
    turn: Turn
    ms: float
    at: datetime


@dataclass(frozen=True)
class Story:
    """The written story as it was remembered: the ledger, and the context of one question before and after."""

    told: list[Told]
    ledger: tuple[LedgerEntry, ...]
    question: str
    before: Context
    after: Context


@dataclass(frozen=True)
class Played:
    """Results of the demo: one entry a turn, and what is remembered of the last student."""

    turns: list[Told]
    seconds: float
    last_student: str
    memory_count: int
    remembered: Context
    story: Story | None = None


def demonstrate(settings: Settings, file: Path | None, *, as_json: bool) -> None:
    """Start what is needed, put dialogues through the API, tell what happened, stop what was started.

    Parameters
    ----------
    settings : Settings
    file : dialogues instead of the shipped ones
    as_json : print one JSON document instead of the account
    """
    dialogues = sample_dialogues() if file is None else load_dialogues(file)
    now = datetime.now(UTC)
    played_scenes = [*(told_scenes(written_story(), now) if file is None else ()), *scenes(dialogues, now)]
    out, say = Console(quiet=as_json, highlight=False), Console(stderr=True, highlight=False)
    with _running_neo4j(settings, say), _api(settings, say) as address, say.status("Playing dialogues through the API"):
        played = asyncio.run(_play_scenes(settings, address, played_scenes))
        nodes = asyncio.run(_count_labels(settings))
        baselines = asyncio.run(_demo_baselines(settings, [scene.dialogue for scene in played_scenes]))
        browser = _browser_link(settings, played.last_student)
    if as_json:
        turns = {
            "turns": [_document(told) for told in played.turns],
            "remembered": {
                "memoryCount": played.memory_count,
                "context": played.remembered.model_dump(mode="json", by_alias=True),
            },
            "seconds": played.seconds,
            "nodes": nodes,
            "matchBaselines": asdict(baselines),
            "browser": browser,
        }
        print(json.dumps(turns, ensure_ascii=False))
    else:
        if played.story is not None:
            _tell_story(played.story, out)
        _tell_highlights(played, out)
        _sum_up(played, nodes, baselines, browser, out)


def told_scenes(story: list[Dialogue], now: datetime) -> list[Scene]:
    """A written story, a week between its sessions, the companion replying by itself."""
    student = f"{story[0].student}-{token_hex(3)}"
    return [
        Scene(student, dialogue, now - timedelta(weeks=len(story) - 1 - i), own_reply=True, name=dialogue.student)
        for i, dialogue in enumerate(story)
    ]


def scenes(dialogues: list[Dialogue], now: datetime) -> list[Scene]:
    """One dialogue with the companion's own replies, then every one with the tutor's, a day apart for one student.

    The student with most sessions comes last, whose graph is then there to be seen.
    """
    longest = max(dialogues, key=lambda d: len(d.messages))
    played = [Scene(f"{longest.student}-{token_hex(3)}", longest, now, own_reply=True)]
    sessions_of = {name: list(held) for name, held in groupby(dialogues, key=lambda d: d.student)}
    for name, sessions in sorted(sessions_of.items(), key=lambda item: len(item[1])):
        student = f"{name}-{token_hex(3)}"
        for i, dialogue in enumerate(sessions):
            played.append(Scene(student, dialogue, now - timedelta(days=len(sessions) - i), own_reply=False))
    return played


@contextmanager
def _running_neo4j(settings: Settings, say: Console) -> Iterator[None]:
    """A running Neo4j; the local one is stopped again if it was started here."""
    was_running = settings.neo4j_uri is not None or server.status(settings).running
    neo4j_access(settings, say.print)
    try:
        yield
    finally:
        if not was_running:
            server.down(settings, say.print)


@contextmanager
def _api(settings: Settings, say: Console) -> Iterator[str]:
    """The API as its own process on a free port, stopped again."""
    with ExitStack() as stack:
        with say.status("Starting the API"):
            port = stack.enter_context(served(settings, GRAPHMEM_LOG_LEVEL="warning"))
        yield f"http://127.0.0.1:{port}"


async def _play_scenes(settings: Settings, address: str, played: list[Scene]) -> Played:
    secret, now = server_secret(settings), datetime.now(UTC)
    admin, app = (make_token(secret, DEMO_INSTITUTION, role, 3600, now) for role in (Role.ADMIN, Role.APP))
    told: list[Told] = []
    start, student, story = perf_counter(), "", None
    async with AsyncClient(address, admin) as as_admin, AsyncClient(address, app) as as_app:
        for student, sessions in groupby(played, key=lambda s: s.student):
            password, expected = token_urlsafe(), None
            enrolled = False
            for scene in sessions:
                if not enrolled:
                    await as_admin.enrol_student(student, password, scene.name or student)
                    enrolled = True
                await as_app.open_session(student, password)
                told += await _session(as_app, scene, expected)
                expected = told[-1].turn.next_prediction.text
                if scene.name is not None:
                    story = await _remembered_story(as_app, student, told)
                # The last session stays open, so that its turns can still be seen in Neo4j Browser.
                if scene is not played[-1]:
                    await as_app.close_session(student)
        seconds = perf_counter() - start
        found = await as_app.student(student)
        remembered = await as_app.context(student, told[-1].text, token_budget=400)
    return Played(told, seconds, student, found.memory_count if found else 0, remembered, story)


async def _remembered_story(client: AsyncClient, student: str, told: list[Told]) -> Story:
    """What is remembered of the story so far, once its memories are formed."""
    deadline = monotonic() + FORMING_SECONDS
    while monotonic() < deadline:
        found = await client.student(student)
        if found is None or not found.waiting_jobs:
            break
        await asyncio.sleep(0.2)
    first = [each for each in told if each.student == student and each.dialogue == told[0].dialogue]
    before = first[-1].at + timedelta(minutes=1)
    return Story(
        told=[each for each in told if each.student == student],
        ledger=await client.ledger(student),
        question=STORY_QUESTION,
        before=await client.context(student, STORY_QUESTION, token_budget=600, as_of=min(before, datetime.now(UTC))),
        after=await client.context(student, STORY_QUESTION, token_budget=600),
    )


async def _session(client: AsyncClient, scene: Scene, expected: str | None) -> list[Told]:
    """One dialogue, turn by turn."""
    dialogue, turns = scene.dialogue, []
    for incoming in incoming_turns(dialogue, scene.at):
        sent, reply = perf_counter(), None if scene.own_reply else incoming.reply
        turn = await client.handle_turn(
            scene.student,
            incoming.turn_id,
            incoming.text,
            at=incoming.at,
            reply=reply,
            task=incoming.task,
            opener=incoming.opener,
        )
        ms = 1000 * (perf_counter() - sent)
        turns.append(Told(scene.student, dialogue.id, expected, incoming.text, turn, ms, incoming.at))
        expected = turn.next_prediction.text
    return turns


def _tell_story(story: Story, out: Console) -> None:
    """The written talk, what was kept of it, and the context before and after."""
    out.rule("Kim, two sessions a week apart (written; the rest is real)")
    for session, told in groupby(story.told, key=lambda each: each.dialogue):
        lines = list(told)
        out.print(f"[bold]{lines[0].at:%A %d %B}[/]")
        for each in lines:
            out.print(f"  [cyan]Kim[/]       {escape(each.text)}", soft_wrap=True)
            if session != story.told[0].dialogue:
                out.print(f"  [green]graphmem[/]  {escape(each.turn.reply)}", soft_wrap=True)
    out.print("[bold]Never forgotten[/] (the ledger)")
    for entry in story.ledger:
        out.print(f"  {entry.category.value:<9} {escape(entry.content or '')}", soft_wrap=True)
    out.print(f"[bold]What a companion is told[/] for “{story.question}”", soft_wrap=True)
    for title, found in (("after the first session", story.before), ("now", story.after)):
        out.print(f"  {title}:")
        for line in found.prompt.splitlines():
            # Of the parts of the block only the memories: the whole is for a model.
            if line.startswith("- [") and not line.startswith("- [fact"):
                out.print(f"    [dim]{escape(clipped(line, LINE_CHARACTERS))}[/]", soft_wrap=True)


def _tell_highlights(played: Played, out: Console) -> None:
    """Of the real dialogues: the most surprising message and what was learned from it."""
    story = () if played.story is None else played.story.told
    real = [told for told in played.turns if told not in story]
    surprising = max(real, key=lambda told: told.turn.surprise, default=None)
    sources = len({told.dialogue for told in real})
    out.rule(f"Real tutoring: {len(real)} turns of {sources} dialogues, with the tutors' own replies")
    if surprising is not None:
        out.print(f"[cyan]expected[/]   {escape(surprising.expected or '(nothing yet)')}")
        out.print(f"[cyan]was said[/]   {escape(surprising.text)}")
        out.print(
            f"[cyan]surprise[/]   {surprising.turn.surprise:.2f}, {surprising.turn.level.value.replace('_', ' ')}"
        )
        if fact := surprising.turn.learned_fact:
            out.print(f"[cyan]learned[/]    {escape(fact.text)}")


def _sum_up(played: Played, nodes: dict[str, int], baselines: MatchBaselines, browser: str, out: Console) -> None:
    turns, times = [told.turn for told in played.turns], sorted(told.ms for told in played.turns)
    expected = [turn for turn in turns if turn.match is not None]
    levels = Counter(turn.level.value for turn in turns)
    out.rule("What happened")
    out.print(f"turns      {len(turns)} of {len({told.dialogue for told in played.turns})} dialogues, "
              f"{played.seconds:.1f} s over HTTP")  # fmt: skip
    out.print(
        f"predicted  {sum(turn.matched is True for turn in expected)} of {len(expected)} expectations came true "
        f"(match >= 0.6); {baselines} would have"
    )
    out.print(f"learned    {sum(turn.learned_fact is not None for turn in turns)} facts")
    out.print(f"surprise   {', '.join(f'{n} {level}' for level, n in levels.most_common())}")
    calls = sum(turn.usage.calls for turn in turns)
    out.print(f"handleTurn p50 {median(times):.1f} ms, p95 {times[int(0.95 * len(times))]:.1f} ms, {calls} model calls")
    out.print(f"remembered {played.memory_count} memories of {played.last_student}")
    out.print(f"in Neo4j   {', '.join(f'{n} {label}' for label, n in nodes.items() if n)}")
    out.print(f"\nTo see it: `graphmem up`, then open the link, log in and press Run:\n{browser}", soft_wrap=True)
    out.print("`graphmem up` tells user and password. What was said is sealed: Browser shows structure and numbers.")


def _document(told: Told) -> dict[str, Any]:
    """A turn as JSON, with GraphQL's names."""
    document = {name: value for name, value in vars(told).items() if name not in ("turn", "at")}
    document["at"] = told.at.isoformat()
    return document | told.turn.model_dump(mode="json", by_alias=True)


async def _demo_baselines(settings: Settings, dialogues: list[Dialogue]) -> MatchBaselines:
    """Match rates of predictions that know nothing, on the messages that were played."""
    async with open_graphmem(settings, say=lambda _: None, background=False) as gm:
        return await match_baselines(gm, list({each.id: each for each in dialogues}.values()), seed=1)


async def _count_labels(settings: Settings) -> dict[str, int]:
    async with open_graph(settings, lambda _: None) as graph:
        return await schema.count_labels(graph, DEMO_INSTITUTION)


def _browser_link(settings: Settings, student: str) -> str:
    """Neo4j Browser with a query that shows the last student's graph."""
    found = server.status(settings).browser_url if settings.neo4j_uri is None else None
    query = browser_query(DEMO_INSTITUTION, student)
    return f"{found}&cmd=edit&arg={quote(query)}" if found else f"your Neo4j Browser with: {query}"
