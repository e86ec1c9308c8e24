"""The main job, as a stranger sees it: real tutoring dialogues over HTTP, and what came of them."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
from graphmem.runtime import neo4j_access, open_graphmem
from graphmem.samples import sample_dialogues, written_story
from graphmem.samples.dialogues import Dialogue, load_dialogues
from graphmem.settings import Settings
from graphmem.store import schema
from graphmem.store.queries import browser_query
from graphmem.text.sanitize import clipped
from graphmem_client import AsyncClient
from graphmem_client.generated import Turn

DEMO_INSTITUTION = "demo"
FORMING_SECONDS = 20.0
LINE_CHARACTERS = 110
STORY_QUESTION = "Where does Kim live, and which fraction is bigger, 1/4 or 1/8?"


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
        told: dict[str, Any] = {
            "student": self.scene.student,
            "dialogue": self.scene.dialogue.id,
            "at": self.at.isoformat(),
        }
        told |= {"expected": self.expected, "text": self.text, "ms": self.ms}
        return told | self.turn.model_dump(mode="json", by_alias=True)


def demonstrate(settings: Settings, file: Path | None, *, as_json: bool) -> None:
    """Start what is needed, put dialogues through the API, tell what happened, stop what was started.

    Parameters
    ----------
    settings : Settings
    file : Path or None     dialogues as `graphmem replay` reads them; None: the shipped ones, after a written story
    as_json : bool          print one JSON document instead of the page
    """
    dialogues = sample_dialogues() if file is None else load_dialogues(file)
    now = datetime.now(UTC)
    played = [*(told_scenes(written_story(), now) if file is None else ()), *scenes(dialogues, now)]
    out, say = Console(quiet=as_json, highlight=False), Console(stderr=True, highlight=False)
    with (
        _running_neo4j(settings, say),
        served(settings, GRAPHMEM_LOG_LEVEL="warning") as port,
        say.status("Playing dialogues through the API"),
    ):
        start = perf_counter()
        turns, memories = asyncio.run(_play_scenes(settings, f"http://127.0.0.1:{port}", played, out))
        seconds = perf_counter() - start
        nodes, baselines = asyncio.run(_compare(settings, [scene.dialogue for scene in played]))
        browser = _browser_link(settings, played[-1].student)
    if as_json:
        document = {
            "turns": [each.to_json() for each in turns],
            "memoryCount": memories,
            "seconds": seconds,
            "nodes": nodes,
            "matchBaselines": asdict(baselines),
            "browser": browser,
        }
        print(json.dumps(document, ensure_ascii=False))
        return
    _tell_highlights([each for each in turns if each.scene.name is None], out)
    _sum_up(turns, seconds, baselines, out)
    out.print(f"remembered {memories} memories of {played[-1].student}")
    out.print(f"in Neo4j   {', '.join(f'{n} {label}' for label, n in nodes.items() if n)}")
    out.print(f"\nTo see it: `graphmem up`, then open the link, log in and press Run:\n{browser}", soft_wrap=True)
    out.print("`graphmem up` tells user and password. What was said is sealed: Browser shows structure and numbers.")


def told_scenes(story: list[Dialogue], now: datetime) -> list[Scene]:
    """Return the scenes of a written story, a week between its sessions, the companion replying by itself."""
    student = f"{story[0].student}-{token_hex(3)}"
    return [
        Scene(student, dialogue, now - timedelta(weeks=len(story) - 1 - i), own_reply=True, name=dialogue.student)
        for i, dialogue in enumerate(story)
    ]


def scenes(dialogues: list[Dialogue], now: datetime) -> list[Scene]:
    """Return one dialogue with the companion's own replies, then every one with the tutor's, a day apart for a student.

    Parameters
    ----------
    dialogues : list of Dialogue        those of one student stand together
    now : datetime
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


async def _play_scenes(
    settings: Settings, address: str, played: Sequence[Scene], out: Console
) -> tuple[list[PlayedTurn], int]:
    """Play scenes, each student's one after the other; their turns, and how many memories the last student has."""
    secret, now = server_secret(settings), datetime.now(UTC)
    admin, app = (make_token(secret, DEMO_INSTITUTION, role, 3600, now) for role in (Role.ADMIN, Role.APP))
    turns, student = list[PlayedTurn](), ""
    async with AsyncClient(address, admin) as as_admin, AsyncClient(address, app) as client:
        for student, sessions in groupby(played, key=lambda scene: scene.student):
            password, own = token_urlsafe(), list[PlayedTurn]()
            for place, scene in enumerate(sessions):
                if place == 0:
                    await as_admin.enrol_student(student, password, scene.name or student)
                await client.open_session(student, password)
                own += await _play_dialogue(client, scene, own[-1].turn.next_prediction.text if own else None)
                if scene.name is not None and place > 0:
                    await _tell_story(client, student, own, out)
                # The last session stays open, so that its turns can still be seen in Neo4j Browser.
                if scene is not played[-1]:
                    await client.close_session(student)
            turns += own
        found = await client.student(student)
    return turns, found.memory_count if found else 0


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
    """Print the written talk, what was kept of it, and the context of a question after the first session and now."""
    deadline = monotonic() + FORMING_SECONDS
    while monotonic() < deadline:
        found = await client.student(student)
        if found is None or not found.waiting_jobs:
            break
        await asyncio.sleep(0.2)
    out.rule("Kim, two sessions a week apart (written; the rest is real)")
    sessions = [list(own) for _, own in groupby(turns, key=lambda each: each.scene.dialogue.id)]
    for place, session in enumerate(sessions):
        out.print(f"[bold]{session[0].at:%A %d %B}[/]")
        for each in session:
            out.print(f"  [cyan]Kim[/]       {escape(each.text)}", soft_wrap=True)
            if place > 0:
                out.print(f"  [green]graphmem[/]  {escape(each.turn.reply)}", soft_wrap=True)
    out.print("[bold]Never forgotten[/] (the ledger)")
    for entry in await client.ledger(student):
        out.print(f"  {entry.category.value:<9} {escape(entry.content or '')}", soft_wrap=True)
    out.print(f"[bold]What a companion is told[/] for “{STORY_QUESTION}”", soft_wrap=True)
    before = min(sessions[0][-1].at + timedelta(minutes=1), datetime.now(UTC))
    for title, as_of in (("after the first session", before), ("now", None)):
        context = await client.context(student, STORY_QUESTION, token_budget=600, as_of=as_of)
        out.print(f"  {title}:")
        for line in context.prompt.splitlines():
            # Of the parts of the block only the memories: the whole is for a model.
            if line.startswith("- [") and not line.startswith("- [fact"):
                out.print(f"    [dim]{escape(clipped(line, LINE_CHARACTERS))}[/]", soft_wrap=True)


def _tell_highlights(real: Sequence[PlayedTurn], out: Console) -> None:
    """Print the most surprising message of the real dialogues, and what was learned from it."""
    sources = len({each.scene.dialogue.id for each in real})
    out.rule(f"Real tutoring: {len(real)} turns of {sources} dialogues, with the tutors' own replies")
    surprising = max(real, key=lambda each: each.turn.surprise, default=None)
    if surprising is None:
        return
    turn = surprising.turn
    out.print(f"[cyan]expected[/]   {escape(surprising.expected or '(nothing yet)')}")
    out.print(f"[cyan]was said[/]   {escape(surprising.text)}")
    out.print(f"[cyan]surprise[/]   {turn.surprise:.2f}, {turn.level.value.replace('_', ' ')}")
    if fact := turn.learned_fact:
        out.print(f"[cyan]learned[/]    {escape(fact.text)}")


def _sum_up(played: Sequence[PlayedTurn], seconds: float, baselines: MatchBaselines, out: Console) -> None:
    turns, times = [each.turn for each in played], sorted(each.ms for each in played)
    expected = [turn for turn in turns if turn.match is not None]
    levels = Counter(turn.level.value for turn in turns)
    calls = sum(turn.usage.calls for turn in turns)
    out.rule("What happened")
    dialogues = len({each.scene.dialogue.id for each in played})
    out.print(f"turns      {len(turns)} of {dialogues} dialogues, {seconds:.1f} s over HTTP")
    out.print(
        f"predicted  {sum(turn.matched is True for turn in expected)} of {len(expected)} expectations came true "
        f"(match >= 0.6); {baselines} would have"
    )
    out.print(f"learned    {sum(turn.learned_fact is not None for turn in turns)} facts")
    out.print(f"surprise   {', '.join(f'{n} {level}' for level, n in levels.most_common())}")
    out.print(f"handleTurn p50 {median(times):.1f} ms, p95 {times[int(0.95 * len(times))]:.1f} ms, {calls} model calls")


async def _compare(settings: Settings, dialogues: Sequence[Dialogue]) -> tuple[dict[str, int], MatchBaselines]:
    """Count the nodes of each kind, and take the match rates of predictions that know nothing."""
    async with open_graphmem(settings, say=lambda _: None, background=False) as gm:
        nodes = await schema.count_labels(gm.graph, DEMO_INSTITUTION)
        return nodes, await match_baselines(gm, list({each.id: each for each in dialogues}.values()), seed=1)


def _browser_link(settings: Settings, student: str) -> str:
    """Return the address of Neo4j Browser with a query that shows a student's graph."""
    found = server.status(settings).browser_url if settings.neo4j_uri is None else None
    query = browser_query(DEMO_INSTITUTION, student)
    return f"{found}&cmd=edit&arg={quote(query)}" if found else f"your Neo4j Browser with: {query}"
