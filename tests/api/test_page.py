"""The page for people in a real Chromium against a real server: every action, and each view looked at by axe."""

import asyncio
import json
import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

import pytest
from playwright.async_api import Browser, Route, expect

from graphmem.app import Graphmem
from graphmem.bearer import make_token
from graphmem.flows import students
from graphmem.model import Role, Who
from tests.conftest import PASSWORD, Pupil
from tests.support.browser import Visit, chromium, visit
from tests.support.doubting import doubted
from tests.support.remembering import held
from tests.support.school import CLASS, TOLD, open_school

DESKTOP = {"viewport": {"width": 1100, "height": 800}}
PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
DARK = {"color_scheme": "dark"}
DEVICES = pytest.mark.parametrize("device", [DESKTOP, PHONE | DARK], ids=["desktop", "dark phone"])
PLACE = "[document.activeElement.localName, [...document.querySelectorAll('body *')].indexOf(document.activeElement)]"
"""Name of the element that has the focus, and its place on the page; -1: none has it."""
OUTLINED = """() => {
  const focused = document.activeElement, drawn = focused.querySelector(".touch") ?? focused;
  return getComputedStyle(focused).outlineStyle !== "none" || getComputedStyle(drawn).stroke !== "none"; }"""
"""Whether it can be seen that it has the focus."""
VIEWS = ("Memories", "Picture", "Not sure", "Promises and rules", "My data")


@dataclass(frozen=True)
class School:
    """An institution whose students have memories, and how to get in."""

    gm: Graphmem
    api: str
    browser: Browser
    institution: str
    pupils: dict[str, Pupil]

    def code(self, role: Role = Role.APP, student: str | None = None, *, age: float = 0.0) -> str:
        """An access code, made some seconds ago for an hour."""
        made = self.gm.clock() - timedelta(seconds=age)
        return make_token(self.gm.secret, self.institution, role, 3600, made, student_id=student)

    def visit(self, device: Mapping[str, object] = DESKTOP) -> AbstractAsyncContextManager[Visit]:
        """A page on a device."""
        return visit(self.browser, self.api, **device)

    async def sign_in(self, seen: Visit, student: str) -> None:
        """By the link of an app, which has opened a session."""
        token, _ = await students.open_session(self.gm, self.pupils[student].who, PASSWORD)
        await seen.open(code=self.code(student=student), student=student, session=token)
        await expect(seen.page.get_by_role("article").first).to_be_visible()


@pytest.fixture(scope="module")
async def school(gm: Graphmem, api: str) -> AsyncIterator[School]:
    institution = f"school-{uuid4().hex}"

    async def enrol(name: str) -> Pupil:
        who = Who(institution, name)
        await students.enrol(gm, who, PASSWORD, name.capitalize())
        token, session = await students.open_session(gm, who, PASSWORD)
        return Pupil(who, PASSWORD, session, token)

    async with chromium() as browser:
        yield School(gm, api, browser, institution, await open_school(gm, institution, enrol))


async def test_a_student_signs_in_reads_and_searches(school: School) -> None:
    async with school.visit() as seen:
        await seen.open()
        await seen.check()
        await seen.page.get_by_label("Access code").fill(school.code())
        await seen.page.get_by_label("Your name here").fill("ada")
        await seen.page.get_by_label("Password").fill("not the password")
        await seen.press("Unlock")
        await seen.see("The password is wrong, or nobody of this name is here.")
        await seen.page.get_by_label("Password").fill(PASSWORD)
        await seen.press("Unlock")
        await seen.see("My dog Bello is five years old.")
        assert "#" not in seen.page.url
        headings = await seen.page.get_by_role("heading", level=2).all_inner_texts()
        assert {"School", "People", "Health"} <= set(headings)
        await seen.press("By time")
        await expect(seen.page.get_by_role("heading", level=2).first).not_to_have_text("School")
        assert len(await seen.page.get_by_role("heading", level=2).all_inner_texts()) > len(headings)
        await seen.page.get_by_role("searchbox").fill("Who plays the violin?")
        await seen.press("Search")
        await expect(seen.page.get_by_role("article").first).to_contain_text("violin")
        await seen.press("Why do you know this?")
        await seen.see("You said in a chat on")
        await seen.see(f"“{TOLD[6]}”")
        await seen.check()
        await seen.press("Lock and leave")
        await expect(seen.page.get_by_label("Password")).to_be_visible()
        await expect(seen.page.get_by_label("Access code")).to_have_value("")


async def test_all_that_can_be_pressed_is_reached_by_keyboard(school: School) -> None:
    async with school.visit() as seen:
        await school.sign_in(seen, "ben")
        for view in VIEWS:
            await seen.press(view, within="nav")
            await expect(seen.page.locator("main .card").first).to_be_visible()
            there = await seen.page.locator("button:visible:enabled, input:visible, summary:visible").count()
            await seen.page.evaluate("document.activeElement.blur()")
            reached, nodes = set[int](), set[int]()
            for _ in range(there + 3):
                await seen.page.keyboard.press("Tab")
                kind, place = await seen.page.evaluate(PLACE)
                (nodes if kind == "g" else reached).add(place)
                assert place == -1 or await seen.page.evaluate(OUTLINED)
            assert len(reached - {-1}) == there, view
            assert len(nodes) == (view == "Picture")


@DEVICES
async def test_each_view_of_a_student(school: School, device: Mapping[str, object]) -> None:
    async with school.visit(device) as seen:
        await school.sign_in(seen, "ada")
        for view in VIEWS:
            await seen.press(view, within="nav")
            await expect(seen.page.locator("nav [aria-current=page]")).to_have_text(view)
            await expect(seen.page.locator("main .card").first).to_be_visible()
            await seen.check()
        ground = await seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(20, 19, 31)") == ("color_scheme" in device)


async def test_the_picture_is_touched_and_read_by_keyboard(school: School) -> None:
    async with school.visit(PHONE) as seen:
        await school.sign_in(seen, "ada")
        await seen.press("Picture", within="nav")
        mia = seen.page.get_by_role("button", name="Mia (somebody you spoke of)")
        await mia.tap()
        await expect(mia).to_have_attribute("aria-pressed", "true")
        await expect(seen.page.get_by_role("article").first).to_contain_text("Mia")
        await seen.check()
        before = await mia.get_attribute("transform")
        await seen.press("Zoom in")
        await expect(mia).not_to_have_attribute("transform", str(before))
        await seen.press("Show all")
        # From node to node by arrow keys, and Enter reads.
        await mia.focus()
        for key in ("ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft"):
            await seen.page.keyboard.press(key)
        reached = await seen.page.evaluate("document.activeElement.getAttribute('aria-label')")
        await seen.page.keyboard.press("Enter")
        chosen = seen.page.locator("svg [aria-pressed=true]")
        await expect(chosen).to_have_attribute("aria-label", reached)
        await seen.page.get_by_text("The same as a list").click()
        await expect(seen.page.get_by_role("definition").first).to_be_visible()
        await seen.check()


async def test_a_node_is_dragged_and_the_picture_moved(school: School) -> None:
    async with school.visit() as seen:
        await school.sign_in(seen, "ada")
        await seen.press("Picture", within="nav")
        node = seen.page.locator("svg g.entity").first
        start = await node.locator(".touch").bounding_box()
        assert start is not None
        x, y = start["x"] + start["width"] / 2, start["y"] + start["height"] / 2
        still = await node.get_attribute("transform")
        await seen.page.mouse.move(x, y)
        await seen.page.mouse.down()
        await seen.page.mouse.move(x + 30, y + 60, steps=4)
        await expect(node).not_to_have_attribute("transform", str(still))
        await seen.page.mouse.up()
        # It was dragged, not chosen.
        await expect(node).to_have_attribute("aria-pressed", "false")
        box = await seen.page.locator(".picture svg").bounding_box()
        assert box is not None
        moved = await node.get_attribute("transform")
        await seen.page.mouse.move(box["x"] + 20, box["y"] + box["height"] - 20)
        await seen.page.mouse.wheel(0, -300)
        await expect(node).not_to_have_attribute("transform", str(moved))
        assert seen.wrong == []


async def test_fingers_move_the_picture_and_bring_it_nearer(school: School) -> None:
    async with school.visit(PHONE) as seen:
        await school.sign_in(seen, "ada")
        await seen.press("Picture", within="nav")
        nodes = seen.page.locator("svg g")
        box = await seen.page.locator(".picture svg").bounding_box()
        assert box is not None
        x, y = box["x"] + 40, box["y"] + box["height"] - 40
        cdp = await seen.page.context.new_cdp_session(seen.page)

        async def places() -> tuple[float, float, float]:
            """Where the first node is, and how far two are apart."""
            found = [await nodes.nth(i).locator(".touch").bounding_box() for i in (0, 5)]
            (ax, ay), (bx, by) = [(each["x"], each["y"]) for each in found if each is not None]
            return ax, ay, math.hypot(ax - bx, ay - by)

        async def fingers(*steps: list[tuple[float, float]]) -> None:
            for kind, points in zip(("touchStart", "touchMove", "touchMove"), steps, strict=True):
                touched = [{"x": px, "y": py, "id": i} for i, (px, py) in enumerate(points)]
                await cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touched})
            await cdp.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
            # What was moved is drawn in the next frame but one.
            await seen.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

        before = await places()
        await fingers([(x, y)], [(x + 30, y - 20)], [(x + 60, y - 40)])
        moved = await places()
        assert (moved[0] - before[0], moved[1] - before[1]) == pytest.approx((60, -40), abs=2)
        assert moved[2] == pytest.approx(before[2], rel=0.05)
        await fingers(
            [(x, y), (x + 60, y - 60)], [(x - 10, y + 10), (x + 90, y - 90)], [(x - 20, y + 20), (x + 120, y - 120)]
        )
        assert (await places())[2] > 1.5 * before[2]
        assert seen.wrong == []


async def test_a_student_corrects_settles_and_keeps_promises(school: School) -> None:
    async with school.visit() as seen:
        await school.sign_in(seen, "ada")
        dog = seen.page.get_by_role("article").filter(has_text="My dog Bello is five")
        await dog.get_by_role("button", name="That is wrong").click()
        await dog.get_by_label("What is right?").fill("My dog Bello is <b>six</b> years old.")
        await seen.check()
        await dog.get_by_role("button", name="Save").click()
        await seen.see("Corrected. Thank you!")
        await expect(seen.page.get_by_role("status")).to_be_focused()
        await seen.see("My dog Bello is <b>six</b> years old.")

        ada = school.pupils["ada"].session
        allergy = next(memory for memory in await held(school.gm, ada) if "allergic" in (memory.content or ""))
        await doubted(school.gm, ada, allergy, None)
        await seen.press("Not sure", within="nav")
        await seen.see("Is this so?")
        await seen.check()
        await seen.press("Yes, that is so")
        await expect(seen.page.get_by_text("Is this so?")).to_have_count(0)
        await seen.see("These two do not fit together.")
        await seen.page.get_by_role("button", name="I live in Munich").click()
        await seen.see("What you told us")
        await seen.check()
        told = seen.page.get_by_role("article").filter(has_text="Munich")
        await told.get_by_role("button", name="Take this back").click()
        await seen.see("Taken back.")
        await seen.page.get_by_role("button", name="I live in Munich").click()
        await seen.see("There is nothing to ask you.")

        await seen.press("Promises and rules", within="nav")
        await seen.press("This is done")
        await expect(seen.page.get_by_text("pizza drawing")).to_have_count(0)
        await seen.press("Forget this")
        await seen.press("Yes, forget it")
        await seen.see("There is nothing here yet.")
        await seen.check()


async def test_a_statement_is_forgotten_with_all_that_stems_from_it(school: School) -> None:
    async with school.visit(PHONE) as seen:
        await school.sign_in(seen, "ada")
        card = seen.page.get_by_role("article").filter(has_text="astronaut")
        await card.get_by_role("button", name="Forget this").click()
        await seen.see("Forget this and all that comes from it?")
        await seen.check()
        await card.get_by_role("button", name="Cancel").click()
        await card.get_by_role("button", name="Forget this").click()
        await card.get_by_role("button", name="Yes, forget it").click()
        await seen.see("Forgotten.")
        await expect(card).to_have_count(0)
    left = await held(school.gm, school.pupils["ada"].session)
    assert [memory.content for memory in left if "astronaut" in f"{memory.content} {memory.quote}"] == []


async def test_a_copy_is_saved(school: School) -> None:
    async with school.visit() as seen:
        await school.sign_in(seen, "ada")
        await seen.press("My data", within="nav")
        async with seen.page.expect_download() as download:
            await seen.press("Save a copy of everything")
        saved = await download.value
        assert saved.suggested_filename == "ada.json"
        copy = json.loads(await asyncio.to_thread((await saved.path()).read_text, "utf-8"))
        assert "Bello" in json.dumps(copy)


async def test_everything_is_deleted(school: School) -> None:
    async with school.visit(PHONE) as seen:
        await school.sign_in(seen, "finn")
        await seen.press("My data", within="nav")
        erase = seen.page.get_by_role("button", name="Delete everything")
        await expect(erase).to_be_disabled()
        await seen.page.get_by_label("Everything is deleted for good.").fill("finn")
        await erase.click()
        await seen.see("Everything is deleted.")
        await seen.check()
    assert await students.find_student(school.gm, school.pupils["finn"].who) is None


@DEVICES
async def test_a_teacher_sees_a_class_without_words(school: School, device: Mapping[str, object]) -> None:
    async with school.visit(device) as seen:
        await seen.open(code=school.code(Role.TEACHER), students=",".join([*CLASS, "nobody"]))
        await seen.press("Show the class")
        await seen.see("There is nobody of this id: ")
        stuck = seen.page.locator("section").filter(has_text="Who is stuck")
        await expect(stuck).to_contain_text("adding fractions: ada, cleo")
        fading = seen.page.locator("section").filter(has_text="What fades within a week")
        await expect(fading).to_contain_text("angles")
        await seen.press("comparing fractions")
        await seen.see("Last practised on")
        await seen.check()
        await seen.page.get_by_label("Subject").select_option("geometry")
        await expect(seen.page.locator("tbody th")).to_have_text(["area", "angles"])
        told = await seen.page.inner_text("body")
        assert not [words for words in (*TOLD, "Bello", "We practised") if words in told]


@DEVICES
async def test_an_auditor_sees_flags_and_no_words(school: School, device: Mapping[str, object]) -> None:
    async with school.visit(device) as seen:
        await seen.open(code=school.code(Role.AUDITOR))
        await seen.see("Students to look at: 1 of")
        await expect(seen.page.locator("tbody tr").first).to_contain_text("Please look")
        await seen.press("cleo")
        await seen.see("Self-harm")
        await expect(seen.page.get_by_role("img")).to_be_visible()
        await seen.press("Check that nothing was changed by hand")
        await seen.see("All is as it was written.")
        await seen.check()
        assert "hates me" not in await seen.page.inner_text("body")


async def test_what_lies_on_later_pages_is_shown(school: School) -> None:
    async def fewer(route: Route) -> None:
        await route.continue_(post_data=(route.request.post_data or "").replace("first: 100", "first: 2"))

    async with school.visit() as seen:
        await seen.page.route("**/graphql", fewer)
        await seen.open(code=school.code(Role.AUDITOR))
        rows = seen.page.locator("tbody tr")
        await expect(rows.filter(has_text="elif")).to_have_count(1)
        assert len([url for url in seen.asked if url.endswith("/graphql")]) == 2 * 3
        await expect(rows.first).to_contain_text("cleo")
        await school.sign_in(seen, "dario")
        cards = seen.page.get_by_role("article")
        await expect(cards).to_have_count(2)
        await seen.press("Show more")
        await expect(cards).to_have_count(4)
        await seen.press("Picture", within="nav")
        await seen.see("Only the newest ones are shown.")
        assert seen.wrong == []


async def test_it_speaks_the_language_of_the_browser_and_another(school: School) -> None:
    async with school.visit(DESKTOP | {"locale": "de-AT"}) as seen:
        await school.sign_in(seen, "ben")
        await expect(seen.page.get_by_role("heading", level=1)).to_have_text("Was über dich gemerkt ist")
        assert await seen.page.title() == "Was über dich gemerkt ist"
        await seen.check()
        await seen.press("English")
        await expect(seen.page.get_by_role("heading", level=1)).to_have_text("What is remembered about you")
        assert await seen.page.evaluate("document.documentElement.lang") == "en"
        # What was open stays open.
        await expect(seen.page.get_by_role("article").first).to_be_visible()


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (lambda school: school.code(Role.AUDITOR, age=7200), "The access code is wrong or too old."),
        (lambda school: school.code(Role.ADMIN), "This code is not made for this page."),
        (lambda school: "nonsense", "The access code is wrong or too old."),
        (lambda school: school.code(student="ben"), "This code does not open that."),
    ],
    ids=["too old", "of an admin", "no code", "of another student"],
)
async def test_a_code_that_will_not_do(school: School, code: Callable[[School], str], told: str) -> None:
    async with school.visit(PHONE) as seen:
        await seen.open()
        await seen.page.get_by_label("Access code").fill(code(school))
        if await seen.page.get_by_label("Password").count():
            await seen.page.get_by_label("Your name here").fill("ada")
            await seen.page.get_by_label("Password").fill(PASSWORD)
        await seen.press("Unlock")
        await seen.see(told)
        await seen.check()


async def test_a_server_that_is_away_and_a_session_that_has_ended(school: School) -> None:
    async def away(route: Route) -> None:
        await route.abort()

    async with school.visit() as seen:
        await school.sign_in(seen, "ben")
        await seen.page.route("**/graphql", away)
        await seen.press("Search")
        await seen.press("Promises and rules", within="nav")
        await seen.see("The service does not answer.")
        await seen.page.unroute("**/graphql")
        await seen.open(code=school.code(), student="ben", session="nothing")
        await seen.see("This is locked now. Please unlock it again.")
        await expect(seen.page.get_by_label("Password")).to_be_visible()
        # Where a link's code will not do another one is asked for.
        await seen.open(code=school.code(Role.TEACHER, age=7200), students="ada")
        await seen.press("Show the class")
        await seen.see("The access code is wrong or too old.")
        await expect(seen.page.get_by_label("Access code")).to_be_visible()
