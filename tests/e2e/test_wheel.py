"""The built wheel, installed beside a user's own package called `api`."""

import asyncio
import os
import socket
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import httpx
import pytest

from graphmem.model import Role
from tests.support.own_neo4j import Access

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the server's wheel and nothing else of graphmem."""
    environment = _with_wheel(tmp_path_factory.mktemp("wheel"), ROOT)
    site = _site_packages(environment / "python")
    (site / "api").mkdir()
    (site / "api" / "__init__.py").write_text("MINE = 'my own'\n")
    return environment


@pytest.fixture(scope="module")
def with_client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the client's wheel and nothing else of graphmem."""
    return _with_wheel(tmp_path_factory.mktemp("client"), ROOT / "client")


def _with_wheel(folder: Path, project: Path) -> Path:
    """Programs of an environment with the wheel of a project; its dependencies are those of this one."""
    build: list[str | Path] = [BIN / "uv", "build", "--quiet", "--offline", "--wheel", "--no-build-isolation"]
    subprocess.run(
        [*build, "--python", sys.executable, "--out-dir", folder, project],
        check=True,
        env=os.environ | {"VIRTUAL_ENV": str(BIN.parent)},
    )
    (wheel,) = folder.glob("graphmem*.whl")
    venv.create(folder / "environment")
    python = folder / "environment" / "bin" / "python"
    install: list[str | Path] = [BIN / "uv", "pip", "install", "--quiet", "--offline", "--no-deps"]
    subprocess.run([*install, "--python", python, wheel], check=True)
    (_site_packages(python) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "environment" / "bin"


def _site_packages(python: Path) -> Path:
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip())


def test_it_occupies_no_name_but_its_own(installed: Path) -> None:
    site = _site_packages(installed / "python")
    record = (site / f"graphmem-{version('graphmem')}.dist-info" / "RECORD").read_text("utf-8")
    names = {line.split("/")[0] for line in record.splitlines() if not line.startswith("..")}
    assert names == {"graphmem", "graphmem_api", "graphmem_client", f"graphmem-{version('graphmem')}.dist-info"}
    assert "graphmem/py.typed," in record
    code = "import api, graphmem; print(api.MINE, graphmem.__file__)"
    told = subprocess.run([installed / "python", "-c", code], check=True, capture_output=True, text=True, cwd=site)
    assert told.stdout.startswith("my own ")
    assert str(site) in told.stdout


def test_commands_answer(installed: Path, tmp_path: Path) -> None:
    for arguments, expected in [(["--version"], f"graphmem {version('graphmem')}"), (["bench", "--help"], "benchmark")]:
        told = subprocess.run(
            [installed / "graphmem", *arguments], check=True, capture_output=True, text=True, cwd=tmp_path
        )
        assert expected in told.stdout


NEEDED = {"graphmem_client", "httpx", "pydantic"}
"""Packages that the client imports, beside what these need themselves."""
THEIRS = {
    "annotated_types", "anyio", "certifi", "click", "h11", "httpcore", "idna", "markdown_it", "mdurl", "pydantic_core",
    "pygments", "rich", "sniffio", "typing_extensions", "typing_inspection", "zstandard",
}  # fmt: skip
"""httpx takes zstandard where it is there, as it is with the extras."""
TALK = """
import sys

from graphmem_client import Client
from graphmem_client.errors import Locked

client = Client(sys.argv[1], sys.argv[2])
try:
    client.handle_turn("ada", "t1", "I like horses.")
except Locked as error:
    print(type(error).__name__)
print(client.student("ada"))
files = {name.partition(".")[0]: getattr(each, "__file__", None) or "" for name, each in sys.modules.items()}
print(*sorted(name for name, file in files.items() if "site-packages" in file))
"""


async def test_the_client_talks_with_httpx_and_pydantic_alone(
    with_client: Path, api: str, bearer: Callable[[Role], str]
) -> None:
    site = _site_packages(with_client / "python")
    asked: list[str | Path] = [with_client / "python", "-c", TALK, api, bearer(Role.APP)]
    told = await asyncio.to_thread(subprocess.run, asked, capture_output=True, text=True, cwd=site)
    refused, student, loaded = told.stdout.splitlines()
    assert (refused, student, told.stderr) == ("Locked", "None", "")
    assert NEEDED <= set(loaded.split()) <= NEEDED | THEIRS
    (wheel,) = with_client.parents[1].glob("*.whl")
    assert wheel.stat().st_size < 200_000


async def test_the_api_is_served(installed: Path, neo4j_access: Access, tmp_path: Path, free_port: int) -> None:
    environment = os.environ | {
        "GRAPHMEM_HOME": str(tmp_path),
        "GRAPHMEM_NEO4J_URI": neo4j_access.uri,
        "GRAPHMEM_NEO4J_USER": neo4j_access.user,
        "GRAPHMEM_NEO4J_PASSWORD": neo4j_access.password,
    }
    process = await asyncio.create_subprocess_exec(
        installed / "graphmem", "serve", "--port", str(free_port), env=environment, cwd=tmp_path
    )
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{free_port}") as http:
            for _ in range(600):
                try:
                    answer = await http.post("/graphql", json={"query": "{ __typename }"})
                    break
                except httpx.TransportError:
                    await asyncio.sleep(0.1)
            assert answer.json() == {"data": {"__typename": "Query"}}
            assert (await http.get("/graphiql/page.css")).status_code == 200
    finally:
        process.terminate()
        await process.wait()


@pytest.fixture
def free_port() -> int:
    """A port at which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
