"""Take a picture of a student's memory graph in Neo4j Browser, styled by `cypher/browser/style.grass`.

Usage: python scripts/picture.py --student ID [--out docs/graph.png] [--query CYPHER]

It needs Chromium, and the local Neo4j of GRAPHMEM_HOME with a student in it, such as the last one of `graphmem demo`.
Chromium runs without a window in a folder of its own and reaches no address but this machine's.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote

import httpx
from websockets.sync.client import ClientConnection, connect

import cypher
from graphmem.errors import SetupError
from graphmem.local import server
from graphmem.local.server import LocalNeo4j
from graphmem.settings import Settings
from graphmem.store.queries import browser_query

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-port=0",
)
WIDTH, HEIGHT, SCALE = 1600, 1000, 1.5  # CSS pixels, and device pixels a CSS pixel
PATIENCE = 30.0  # seconds for anything on the page to appear
STYLE = Path(cypher.__path__[0]) / "browser" / "style.grass"
SETTINGS = {  # of Neo4j Browser: nothing opens by itself, nothing is reported
    "theme": "normal",
    "initCmd": "",
    "playImplicitInitCommands": False,
    "showWheelZoomInfo": False,
    "allowCrashReports": False,
    "allowUserStats": False,
}
FRAME = "document.querySelector('[data-testid=frame]')"
NUMBERS = count(1)
POSITIONS = f"[...{FRAME}.querySelectorAll('svg g[transform]')].map(g => g.getAttribute('transform')).join()"

HIDDEN = f"""[...{FRAME}.querySelectorAll('svg g.node')].some(n => n.getBoundingClientRect().right >
    {FRAME}.querySelector('[aria-label=zoom-out]').getBoundingClientRect().left)"""


def parsed_style(text: str) -> dict[str, dict[str, str]]:
    """A style sheet of Neo4j Browser as the object in which Browser keeps it: properties by selector.

    Examples
    --------
    >>> parsed_style('node.Turn { color: #8EC5F4; caption: "Turn {seq}"; }')
    {'node.Turn': {'color': '#8EC5F4', 'caption': 'Turn {seq}'}}
    """
    rules = re.findall(r'([\w.]+)\s*\{((?:"[^"]*"|[^"}])*)\}', text)
    return {
        selector: {name: value.strip('"') for name, value in re.findall(r'([\w-]+):\s*("[^"]*"|[^;"]+);', body)}
        for selector, body in rules
    }


def browser_page(neo4j: LocalNeo4j, query: str) -> str:
    """Neo4j Browser's address with the query in its editor."""
    return f"{neo4j.browser_url}&cmd=edit&arg={quote(query, safe='')}"


@contextmanager
def chromium() -> Iterator[ClientConnection]:
    """A page of a Chromium without a window, by DevTools protocol; ended by its process id."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise SetupError("Chromium was not found: install it (Debian: `apt-get install chromium`), then try again.")
    with TemporaryDirectory(prefix="graphmem-", ignore_cleanup_errors=True) as profile:
        as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
        command = [found, *FLAGS, *as_root, f"--user-data-dir={profile}", "about:blank"]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)
        try:
            with connect(_page_socket(process, Path(profile)), max_size=None, proxy=None) as page:
                yield page
                call(page, "Browser.close")
        finally:
            process.terminate()
            process.wait()
            # Its own children may still be writing into the profile.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _page_socket(process: "subprocess.Popen[bytes]", profile: Path) -> str:
    """Where the first page listens; Chromium writes its port into a file once it does."""
    told, deadline = profile / "DevToolsActivePort", monotonic() + PATIENCE
    while monotonic() < deadline and process.poll() is None:
        if told.exists() and (lines := told.read_text("utf-8").splitlines()):
            targets = httpx.get(f"http://127.0.0.1:{lines[0]}/json/list", trust_env=False).json()
            if pages := [target for target in targets if target["type"] == "page"]:
                return str(pages[0]["webSocketDebuggerUrl"])
        sleep(0.1)
    raise SetupError("Chromium did not start: run it by hand to see what it says.")


def call(page: ClientConnection, method: str, **params: Any) -> dict[str, Any]:
    """Ask the page for one thing; events in between are passed over. Errors never repeat `params`: some are secret."""
    number = next(NUMBERS)
    page.send(json.dumps({"id": number, "method": method, "params": params}))
    while True:
        answer = json.loads(page.recv(timeout=PATIENCE))
        if answer.get("id") == number:
            if "error" in answer:
                raise SetupError(f"Chromium refused {method}: {answer['error']['message']}")
            return dict(answer["result"])


def value_of(page: ClientConnection, expression: str) -> Any:
    """What a JavaScript expression is worth on the page; None where it fails, since the page may still be loading."""
    result = call(page, "Runtime.evaluate", expression=expression, returnByValue=True)
    return None if "exceptionDetails" in result else result["result"].get("value")


def await_true(page: ClientConnection, expression: str, what: str) -> None:
    """Wait until an expression is true on the page; `what` says in the error what did not come."""
    deadline = monotonic() + PATIENCE
    while not value_of(page, f"Boolean({expression})"):
        if monotonic() > deadline:
            said = value_of(page, "document.querySelector('[data-testid=errorBanner], [data-testid=main]')?.innerText")
            raise SetupError(f"Neo4j Browser did not show {what} within {PATIENCE:.0f} s. It shows: {said}")
        sleep(0.1)


def click(page: ClientConnection, selector: str) -> None:
    """Press what a CSS selector finds, once it is there."""
    await_true(page, f"document.querySelector({selector!r})", selector)
    value_of(page, f"document.querySelector({selector!r}).click()")


def type_into(page: ClientConnection, selector: str, text: str) -> None:
    """Replace what stands in an input field."""
    await_true(page, f"document.querySelector({selector!r})", selector)
    value_of(page, f"document.querySelector({selector!r}).select()")
    call(page, "Input.insertText", text=text)


def open_browser(page: ClientConnection, neo4j: LocalNeo4j, query: str) -> None:
    """Neo4j Browser in our style, connected, with the query in its editor."""
    stored = {"neo4j.settings": SETTINGS, "neo4j.grass": parsed_style(STYLE.read_text("utf-8"))}
    lines = [f"localStorage.setItem({key!r}, {json.dumps(json.dumps(value))});" for key, value in stored.items()]
    call(page, "Page.enable")
    call(page, "Page.addScriptToEvaluateOnNewDocument", source="\n".join(lines))
    size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": SCALE, "mobile": False}
    call(page, "Emulation.setDeviceMetricsOverride", **size)
    call(page, "Page.navigate", url=browser_page(neo4j, query))
    type_into(page, "[data-testid=username]", neo4j.user)
    type_into(page, "[data-testid=password]", neo4j.password)
    click(page, "[data-testid=connect]")
    await_true(page, "!document.querySelector('[data-testid=password]')", "that it is connected")


def draw(page: ClientConnection) -> None:
    """Run what is in the editor, and wait until its graph fills the window and no longer moves."""
    click(page, "[data-testid=editor-Run]")
    await_true(page, POSITIONS, "a graph")
    click(page, "[title=Fullscreen]")
    await_still(page)
    click(page, "[aria-label=zoom-to-fit]")
    await_still(page)
    # Fitting reckons with the whole frame, and so pushes wide graphs under the legend.
    while value_of(page, HIDDEN):
        click(page, "[aria-label=zoom-out]:not([disabled])")
        await_still(page)


def await_still(page: ClientConnection) -> None:
    """Wait until the graph has stood still for a second."""
    deadline, before, since = monotonic() + PATIENCE, None, monotonic()
    while monotonic() - since < 1:
        now = value_of(page, POSITIONS)
        if now != before:
            before, since = now, monotonic()
        if monotonic() > deadline:
            raise SetupError(f"The graph still moves after {PATIENCE:.0f} s: ask for fewer nodes with --query.")
        sleep(0.1)


def screenshot(page: ClientConnection) -> bytes:
    """The frame with the graph, from its query down to its legend, as a PNG."""
    box = f"{FRAME}.querySelector('[data-testid=frameContents]').getBoundingClientRect()"
    clip = value_of(page, f"(({{x, y, width, height}}) => ({{x, y, width, height, scale: 1}}))({box})")
    return b64decode(call(page, "Page.captureScreenshot", format="png", clip=clip)["data"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--student", required=True, help="whose graph")
    parser.add_argument("--institution", default="demo", help="of that student")
    parser.add_argument("--query", help="another query than the student's turns, facts and sources")
    parser.add_argument("--out", type=Path, default=Path("docs/graph.png"))
    asked = parser.parse_args()
    neo4j = server.up(Settings(), print)
    with chromium() as page:
        open_browser(page, neo4j, asked.query or browser_query(asked.institution, asked.student))
        draw(page)
        picture = screenshot(page)
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_bytes(picture)
    print(f"{asked.out}: {len(picture) / 1000:.0f} kB")


if __name__ == "__main__":
    try:
        main()
    except SetupError as error:
        sys.exit(str(error))
