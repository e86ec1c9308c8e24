"""A real Chromium, driven by Playwright, and axe-core to look at pages with."""

import os
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

AXE = Path(__file__).parents[1] / "data" / "axe" / "axe.js"
INSTALL = "chromium is not installed: `apt-get install chromium`, or your system's package of that name."
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
GRAVE = ("serious", "critical")
"""Impacts of findings that no view may have."""


def needs_chromium() -> str:
    """Where Chromium lies; in CI a missing one fails, on a user's machine the tests that need it are skipped."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(INSTALL)
        pytest.skip(INSTALL)
    return found


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A headless browser with a new profile."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=needs_chromium(), args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


async def findings(page: Page, impacts: Sequence[str] = GRAVE) -> list[str]:
    """What axe finds on a page as it is now: a line each with rule, impact and element.

    The page's policy lets no script in from elsewhere: axe is evaluated by the browser itself.
    """
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE.read_text("utf-8"))
    found: dict[str, Any] = await page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{each['id']} ({each['impact']}): {node['html'][:120]}: {node.get('failureSummary', '')[:200]}"
        for each in found["violations"]
        if each["impact"] in impacts
        for node in each["nodes"]
    ]


@dataclass
class Visit:
    """A page in a browser, what it asked for, and what went wrong in it."""

    page: Page
    address: str
    asked: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", lambda said: self.wrong.append(said.text) if said.type == "error" else None)

    async def open(self, **link: str) -> None:
        """Go to the page by a link of an app."""
        # The same address with another fragment would not be loaded again.
        await self.page.goto("about:blank")
        await self.page.goto(f"{self.address}/#{urlencode(link)}")

    async def press(self, name: str, within: str = "body") -> None:
        """Press the first button of a name."""
        await self.page.locator(within).get_by_role("button", name=name, exact=True).first.click()

    async def see(self, text: str) -> None:
        """Wait until a text can be seen."""
        await expect(self.page.get_by_text(text).first).to_be_visible()

    async def check(self) -> None:
        """What every view must hold: nothing grave for axe, nothing wider than the screen, no error, no other host."""
        assert await findings(self.page) == []
        assert await self.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert self.wrong == []
        assert [url for url in self.asked if not url.startswith((self.address, "about:", "data:", "blob:"))] == []


@asynccontextmanager
async def visit(browser: Browser, address: str, **device: Any) -> AsyncIterator[Visit]:
    """A page of a new browser context, as on some device; English unless it says otherwise."""
    context = await browser.new_context(**({"locale": "en-GB"} | device))
    context.set_default_timeout(20_000)
    try:
        yield Visit(await context.new_page(), address)
    finally:
        await context.close()
