"""What the README and the documents show, run as it stands there."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem.app import Graphmem
from graphmem.model import Role
from tests.conftest import Enrol
from tests.support.own_neo4j import Access

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def shown(page: str, language: str) -> list[str]:
    """The blocks of a language in a page."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)


IN_PROCESS, OVER_HTTP = shown("docs/using.md", "python")
(FOUR_LINES,) = shown("README.md", "python")


async def _run(command: list[str], folder: Path, **environment: str) -> list[str]:
    process = await asyncio.create_subprocess_exec(
        *command, env=os.environ | environment, cwd=folder, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()
    assert process.returncode == 0
    return printed.decode().strip().splitlines()


async def _run_python(code: str, folder: Path, **environment: str) -> list[str]:
    return await _run([sys.executable, "-c", code], folder, **environment)


@pytest.fixture
def own_home(neo4j_access: Access, tmp_path: Path) -> dict[str, str]:
    """An environment with a home of its own, and the Neo4j of the tests."""
    return {
        "GRAPHMEM_HOME": str(tmp_path),
        "GRAPHMEM_NEO4J_URI": neo4j_access.uri,
        "GRAPHMEM_NEO4J_USER": neo4j_access.user,
        "GRAPHMEM_NEO4J_PASSWORD": neo4j_access.password,
    }


def of_its_own(code: str, institution: str) -> str:
    """An example whose student is at an institution of the test's own."""
    return code.replace('"a good password"', f'"a good password", institution="{institution}"')


def test_the_readme_is_short_and_has_no_address_of_a_registry() -> None:
    assert len(README.splitlines()) <= 160
    assert {*re.findall(r"https?://([\w.-]+)", README)} == {"127.0.0.1"}


async def test_the_four_lines_work_as_written(
    gm: Graphmem, own_home: dict[str, str], institution: str, tmp_path: Path
) -> None:
    messages, found = await _run_python(of_its_own(FOUR_LINES, institution), tmp_path, **own_home)
    assert "What is my dog called?" in messages
    assert "Bello" in found


async def test_the_first_example_says_what_the_readme_shows(
    gm: Graphmem, own_home: dict[str, str], institution: str, tmp_path: Path
) -> None:
    code = (ROOT / "examples" / "first_memory.py").read_text("utf-8")
    code = code.replace("open_memory(", f'open_memory(institution="{institution}", student_id=').replace(
        '="ada", PASSWORD', '="ada", password=PASSWORD'
    )
    lines = await _run_python(code, tmp_path, **own_home)
    (block,) = shown("README.md", "text")
    undated = re.compile(r" \(\d+ \w+ \d+\)")
    assert {undated.sub("", line) for line in block.splitlines()} <= {undated.sub("", line) for line in lines}


async def test_the_terminal_chat_goes_on_where_it_ended(
    gm: Graphmem, own_home: dict[str, str], institution: str, tmp_path: Path
) -> None:
    code = (ROOT / "examples" / "terminal_chat.py").read_text("utf-8")
    code = code.replace("student_id, password)", f'student_id, password, institution="{institution}")')

    async def talked(*lines: str) -> str:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", code, "ada"),
            env=os.environ | own_home | {"PASSWORD": "a good password"},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        printed, _ = await process.communicate("\n".join([*lines, "", ""]).encode())
        assert process.returncode == 0
        return printed.decode()

    assert "Bello" not in await talked("What is my dog called?")
    await talked("My dog is called Bello.")
    assert "Bello" in await talked("What is my dog called?")


async def test_the_example_in_process_works_as_written(
    gm: Graphmem, own_home: dict[str, str], tmp_path: Path, institution: str
) -> None:
    body = IN_PROCESS.split("async def main():\n")[1].split("\n\n")[0]
    assert len(body.strip().splitlines()) <= 12
    lines = await _run_python(IN_PROCESS.replace('"my school"', f'"{institution}"'), tmp_path, **own_home)
    assert lines[0]
    assert "Bello" in lines[1]
    assert lines[-1] == "</COMPANION_MEMORY>"


async def test_the_example_over_http_works_as_written(
    gm: Graphmem, api: str, bearer: Callable[[Role], str], tmp_path: Path
) -> None:
    tokens = {"ADMIN_TOKEN": bearer(Role.ADMIN), "APP_TOKEN": bearer(Role.APP)}
    first, second, *block = await _run_python(OVER_HTTP, tmp_path, API=api, **tokens)
    assert " None " in first
    assert re.match(r"[A-Z_]+ (0\.\d+|None) \S", second)
    assert (block[0], block[-1]) == ("<COMPANION_MEMORY>", "</COMPANION_MEMORY>")
    assert any("Bello" in line for line in block)


async def test_the_page_of_curl_runs_from_top_to_bottom(
    gm: Graphmem, api: str, bearer: Callable[[Role], str], tmp_path: Path
) -> None:
    tokens = {"ADMIN_TOKEN": bearer(Role.ADMIN), "APP_TOKEN": bearer(Role.APP)}
    answers = await _run(["bash", "-euc", "\n".join(shown("docs/curl.md", "bash"))], tmp_path, API=api, **tokens)
    *said, exported, closed, erased = answers
    assert not any("errors" in json.loads(each) for each in said if each.startswith("{"))
    context = json.loads(next(each for each in said if '"prompt"' in each))["data"]["student"]["context"]
    assert "Bello" in json.dumps(context)
    assert int(exported) > 1000
    assert json.loads(closed)["data"]["closeSession"]
    assert json.loads(erased)["data"]["eraseStudent"]["memories"] >= 1


async def test_the_readmes_curl_answers(
    gm: Graphmem, api: str, bearer: Callable[[Role], str], enrol: Enrol, tmp_path: Path
) -> None:
    ada = await enrol("ada")
    (code,) = shown("README.md", "bash")
    (answer,) = await _run(["bash", "-euc", code], tmp_path, API=api, APP_TOKEN=bearer(Role.APP), SESSION=ada.token)
    assert json.loads(answer)["data"]["student"]["context"]["prompt"] == ""
