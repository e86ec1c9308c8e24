"""Draw the pictures of the documents anew: a memory graph, an overlay, and the page for people in a real Chromium.

    python scripts/make_pictures.py          # a minute; needs chromium
    python scripts/make_pictures.py graph    # only those whose name begins so

Everything is made of a school of invented students on a Neo4j of its own, which is gone afterwards.
"""

import asyncio
import io
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.async_api import Browser

sys.path.insert(0, str(Path(__file__).parents[1]))

from graphmem.app import Graphmem, open_with_neo4j
from graphmem.bearer import make_token
from graphmem.commands.plot import memory_figure, overlay_figure, save_figure
from graphmem.flows import students
from graphmem.flows.observation import observe
from graphmem.flows.overlay import reveal
from graphmem.flows.world import find_world, import_world, read_world
from graphmem.jobs.runner import run_jobs
from graphmem.local import server
from graphmem.model import Observation, Practised, Role, SourceKind, Who
from graphmem.settings import Settings
from tests.conftest import PASSWORD, Pupil, say, served
from tests.support.browser import Visit, chromium, visit
from tests.support.school import CLASS, OUTCOMES, TOLD, open_school

DOCS = Path(__file__).parents[1] / "docs"
DESKTOP = {"viewport": {"width": 960, "height": 720}}
PHONE = {"viewport": {"width": 360, "height": 720}, "is_mobile": True, "has_touch": True}
DARK = {"color_scheme": "dark"}
GAP = 24
COLOURS = 256
LESSONS = {
    "addition place-value regrouping": "GGH",
    "half quarter fraction": "GGA",
    "numerator denominator fraction": "HA",
    "multiplication repeated-addition equal-groups division": "GEG",
    "length centimetre metre": "GEE",
    "square rectangle quadrilateral": "GGG",
}
"""How practice went of concepts of the shipped world that were practised together."""


@dataclass(frozen=True)
class Scene:
    """A running school, and the browser in which it is looked at."""

    gm: Graphmem
    browser: Browser
    address: str
    pupils: dict[str, Pupil]

    def code(self, role: Role = Role.APP) -> str:
        """An access code."""
        return make_token(self.gm.secret, self.pupils["ada"].who.institution, role, 3600, self.gm.clock())

    async def student(self, seen: Visit, view: str) -> None:
        """Open a view of Ada's."""
        await seen.open(code=self.code(), student="ada", session=self.pupils["ada"].token)
        await seen.press(view, within="nav")
        await seen.page.locator("main .card").first.wait_for()

    async def shot(self, seen: Visit, name: str) -> None:
        """Keep a picture of what can be seen, with few colours, so that it is small."""
        keep(Image.open(io.BytesIO(await seen.page.screenshot())), name)


def keep(picture: Image.Image, name: str) -> None:
    """Write a picture with few colours."""
    file = DOCS / f"{name}.png"
    # By how often a colour is there a dot's is lost: each is taken into account alike.
    few = picture.convert("RGB").quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(file, optimize=True)
    print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB, {picture.width} x {picture.height}")


async def enrolled(gm: Graphmem, who: Who) -> Pupil:
    """Enrol a student and open a session."""
    await students.enrol(gm, who, PASSWORD, who.student_id.capitalize())
    token, session = await students.open_session(gm, who, PASSWORD)
    return Pupil(who, PASSWORD, session, token)


async def graph(gm: Graphmem) -> None:
    """Ada's memories after nine messages."""
    ada = await enrolled(gm, Who("graph", "ada"))
    for i, text in enumerate(TOLD):
        await say(gm, ada, text, at=gm.clock() - timedelta(days=len(TOLD) - i))
        await run_jobs(gm, ada.session)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "graph.png"
        save_figure(await memory_figure(gm, ada.who, PASSWORD, 40), file)
        keep(Image.open(file), "graph")


async def overlay(gm: Graphmem) -> None:
    """What Mia, who has had two years of school mathematics, knows of the shipped world."""
    await import_world(gm, "overlay", read_world(find_world("mathematics")))
    mia = await enrolled(gm, Who("overlay", "mia"))
    await reveal(gm, mia.session, [], through_grade=2)
    for names, outcomes in LESSONS.items():
        for i, outcome in enumerate(outcomes):
            practised = tuple(Practised(name, OUTCOMES[outcome]) for name in names.split())
            at = gm.clock() - timedelta(days=4 * (len(outcomes) - i))
            lesson = Observation(SourceKind.LESSON, f"{names} {i}", "A lesson.", at, practised=practised)
            await observe(gm, mia.who, [lesson])
    with TemporaryDirectory() as folder:
        file = Path(folder) / "overlay.png"
        save_figure(await overlay_figure(gm, mia.who), file)
        keep(Image.open(file), "overlay")


async def people_memories(scene: Scene) -> None:
    """A student's list, with the answer to why."""
    async with visit(scene.browser, scene.address, **DESKTOP) as seen:
        await scene.student(seen, "Memories")
        about_me = seen.page.locator("section").filter(has=seen.page.get_by_role("heading", name="About me"))
        await about_me.get_by_role("button", name="Why do you know this?").first.click()
        await about_me.evaluate("each => each.parentElement.insertBefore(each, document.querySelector('section'))")
        await scene.shot(seen, "people_memories")


async def people_picture(scene: Scene) -> None:
    """The picture, in the dark."""
    async with visit(scene.browser, scene.address, **(DESKTOP | DARK)) as seen:
        await scene.student(seen, "Picture")
        await seen.press("Mia (somebody you spoke of)")
        await seen.page.evaluate("scrollTo(0, 0)")
        await scene.shot(seen, "people_picture")


async def people_phone(scene: Scene) -> None:
    """Three views on a phone, side by side."""
    shots = []
    async with visit(scene.browser, scene.address, **PHONE) as seen:
        for view in ("Memories", "Picture", "Not sure"):
            await scene.student(seen, view)
            shots.append(Image.open(io.BytesIO(await seen.page.screenshot())))
    width, height = shots[0].size
    row = Image.new("RGB", (len(shots) * (width + GAP) - GAP, height), "white")
    for i, each in enumerate(shots):
        row.paste(each, (i * (width + GAP), 0))
    keep(row, "people_phone")


async def people_teacher(scene: Scene) -> None:
    """A class."""
    async with visit(scene.browser, scene.address, **DESKTOP) as seen:
        await seen.open(code=scene.code(Role.TEACHER), students=", ".join(CLASS))
        await seen.press("Show the class")
        await seen.page.locator("table").wait_for()
        await seen.page.locator(".halves").evaluate("each => scrollTo(0, each.offsetTop - 12)")
        await scene.shot(seen, "people_teacher")


async def people_auditor(scene: Scene) -> None:
    """A student whom somebody should look at."""
    async with visit(scene.browser, scene.address, **DESKTOP) as seen:
        await seen.open(code=scene.code(Role.AUDITOR))
        await seen.press("cleo")
        await seen.press("Check that nothing was changed by hand")
        await seen.see("All is as it was written.")
        await seen.page.evaluate("scrollTo(0, 0)")
        await scene.shot(seen, "people_auditor")


DRAWN: tuple[Callable[[Graphmem], Awaitable[None]], ...] = (graph, overlay)
SEEN: tuple[Callable[[Scene], Awaitable[None]], ...] = (
    people_memories,
    people_picture,
    people_phone,
    people_teacher,
    people_auditor,
)


@asynccontextmanager
async def running() -> AsyncIterator[Graphmem]:
    """An open graphmem on a Neo4j and in a home that nobody else has."""
    with TemporaryDirectory() as home, server.throwaway(Settings()) as neo4j:
        settings = Settings(home=Path(home))
        async with open_with_neo4j(settings, neo4j.bolt_uri, neo4j.user, neo4j.password) as gm:
            yield gm


async def main(begin: str = "") -> None:
    """Draw those whose name begins so."""
    async with running() as gm:
        for draw in DRAWN:
            if draw.__name__.startswith(begin):
                await draw(gm)
        if chosen := [each for each in SEEN if each.__name__.startswith(begin)]:
            pupils = await open_school(gm, "school", lambda name: enrolled(gm, Who("school", name)))
            async with served(gm) as address, chromium() as browser:
                for look in chosen:
                    await look(Scene(gm, browser, address, pupils))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:2]))
