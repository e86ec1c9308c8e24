"""The examples that talk to the API: a chat app, a class. Those of adapters are in tests/api/test_adapters.py."""

import asyncio
import csv
import os
import runpy
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from graphmem.app import Graphmem
from graphmem.model import Role
from graphmem_client import AsyncClient
from tests.conftest import PASSWORD, Pupil

EXAMPLES = Path(__file__).parents[2] / "examples"
CLASS = "student_id,display_name,time_zone\nmia,Mia,Europe/Berlin\nleo,Leo,\n"
SEEN = 'student_id,at,text\nmia,2026-01-15T11:05:00+01:00,"Mia explained her solution, to Leo."\n'


async def test_the_chat_app_answers_with_what_is_remembered(
    api: str, bearer: Callable[[Role], str], ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API", api)
    monkeypatch.setenv("APP_TOKEN", bearer(Role.APP))
    app = runpy.run_path(str(EXAMPLES / "fastapi_chat.py"))["app"]
    said = {"student_id": "ann", "text": "My dog is called Bello."}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app", timeout=60) as http,
    ):
        assert (await http.post("/chat", json=said)).status_code == 401
        wrong = await http.post("/session", json={"student_id": "ann", "password": "a wrong password"})
        assert (wrong.status_code, wrong.json()["code"]) == (401, "LOCKED")
        await http.post("/session", json={"student_id": "ann", "password": PASSWORD})
        assert (await http.post("/chat", json=said)).json() == {"reply": "I have read 1 messages.", "help": None}
        again = await http.post("/chat", json=said | {"text": "I want to kill myself."})
        assert again.json()["reply"] == "I have read 3 messages."
        assert again.json()["help"]
        assert (await http.delete("/session/ann")).json() == {"closed": True}


async def test_a_class_is_brought_in_once(
    gm: Graphmem, api: str, bearer: Callable[[Role], str], tmp_path: Path
) -> None:
    tokens = {"ADMIN_TOKEN": bearer(Role.ADMIN), "TEACHER_TOKEN": bearer(Role.TEACHER)}
    (tmp_path / "class.csv").write_text(CLASS, "utf-8")
    (tmp_path / "seen.csv").write_text(SEEN, "utf-8")

    async def brought_in() -> list[str]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(EXAMPLES / "classroom.py"), "class.csv", "seen.csv", "cards.csv"),
            env=os.environ | tokens | {"API": api},
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
        )
        printed, _ = await process.communicate()
        assert process.returncode == 0
        return printed.decode().splitlines()

    first = await brought_in()
    assert first == [
        "2 students are new; 1 observations noted.",
        "mia: 0 concepts met, 0 well",
        "leo: 0 concepts met, 0 well",
    ]
    with (tmp_path / "class.csv").open("a") as students:
        students.write("eva,Eva,\n")
    assert (await brought_in())[0] == "1 students are new; 1 observations noted."
    assert stat.S_IMODE((tmp_path / "cards.csv").stat().st_mode) == 0o600
    with (tmp_path / "cards.csv").open() as cards:
        passwords = dict(csv.reader(cards))
    assert passwords.keys() == {"mia", "leo", "eva"}
    async with AsyncClient(api, bearer(Role.APP)) as client:
        await client.open_session("mia", passwords["mia"])
        found = await client.student("mia")
        assert found is not None
        assert (found.display_name, found.time_zone) == ("Mia", "Europe/Berlin")
        told: set[str] = set()
        while "Mia explained her solution, to Leo." not in told:
            told = {each.memory.content or "" for each in await client.recall("mia", "solution")}
