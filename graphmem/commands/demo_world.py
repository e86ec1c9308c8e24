"""The demo's part on the world: the same question before and after a lesson, and what a student knows by then."""

import asyncio
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex, token_urlsafe
from time import monotonic

from rich.console import Console
from rich.markup import escape

from graphmem.app import server_secret
from graphmem.bearer import make_token
from graphmem.commands.plot import overlay_figure, save_figure
from graphmem.flows.world import read_world
from graphmem.model import Role, Who
from graphmem.runtime import open_graphmem
from graphmem.samples import SAMPLES
from graphmem.settings import Settings
from graphmem_client import AsyncClient
from graphmem_client.generated import (
    Concept,
    ConceptInput,
    ObservationInput,
    OverlayPage,
    PractisedInput,
    SourceKind,
    WorldEdgeInput,
)

WORLD_INSTITUTION = "demo-world"
KNOWN_GRADES = 2
TOLD_AT_HOME = "My brother Leo says that fractions are the hardest thing at school."
ASKED_AGAIN = "What does my brother Leo say is the hardest thing at school?"
LESSON = "fraction"
PICTURE = "demo_overlay.svg"
WAITING_SECONDS = 20.0


@dataclass(frozen=True)
class WorldScene:
    """What Mia was told before and after a lesson on fractions.

    before, after : the reply to the same question, and the lines of memory in its context
    picture : file with a picture of her overlay
    """

    student: str
    before: tuple[str, list[str]]
    after: tuple[str, list[str]]
    overlay: OverlayPage
    grades: Counter[int]
    frontier: tuple[Concept, ...]
    picture: Path


async def play_world(settings: Settings, address: str) -> WorldScene:
    """Import the sample curriculum, and let a student who has met its first two grades ask about fractions."""
    secret, now, student = server_secret(settings), datetime.now(UTC), f"mia-{token_hex(3)}"
    admin, app = (make_token(secret, WORLD_INSTITUTION, role, 3600, now) for role in (Role.ADMIN, Role.APP))
    draft = read_world(SAMPLES / "mathematics" / "world.csv")
    concepts, password = [each for _, each in draft.concepts], token_urlsafe()
    known = [each.id for each in concepts if each.grade is not None and each.grade <= KNOWN_GRADES]
    async with AsyncClient(address, admin) as as_admin, AsyncClient(address, app) as as_app:
        await as_admin.import_world(
            [ConceptInput.of(each) for each in concepts], [WorldEdgeInput.of(each) for _, each in draft.edges]
        )
        await as_admin.enrol_student(student, password, "Mia")
        await as_app.open_session(student, password)
        await as_app.reveal(student, known[:200])
        await as_app.handle_turn(student, "t1", TOLD_AT_HOME)
        before = await _ask_again(as_app, student, "t2")
        lesson = ObservationInput(
            kind=SourceKind.LESSON,
            ref="lesson-1",
            text="We cut pies into equal parts.",
            at=now,
            practised=[PractisedInput(concept_id=LESSON)],
        )
        await as_app.observe(student, [lesson])
        after = await _ask_again(as_app, student, "t3")
        overlay, frontier = await as_app.overlay(student, first=200), await as_app.frontier(student, limit=5)
        await as_app.close_session(student)
    grade = {each.id: each.grade or 0 for each in concepts}
    grades = Counter(grade[each.concept.id] for each in overlay.items)
    picture = await _pictured(settings, Who(WORLD_INSTITUTION, student))
    return WorldScene(student, before, after, overlay, grades, frontier, picture)


async def _pictured(settings: Settings, who: Who) -> Path:
    """A file of the home with a picture of a student's overlay."""
    async with open_graphmem(settings, say=lambda _: None, background=False) as gm:
        figure = await overlay_figure(gm, who)
    file = settings.home / PICTURE
    save_figure(figure, file)
    return file


async def _ask_again(client: AsyncClient, student: str, turn_id: str) -> tuple[str, list[str]]:
    """The reply to the question, and the lines of memory that a companion is told for it."""
    deadline = monotonic() + WAITING_SECONDS
    while monotonic() < deadline:
        found = await client.student(student)
        if found is None or not found.waiting_jobs:
            break
        await asyncio.sleep(0.2)
    found_lines = (await client.context(student, ASKED_AGAIN, token_budget=400)).prompt.splitlines()
    turn = await client.handle_turn(student, turn_id, ASKED_AGAIN)
    return turn.reply, [line for line in found_lines if line.startswith("- [")]


def tell_world(scene: WorldScene, out: Console) -> None:
    """Print what happened, and the overlay as a bar for each grade."""
    out.rule("Mia and the fog: a curriculum of 519 concepts, of which she has met those of grades 1 and 2")
    out.print(f"[cyan]Mia[/]        {escape(TOLD_AT_HOME)}")
    out.print(f"[cyan]asks[/]       {escape(ASKED_AGAIN)}")
    for title, (reply, lines) in (("before", scene.before), ("after a lesson on fractions", scene.after)):
        out.print(f"[bold]{title}[/]")
        out.print(f"  [green]graphmem[/]  {escape(reply)}", soft_wrap=True)
        for line in lines or ["(no memory that may be told)"]:
            out.print(f"    [dim]{escape(line)}[/]", soft_wrap=True)
    out.print("[bold]What she knows by now[/], concepts by grade")
    for grade, count in sorted(scene.grades.items()):
        out.print(f"  {grade:>2}  {'█' * max(1, count // 2)} {count}")
    out.print(f"  next: {escape(', '.join(each.name for each in scene.frontier))}")
    command = f"graphmem plot {scene.student} --institution {WORLD_INSTITUTION} --overlay --out FILE"
    out.print(f"  a picture of it: {escape(str(scene.picture))} (`{command}` draws it)", soft_wrap=True)
