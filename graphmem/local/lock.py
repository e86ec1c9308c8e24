"""The lock file: which jars the local Neo4j is made of, listed in `neo4j.lock` with their hashes."""

import re
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import PurePosixPath

from graphmem.errors import SetupError


@dataclass(frozen=True)
class Jar:
    """One line of the lock file: path in a Maven repository, sha256 in hex, size in bytes."""

    path: str
    sha256: str
    size: int

    @property
    def name(self) -> str:
        """File name, without folders."""
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class JarLock:
    """The lock file: which jars, and a hash that changes with any of them."""

    jars: tuple[Jar, ...]
    digest: str

    @property
    def version(self) -> str:
        """Version of Neo4j these jars are."""
        return next(PurePosixPath(jar.path).parts[-2] for jar in self.jars if jar.path.startswith("org/neo4j/neo4j/"))


def locked() -> JarLock:
    """Lock file that ships with graphmem.

    Examples
    --------
    >>> locked().version >= "2026"
    True
    """
    return parsed((files("graphmem.local") / "neo4j.lock").read_text("utf-8"))


def parsed(text: str) -> JarLock:
    """Read a lock file.

    Parameters
    ----------
    text : str
        Lines of path, sha256 and size in bytes; empty lines and those that start with `#` are ignored.

    Returns
    -------
    Lock

    Raises
    ------
    SetupError
        A line that is none of that, or two jars of one name.

    Examples
    --------
    >>> lock = parsed("org/neo4j/neo4j/5.1/neo4j-5.1.jar " + 64 * "a" + " 1200")
    >>> lock.jars[0].name, lock.version
    ('neo4j-5.1.jar', '5.1')
    """
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    jars = tuple(_jar(line) for line in lines)
    if len({jar.name for jar in jars}) != len(jars):
        raise SetupError("neo4j.lock names a jar twice: make it again with scripts/lock_neo4j.py")
    return JarLock(jars, sha256("\n".join(lines).encode()).hexdigest())


def _jar(line: str) -> Jar:
    match = re.fullmatch(r"((?:[\w.+-]+/)+[\w.+-]+\.jar) ([0-9a-f]{64}) (\d+)", line)
    if match is None or ".." in line:
        raise SetupError(f"neo4j.lock has a broken line, {line!r}: install graphmem again")
    return Jar(match[1], match[2], int(match[3]))
