"""The README's examples in Python, as they stand there."""

import asyncio
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

from graphmem.app import Graphmem
from graphmem.model import Role
from tests.support.own_neo4j import Access

README = Path(__file__).parents[2] / "README.md"
IN_PROCESS, OVER_HTTP = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)


async def _run(code: str, folder: Path, **environment: str) -> list[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, env=os.environ | environment, cwd=folder, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()
    assert process.returncode == 0
    return printed.decode().strip().splitlines()


async def test_the_example_in_process_works_as_written(gm: Graphmem, neo4j_access: Access, tmp_path: Path) -> None:
    body = IN_PROCESS.split("async def main():\n")[1].split("\n\n")[0]
    assert len(body.strip().splitlines()) <= 12
    lines = await _run(
        IN_PROCESS,
        tmp_path,
        GRAPHMEM_HOME=str(tmp_path),
        GRAPHMEM_NEO4J_URI=neo4j_access.uri,
        GRAPHMEM_NEO4J_USER=neo4j_access.user,
        GRAPHMEM_NEO4J_PASSWORD=neo4j_access.password,
    )
    assert lines[0]
    assert "Bello" in lines[1]
    assert lines[-1] == "</COMPANION_MEMORY>"


async def test_the_example_over_http_works_as_written(
    gm: Graphmem, api: str, bearer: Callable[[Role], str], tmp_path: Path
) -> None:
    tokens = {"ADMIN_TOKEN": bearer(Role.ADMIN), "APP_TOKEN": bearer(Role.APP)}
    first, second, *block = await _run(OVER_HTTP, tmp_path, API=api, **tokens)
    assert " None " in first
    assert re.match(r"[A-Z_]+ (0\.\d+|None) \S", second)
    assert (block[0], block[-1]) == ("<COMPANION_MEMORY>", "</COMPANION_MEMORY>")
    assert any("Bello" in line for line in block)
