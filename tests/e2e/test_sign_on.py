"""The example of single sign-on, run against the API."""

import asyncio
import os
import secrets
import sqlite3
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from graphmem import Client
from graphmem.app import Graphmem
from graphmem.errors import GraphmemError
from graphmem.model import Role

EXAMPLE = Path(__file__).parents[2] / "examples" / "sign_on.py"
CODE = EXAMPLE.read_text("utf-8")


@pytest.fixture
def recipe() -> Any:
    """The example as a module."""
    module = types.ModuleType("sign_on")
    exec(compile(CODE, EXAMPLE.name, "exec"), module.__dict__)
    return module


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """The app's own database."""
    connection = sqlite3.connect(tmp_path / "app.sqlite", check_same_thread=False)
    yield connection
    connection.close()


async def test_the_recipe_works_as_written(
    gm: Graphmem, api: str, bearer: Callable[[Role], str], tmp_path: Path
) -> None:
    environment = {
        "API": api,
        "ADMIN_TOKEN": bearer(Role.ADMIN),
        "APP_TOKEN": bearer(Role.APP),
        "WRAPPING_KEY": secrets.token_hex(32),
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CODE, env=os.environ | environment, cwd=tmp_path, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()
    assert process.returncode == 0
    assert "Bello" in printed.decode()
    assert "</COMPANION_MEMORY>" in printed.decode()
    link = dict(parse_qsl(next(line for line in printed.decode().splitlines() if "/#" in line).partition("#")[2]))
    assert gm.caller_of(link["code"]).student_id == link["student"]
    assert gm.opened_session(link["session"]).student_id == link["student"]


async def test_a_sign_on_that_was_cut_short_is_completed_by_the_next(
    recipe: Any, api: str, bearer: Callable[[Role], str], database: sqlite3.Connection
) -> None:
    def story() -> None:
        keys = recipe.KeyService(secrets.token_bytes(32))
        with Client(api, bearer(Role.ADMIN)) as admin, Client(api, bearer(Role.APP)) as app:
            sign_on = recipe.SignOn(database, keys, admin, app)
            student = sign_on.opened("anna")
            # Enrolled, but not noted.
            database.execute("UPDATE students SET enrolled = 0")
            assert sign_on.opened("anna") == student
            sign_on.change_secret("anna")
            assert sign_on.opened("anna") == student
            # The new secret was taken by graphmem, but not noted.
            (secret,) = database.execute("SELECT secret FROM students").fetchone()
            new = keys.wrap(secrets.token_bytes(32), student)
            database.execute("UPDATE students SET next_secret = ?", (new,))
            app.change_password(student, keys.unwrap(secret, student).hex(), keys.unwrap(new, student).hex())
            assert sign_on.opened("anna") == student
            assert database.execute("SELECT secret, next_secret FROM students").fetchone() == (new, None)
            # Another child's secret opens nothing.
            other = sign_on.opened("ben")
            with pytest.raises(GraphmemError):
                app.open_session(other, keys.unwrap(new, student).hex())
            sign_on.erased("anna")
            assert [row[0] for row in database.execute("SELECT subject FROM students")] == ["ben"]

    await asyncio.to_thread(story)
