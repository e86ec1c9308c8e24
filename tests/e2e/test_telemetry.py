"""Nobody is told that graphmem runs: no telemetry on disk, and no name looked up but this machine's."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.own_neo4j import Access

EMBEDS = """
import asyncio, time
from graphmem.text.embedder import make_embedder
from graphmem.settings import Settings

embedder = make_embedder(Settings())
asyncio.run(embedder.embed(["Half of 8 is 4."]))
time.sleep(2)
"""
SERVES = """
import asyncio, os, socket, sys
from pathlib import Path

looked_up, real = [], socket.getaddrinfo


def recorded(host, *more, **named):
    looked_up.append(host.decode() if isinstance(host, bytes) else host)
    return real(host, *more, **named)


socket.getaddrinfo = recorded

import httpx

from graphmem.app import open_with_neo4j
from graphmem.settings import Settings
from tests.conftest import served


async def main():
    settings = Settings(argon2_ops=1, argon2_mib=8, neo4j_timeout=60.0)
    access = [os.environ[name] for name in ("TEST_URI", "TEST_USER", "TEST_PASSWORD")]
    async with open_with_neo4j(settings, *access) as gm, served(gm) as address:
        async with httpx.AsyncClient(base_url=address, timeout=60) as http:
            for path in ("/healthz", "/readyz", "/metrics"):
                await http.get(path)
            await http.post("/graphql", json={"query": "{ __typename }"})


asyncio.run(main())
print("\\n".join(sorted({str(host) for host in looked_up})))
"""


def run(code: str, home: Path, **env: str) -> str:
    """The output of a program under a home of its own."""
    kept = {
        k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY" and not k.startswith(("GRAPHMEM", "XDG"))
    }
    own = {"HOME": str(home), "GRAPHMEM_HOME": str(home / "graphmem")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=kept | own | env, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def reports(home: Path) -> list[Path]:
    """What Microsoft's telemetry leaves on disk."""
    return [path for path in home.rglob("*") if "Microsoft" in path.parts or "onnxruntime" in path.name]


def test_the_embedder_reports_to_nobody(tmp_path: Path) -> None:
    run(EMBEDS, tmp_path)
    assert reports(tmp_path) == []


def test_serving_looks_up_no_outside_name(tmp_path: Path, neo4j_access: Access) -> None:
    access = {"TEST_URI": neo4j_access.uri, "TEST_USER": neo4j_access.user, "TEST_PASSWORD": neo4j_access.password}
    looked_up = run(SERVES, tmp_path, PYTHONPATH=str(Path(__file__).parents[2]), **access).split()
    assert looked_up
    assert set(looked_up) <= {"127.0.0.1", "localhost", "::1", "None"}
    assert reports(tmp_path) == []
