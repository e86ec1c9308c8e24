"""Writes graphmem/local/neo4j.lock: every jar of the local Neo4j with its sha256, no addresses.

Run it after changing a version below: `.venv/bin/python scripts/lock_neo4j.py` (about two minutes).
"""

import hashlib
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from jgo.constants import MAVEN_CENTRAL_URL
from jgo.maven import Artifact, MavenContext, ProfileConstraints, PythonResolver
from jgo.parse import Coordinate

WANTED = ("org.neo4j:neo4j:2026.08.1", "org.neo4j.client:neo4j-browser:5.24.0")
LOCK = Path(__file__).parents[1] / "graphmem" / "local" / "neo4j.lock"
# The same answer wherever the script runs: profiles that depend on the platform see this one.
PLATFORM = ProfileConstraints(os_name="Linux", os_family="unix", os_arch="amd64")


def resolved() -> list[Artifact]:
    """Every artifact needed at run time, from the poms alone."""
    context = MavenContext(resolver=PythonResolver(PLATFORM), remote_repos={"central": MAVEN_CENTRAL_URL})
    wanted = [context.create_dependency(replace(Coordinate.parse(each), scope="runtime", raw=True)) for each in WANTED]
    inputs, transitive = context.resolver.resolve(wanted)
    needed = [*inputs, *(each for each in transitive if each.scope in {"compile", "runtime"})]
    return [each.artifact for each in needed]


def line(artifact: Artifact) -> str:
    """Path in a Maven repository, sha256, and size in bytes of one jar."""
    path = (artifact.component.path_prefix / artifact.filename).as_posix()
    content = artifact.resolve().read_bytes()
    return f"{path} {hashlib.sha256(content).hexdigest()} {len(content)}"


def main() -> None:
    """Resolve, download and hash, then write the lock file."""
    with ThreadPoolExecutor(16) as threads:
        lines = sorted(set(threads.map(line, resolved())))
    LOCK.write_text("# Made by scripts/lock_neo4j.py; do not edit.\n" + "\n".join(lines) + "\n")
    print(f"{LOCK.name}: {len(lines)} jars", file=sys.stderr)


if __name__ == "__main__":
    main()
