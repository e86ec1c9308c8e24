"""The jars of the local Neo4j, fetched from a small real server on this machine."""

import errno
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pooch
import pytest

from graphmem.errors import SetupError
from graphmem.local import install, process
from graphmem.local.install import Jar, JarLock, locked, parsed

CONTENT = {f"org/neo4j/neo4j/5.1/part{n}-5.1.jar": bytes([n]) * (1000 + n) for n in range(20)}


def lock_of(content: dict[str, bytes]) -> JarLock:
    return parsed("\n".join(f"{path} {sha256(body).hexdigest()} {len(body)}" for path, body in content.items()))


LOCK = lock_of(CONTENT)
FIRST = LOCK.jars[0]


@dataclass
class Repository:
    """A Maven repository that can be told to misbehave; `asked` holds the paths it was asked for."""

    content: dict[str, bytes] = field(default_factory=lambda: dict(CONTENT))
    asked: list[str] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)
    delay: float = 0.0
    address: str = ""

    def answer(self, path: str) -> tuple[int, bytes]:
        self.asked.append(path)
        threading.Event().wait(self.delay)  # not time.sleep, which these tests replace
        if self.failures.get(path, 0) > 0:
            self.failures[path] -= 1
            return 503, b""
        return (200, self.content[path]) if path in self.content else (404, b"")


class Server(ThreadingHTTPServer):
    request_queue_size = 64  # 16 come at once; one that finds the queue full waits a second


@contextmanager
def served(repository: Repository) -> Iterator[Repository]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = repository.answer(self.path.removeprefix("/maven/"))
            try:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:  # the client has lost patience, as one test wants
                self.close_connection = True

        def log_message(self, *_: Any) -> None: ...

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        repository.address = f"http://127.0.0.1:{server.server_port}/maven"
        try:
            yield repository
        finally:
            server.shutdown()


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    monkeypatch.setattr(pooch.core.time, "sleep", lambda _: None)  # between two tries
    with served(Repository()) as repository:
        yield repository


def silent(_: str) -> None: ...


def test_every_jar_arrives_whole_and_is_then_used_offline(repository: Repository, tmp_path: Path) -> None:
    told: list[str] = []
    folder = install.fetch(LOCK, tmp_path / "lib", repository.address, told.append)
    assert {path.name: path.read_bytes() for path in folder.glob("*.jar")} == {
        Path(path).name: body for path, body in CONTENT.items()
    }
    assert len(told) == 1
    assert "20 files" in told[0]
    install.fetch(LOCK, folder, "http://127.0.0.1:9/nowhere", told.append)
    assert len(told) == 1


def test_what_has_come_is_told_while_it_comes(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install, "SECONDS_BETWEEN", 0.0)
    content = {f"org/neo4j/neo4j/5.1/part{n}-5.1.jar": bytes(2_000_000) for n in range(4)}
    repository.content = content
    told: list[str] = []
    install.fetch(lock_of(content), tmp_path, repository.address, told.append)
    assert told[-1] == "fetching Neo4j: 8 of 8 MB"
    assert len(told) == 1 + len(content)


def test_a_slash_at_the_end_of_the_address_does_no_harm(repository: Repository, tmp_path: Path) -> None:
    install.fetch(LOCK, tmp_path, repository.address + "/", silent)
    assert sorted(repository.asked) == sorted(CONTENT)


def test_what_is_there_and_right_is_not_fetched_again(repository: Repository, tmp_path: Path) -> None:
    for jar in LOCK.jars[2:]:
        (tmp_path / jar.name).write_bytes(CONTENT[jar.path])
    (tmp_path / LOCK.jars[1].name).write_bytes(b"half of")
    install.fetch(LOCK, tmp_path, repository.address, silent)
    assert sorted(repository.asked) == sorted(jar.path for jar in LOCK.jars[:2])


@pytest.mark.parametrize("harm", [lambda path: path.unlink(), lambda path: path.write_bytes(b"short")])
def test_a_jar_lost_or_cut_short_later_is_fetched_again(
    repository: Repository, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    install.fetch(LOCK, tmp_path, repository.address, silent)
    repository.asked.clear()
    harm(tmp_path / FIRST.name)
    install.fetch(LOCK, tmp_path, repository.address, silent)
    assert repository.asked == [FIRST.path]
    assert (tmp_path / FIRST.name).read_bytes() == CONTENT[FIRST.path]


def test_strays_do_not_get_onto_the_class_path(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "tmp1234").write_bytes(b"left by an interrupted fetch")
    (tmp_path / "other.jar").write_bytes(b"not of the lock file")
    install.fetch(LOCK, tmp_path, repository.address, silent)
    assert {path.name for path in tmp_path.iterdir()} == {jar.name for jar in LOCK.jars} | {"verified"}


def test_a_wrong_file_is_named_with_both_hashes_and_never_kept(repository: Repository, tmp_path: Path) -> None:
    wrong = b"w" * FIRST.size
    repository.content[FIRST.path] = wrong
    with pytest.raises(SetupError) as caught:
        install.fetch(LOCK, tmp_path, repository.address, silent)
    message = str(caught.value)
    assert FIRST.name in message
    assert FIRST.sha256 in message
    assert sha256(wrong).hexdigest() in message
    assert "GRAPHMEM_MAVEN" in message
    assert not (tmp_path / FIRST.name).exists()
    assert not (tmp_path / "verified").exists()


def test_a_missing_file_is_named(repository: Repository, tmp_path: Path) -> None:
    del repository.content[FIRST.path]
    with pytest.raises(SetupError, match=rf"404.*{re.escape(FIRST.name)}.*GRAPHMEM_MAVEN"):
        install.fetch(LOCK, tmp_path, repository.address, silent)


def test_a_passing_failure_is_tried_again(repository: Repository, tmp_path: Path) -> None:
    repository.failures = {FIRST.path: install.TRIES - 1}
    install.fetch(LOCK, tmp_path, repository.address, silent)
    assert repository.asked.count(FIRST.path) == install.TRIES


def test_a_silent_repository_is_given_up(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install, "SECONDS_OF_SILENCE", 0.05)
    repository.delay = 0.3
    with pytest.raises(SetupError, match=r"cannot be fetched.*GRAPHMEM_MAVEN"):
        install.fetch(lock_of({FIRST.path: CONTENT[FIRST.path]}), tmp_path, repository.address, silent)


def test_a_repository_out_of_reach_says_what_to_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooch.core.time, "sleep", lambda _: None)
    with served(Repository()) as gone:
        pass
    with pytest.raises(SetupError, match=r"HTTPS_PROXY.*GRAPHMEM_MAVEN.*GRAPHMEM_NEO4J_URI"):
        install.fetch(LOCK, tmp_path, gone.address, silent)


def test_room_is_looked_for_before_anything_is_fetched(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install, "ROOM_TO_WORK", 10**18)
    with pytest.raises(SetupError, match=r"Not enough room.*MB needed.*MB free.*GRAPHMEM_HOME"):
        install.fetch(LOCK, tmp_path, repository.address, silent)
    assert repository.asked == []


def test_a_disk_that_fills_up_meanwhile(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def full(path: object) -> Iterator[str]:
        yield "/dev/full"

    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    monkeypatch.setattr(pooch.core, "temporary_file", full)
    with pytest.raises(SetupError, match=r"is full.*GRAPHMEM_HOME"):
        install.fetch(LOCK, tmp_path, repository.address, silent)


def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a regular file, where a folder should be")
    with pytest.raises(SetupError, match=r"cannot be written.*GRAPHMEM_HOME"):
        install.fetch(LOCK, tmp_path / "file" / "lib", None, silent)


@pytest.mark.parametrize(
    ("number", "word"), [(errno.ENOSPC, "full"), (errno.EACCES, "right to"), (errno.EROFS, "right to")]
)
def test_what_the_disk_refuses_is_said_in_words(tmp_path: Path, number: int, word: str) -> None:
    with pytest.raises(SetupError, match=word), process.clear_disk_errors(tmp_path):
        raise OSError(number, "refused", str(tmp_path / "x"))


def test_other_errors_pass_unchanged(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), process.clear_disk_errors(tmp_path):
        (tmp_path / "nothing").read_text()


def test_the_shipped_lock_file_is_sorted_complete_and_names_no_host() -> None:
    text = (Path(install.__file__).parent / "neo4j.lock").read_text()
    lines = text.splitlines()[1:]
    assert lines == sorted(lines)
    assert "//" not in text
    names = {jar.name for jar in locked().jars}
    assert f"neo4j-{locked().version}.jar" in names
    assert any(name.startswith("neo4j-browser-") for name in names)
    assert len(names) > 200


@pytest.mark.parametrize(
    "line",
    [
        "org/x.jar",
        f"org/x.jar {'a' * 63} 1",
        f"org/x.jar {'a' * 64}",
        f"/etc/x.jar {'a' * 64} 1",
        f"../x.jar {'a' * 64} 1",
        f"org/../x.jar {'a' * 64} 1",
        f"http://host/x.jar {'a' * 64} 1",
        f"org/x.zip {'a' * 64} 1",
    ],
)
def test_a_broken_lock_file_is_refused(line: str) -> None:
    with pytest.raises(SetupError, match="broken line"):
        parsed(line)


def test_two_jars_of_one_name_are_refused() -> None:
    with pytest.raises(SetupError, match="twice"):
        parsed(f"a/x.jar {'a' * 64} 1\nb/x.jar {'b' * 64} 1")


def test_the_digest_changes_with_any_jar() -> None:
    assert lock_of(CONTENT | {FIRST.path: b"other"}).digest != LOCK.digest
    assert Jar(FIRST.path, FIRST.sha256, FIRST.size) == FIRST
