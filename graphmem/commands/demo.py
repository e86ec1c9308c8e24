"""The main job, as a stranger sees it: a written talk and real tutoring dialogues over HTTP, and what came of them."""

import asyncio
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from secrets import token_hex
from statistics import median
from time import monotonic, perf_counter
from typing import Any
from urllib.parse import quote

from rich.console import Console
from rich.markup import escape

from graphmem.app import server_secret
from graphmem.bearer import make_token
from graphmem.bench.harness import served
from graphmem.commands.memories import incoming_turns
from graphmem.local import server
from graphmem.model import Role
from graphmem.progress import Say, spoken
from graphmem.runtime import neo4j_access, open_graph
from graphmem.samples import sample_dialogues, written_story
from graphmem.samples.dialogues import Dialogue, dialogue_turns, load_dialogues
from graphmem.settings import Settings
from graphmem.store import schema
from graphmem.store.queries import browser_query
from graphmem_client import AsyncClient
from graphmem_client.generated import MemoryRole, Turn

DEMO_INSTITUTION = "demo"
FORMING_SECONDS = 20.0
STORY_QUESTION = "Where does Kim live?"
LINK_SECONDS = 24 * 3600
SHORT_LIVED_JAVA = "-XX:TieredStopAtLevel=1"
SHORT_LIVED_NEO4J = "dbms.cypher.min_replan_interval=12h dbms.cypher.statistics_divergence_threshold=1.0"
"""In a Neo4j of a minute Java's second compiler, and planning anew as the database grows, are half of the work."""


@dataclass(frozen=True)
class Scene:
    """One dialogue as the demo plays it.

    own_reply : the companion replies by itself, not the tutor of the dialogue
    name : display name of the student of the written story; None for a real dialogue
    """

    student: str
    dialogue: Dialogue
    at: datetime
    own_reply: bool
    name: str | None = None


@dataclass(frozen=True)
class PlayedTurn:
    """A turn as it was played: what was expected, said and answered, and how long the answer took in ms."""

    scene: Scene
    expected: str | None
    text: str
    turn: Turn
    ms: float
    at: datetime

    def to_json(self) -> dict[str, Any]:
        """Return the turn with GraphQL's names."""
        own: dict[str, Any] = {"student": self.scene.student, "dialogue": self.scene.dialogue.id}
        own |= {"at": self.at.isoformat(), "expected": self.expected, "text": self.text, "ms": self.ms}
        return own | self.turn.model_dump(mode="json", by_alias=True)


def demonstrate(settings: Settings, file: Path | None, *, as_json: bool) -> None:
    """Start what is needed, put dialogues through the API, tell what happened, stop what was started.

    Parameters
    ----------
    settings : Settings
    file : Path or None     dialogues as `graphmem replay` reads them; None: the shipped ones, after a written story
    as_json : bool          print one JSON document instead of the page
    """
    now = datetime.now(UTC)
    played = shipped_scenes(now) if file is None else scenes(load_dialogues(file), now)
    out, say = Console(quiet=as_json, highlight=False), Console(stderr=True, highlight=False)
    with (
        # Told once everything is over: what goes on is said meanwhile.
        out.capture() as story,
        _running_neo4j(settings, say.print),
        spoken(say.print, "starting the API") as step,
        served(settings, GRAPHMEM_LOG_LEVEL="warning") as port,
    ):
        start = perf_counter()
        turns, memories, link = asyncio.run(_play_scenes(settings, f"http://127.0.0.1:{port}", played, out, step))
        seconds = perf_counter() - start
        nodes = asyncio.run(_count_labels(settings))
        browser = _browser_link(settings, played[-1].student)
    if as_json:
        document = {
            "turns": [each.to_json() for each in turns],
            "memoryCount": memories,
            "seconds": seconds,
            "nodes": nodes,
            "browser": browser,
        }
        print(json.dumps(document, ensure_ascii=False))
        return
    print(story.get(), end="")
    _sum_up(turns, seconds, nodes, out)
    out.rule("See it yourself")
    out.print(f"As a graph: .venv/bin/graphmem up, which tells user and password, then\n{browser}", soft_wrap=True)
    if link:
        out.print(link, soft_wrap=True)


def shipped_scenes(now: datetime) -> list[Scene]:
    """Return the scenes of the written story, then those of a real dialogue of each source."""
    real = {each.source: each for each in reversed(sample_dialogues())}
    return [*told_scenes(written_story(), now), *scenes([*real.values()], now)]


def told_scenes(story: list[Dialogue], now: datetime) -> list[Scene]:
    """Return the scenes of a written story: the first a week before the others; in the last one graphmem replies."""
    student, first, last = f"{story[0].student.lower()}-{token_hex(3)}", story[0], story[-1]
    return [
        Scene(
            student,
            dialogue,
            now - (len(story) - 1 - i) * timedelta(minutes=5) - (dialogue is first) * timedelta(weeks=1),
            own_reply=dialogue is last,
            name=dialogue.student,
        )
        for i, dialogue in enumerate(story)
    ]


def scenes(dialogues: list[Dialogue], now: datetime) -> list[Scene]:
    """Return dialogues with the tutors' replies, a day apart for a student; who has most of them comes last.

    Parameters
    ----------
    dialogues : list of Dialogue        those of one student stand together
    now : datetime
    """
    sessions_of = {name: list(held) for name, held in groupby(dialogues, key=lambda d: d.student)}
    return [
        Scene(student, dialogue, now - timedelta(days=len(sessions) - i), own_reply=False)
        for name, sessions in sorted(sessions_of.items(), key=lambda item: len(item[1]))
        for student in [f"{name}-{token_hex(3)}"]
        for i, dialogue in enumerate(sessions)
    ]


@contextmanager
def _running_neo4j(settings: Settings, say: Say) -> Iterator[None]:
    """A running Neo4j; the local one is stopped again if it was started here."""
    was_running = settings.neo4j_uri is not None or server.status(settings).running
    if not was_running:
        os.environ.setdefault("_JAVA_OPTIONS", SHORT_LIVED_JAVA)
        settings = settings.model_copy(update={"neo4j_config": f"{SHORT_LIVED_NEO4J} {settings.neo4j_config}"})
    neo4j_access(settings, say)
    try:
        yield
    finally:
        if not was_running:
            server.down(settings, say)


async def _play_scenes(
    settings: Settings, address: str, played: Sequence[Scene], out: Console, step: Say
) -> tuple[list[PlayedTurn], int, str]:
    """Play scenes, each student's one after the other.

    Returns
    -------
    their turns, how many memories the last student has, and where to see what is remembered of the written story
    """
    secret, now = server_secret(settings), datetime.now(UTC)
    admin, app = (make_token(secret, DEMO_INSTITUTION, role, 3600, now) for role in (Role.ADMIN, Role.APP))
    turns, student, link = list[PlayedTurn](), "", ""
    async with AsyncClient(address, admin) as as_admin, AsyncClient(address, app) as client:
        for student, held in groupby(played, key=lambda scene: scene.student):
            password, own, sessions = "-".join(token_hex(2) for _ in range(3)), list[PlayedTurn](), list(held)
            await as_admin.enrol_student(student, password, sessions[0].name or student)
            for scene in sessions:
                step(f"playing {scene.dialogue.id}: {len(dialogue_turns(scene.dialogue))} messages of {student}")
                await client.open_session(student, password)
                if scene.own_reply:
                    await _wait_until_formed(client, student)
                own += await _play_dialogue(client, scene, own[-1].turn.next_prediction.text if own else None)
                if scene.own_reply:
                    await _tell_story(client, student, own, out)
                    code = make_token(secret, DEMO_INSTITUTION, Role.APP, LINK_SECONDS, now, student_id=student)
                    link = (
                        f"As {scene.name}: .venv/bin/graphmem serve, then, with the password {password}:\n"
                        f"http://127.0.0.1:8000/#code={code}&student={student}"
                    )
                # The last session stays open, so that its turns can still be seen in Neo4j Browser.
                if scene is not played[-1]:
                    await client.close_session(student)
            turns += own
        found = await client.student(student)
    return turns, found.memory_count if found else 0, link


async def _wait_until_formed(client: AsyncClient, student: str) -> None:
    """Wait, for a while, until what was said is remembered, as it is by the time that anybody comes back."""
    deadline = monotonic() + FORMING_SECONDS
    while monotonic() < deadline:
        found = await client.student(student)
        if found is None or not found.waiting_jobs:
            break
        await asyncio.sleep(0.2)


async def _play_dialogue(client: AsyncClient, scene: Scene, expected: str | None) -> list[PlayedTurn]:
    """Play one dialogue, turn by turn."""
    turns = []
    for said in incoming_turns(scene.dialogue, scene.at):
        sent, reply = perf_counter(), None if scene.own_reply else said.reply
        turn = await client.handle_turn(
            scene.student, said.turn_id, said.text, at=said.at, reply=reply, task=said.task, opener=said.opener
        )
        turns.append(PlayedTurn(scene, expected, said.text, turn, 1000 * (perf_counter() - sent), said.at))
        expected = turn.next_prediction.text
    return turns


async def _tell_story(client: AsyncClient, student: str, turns: Sequence[PlayedTurn], out: Console) -> None:
    """Print the written talk, what is remembered of it, and what a model is told for a question."""
    await _wait_until_formed(client, student)
    out.rule("Kim talks with a tutor, and again a week later")
    for scene, session in groupby(turns, key=lambda each: each.scene):
        said = list(session)
        who = "graphmem replies by itself" if scene.own_reply else "the tutor replies"
        out.print(f"[bold]{said[0].at:%A %d %B}[/], {who}")
        for each, written in zip(said, dialogue_turns(scene.dialogue), strict=True):
            reply = each.turn.reply if scene.own_reply else written.reply
            out.print(f"  [cyan]Kim[/]     {escape(each.text)}", soft_wrap=True)
            out.print(f"  [green]reply[/]   {escape(reply or '')}", soft_wrap=True)
    out.rule("What is remembered, sealed with Kim's password")
    memories = (await client.memories(student, first=100)).items
    for memory in sorted(memories, key=lambda each: each.timestamp):
        if memory.role is MemoryRole.SAID:
            ended = " [dim](no longer)[/]" if memory.invalid_at else ""
            out.print(f"  {memory.timestamp:%d %b}  {escape(memory.content or '')}{ended}", soft_wrap=True)
    for entry in await client.ledger(student, active=True):
        out.print(f"  always  {escape(entry.content or '')} [dim]({entry.category.value})[/]", soft_wrap=True)
    out.rule("What a tutor's model is told before it replies")
    context = await client.context(student, STORY_QUESTION, token_budget=600)
    out.print(f"Asked: “{STORY_QUESTION}”\n[dim]{escape(context.prompt)}[/]", soft_wrap=True)


def _sum_up(played: Sequence[PlayedTurn], seconds: float, nodes: dict[str, int], out: Console) -> None:
    turns, times = [each.turn for each in played], sorted(each.ms for each in played)
    real = {each.scene.dialogue.id for each in played if each.scene.name is None}
    expected = [turn.matched is True for turn in turns if turn.match is not None]
    levels = Counter(turn.level.value.replace("_", " ") for turn in turns)
    calls, facts = sum(turn.usage.calls for turn in turns), sum(turn.learned_fact is not None for turn in turns)
    lines = (
        f"{len(turns)} messages were answered over HTTP in {seconds:.0f} s, those of {len(real)} real tutoring "
        f"dialogues among them, with {calls} calls of a language model.",
        f"Half of the answers took at most {median(times):.0f} ms, 19 of 20 at most "
        f"{times[int(0.95 * len(times))]:.0f} ms.",
        f"What a student would say next was predicted {len(expected)} times and came true {sum(expected)} times; "
        f"what came instead taught {facts} facts.",
        f"Surprise of the messages: {', '.join(f'{level} {n} times' for level, n in levels.most_common())}.",
        f"In Neo4j, earlier demos included: {', '.join(f'{n} {label}' for label, n in nodes.items() if n)}.",
    )
    out.rule("What happened")
    for line in lines:
        out.print(line, soft_wrap=True)


async def _count_labels(settings: Settings) -> dict[str, int]:
    async with open_graph(settings, lambda _: None) as graph:
        return await schema.count_labels(graph, DEMO_INSTITUTION)


def _browser_link(settings: Settings, student: str) -> str:
    """Return the address of Neo4j Browser with a query that shows a student's graph."""
    found = server.status(settings).browser_url if settings.neo4j_uri is None else None
    query = browser_query(DEMO_INSTITUTION, student)
    return f"{found}&cmd=edit&arg={quote(query)}" if found else f"your Neo4j Browser with: {query}"
