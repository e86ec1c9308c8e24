"""The local Neo4j for real: started, reached, killed, started again and stopped."""

import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from neo4j import Driver, GraphDatabase
from neo4j.exceptions import AuthError, Neo4jError

from graphmem.errors import SetupError
from graphmem.local import install, process, server
from graphmem.local.server import LocalNeo4j, Record
from graphmem.runtime import keep_local_neo4j
from graphmem.settings import Settings

SECRET = "what-the-student-said-in-confidence"
UP = "from graphmem.local.server import up; from graphmem.settings import Settings; print(up(Settings()).pid)"


def seeded(home: Path) -> Settings:
    """A new home that borrows the jars of this user's own, where they are fetched once."""
    own = Settings()
    shared = own.home.resolve() / "neo4j"
    with server._one_at_a_time(shared, lambda _: None):
        jars = install.jars(own, shared, lambda _: None)
    (home / "neo4j").mkdir(parents=True)
    (home / "neo4j" / jars.name).symlink_to(jars)
    return Settings(home=home)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """A home whose path has what paths trip over: a space, a colon, a letter beyond ASCII."""
    settings = seeded(tmp_path_factory.mktemp("local") / "größer: a home")
    yield settings
    server.down(settings)


@pytest.fixture(scope="module")
def running(settings: Settings) -> LocalNeo4j:
    """Started by two processes at once."""
    env = {**os.environ, "GRAPHMEM_HOME": str(settings.home)}
    both = [subprocess.Popen([sys.executable, "-c", UP], env=env, stdout=subprocess.PIPE) for _ in range(2)]
    pids = {child.communicate()[0] for child in both}
    assert [child.returncode for child in both] == [0, 0]
    assert len(pids) == 1
    found = server.up(settings)
    assert pids == {b"%d\n" % found.pid}
    return found


def driver(found: LocalNeo4j) -> Driver:
    return GraphDatabase.driver(found.bolt_uri, auth=(found.user, found.password))


def log_text(settings: Settings) -> str:
    return "\n".join(path.read_text(errors="replace") for path in (settings.home / "neo4j" / "logs").iterdir())


def test_it_outlives_who_started_it_and_up_finds_it(settings: Settings, running: LocalNeo4j) -> None:
    told: list[str] = []
    assert server.up(settings, told.append) == running
    assert told == []
    found = server.status(settings)
    assert (found.running, found.answers, found.pid, found.bolt_uri) == (True, True, running.pid, running.bolt_uri)
    assert found.bytes_on_disk > 1_000_000


def test_browser_is_served_and_nothing_listens_beyond_this_machine(running: LocalNeo4j) -> None:
    with urlopen(f"{running.http_uri}/browser/") as answer:
        assert b"Neo4j Browser" in answer.read()
    if sys.platform == "linux":  # where all of 127.0.0.0/8 is this machine
        for uri in (running.bolt_uri, running.http_uri):
            with pytest.raises(OSError), socket.create_connection(("127.0.0.2", int(uri.rsplit(":", 1)[1])), 2):
                pass


def test_the_password_is_private_and_needed(settings: Settings, running: LocalNeo4j) -> None:
    folder = settings.home / "neo4j"
    assert stat.S_IMODE((folder / "password").stat().st_mode) == 0o600
    assert running.password not in repr(running)
    with GraphDatabase.driver(running.bolt_uri, auth=("neo4j", "neo4j")) as wrong, pytest.raises(AuthError):
        wrong.verify_connectivity()


def test_a_password_that_is_not_the_databases_is_named(running: LocalNeo4j, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("of another database")
    port = int(running.bolt_uri.rsplit(":", 1)[1])
    with pytest.raises(SetupError, match=r"password in .* is not that of the database.*remove"):
        server._check_access(Record(port, 1, "", None), tmp_path)


def test_cypher_25_is_spoken_without_being_asked_for(running: LocalNeo4j) -> None:
    with driver(running) as opened:
        names = opened.execute_query("SHOW SETTINGS 'db.query.default_language' YIELD value").records
        assert names[0]["value"] == "CYPHER_25"
        assert opened.execute_query("WHEN true THEN RETURN 1 AS one").records[0]["one"] == 1


def test_no_log_holds_what_queries_carry(settings: Settings, running: LocalNeo4j) -> None:
    with driver(running) as opened:
        opened.execute_query("CREATE CONSTRAINT secret_key IF NOT EXISTS FOR (n:Secret) REQUIRE n.id IS UNIQUE")
        opened.execute_query("CREATE (:Secret {id: $id})", id=SECRET)
        for query in (
            "CREATE (:Secret {id: $id})",
            "RETURN 1 / size($id[0..0])",
            "RETURN date($id)",
            "CALL no.such.procedure($id)",
            f"RETURN '{SECRET}' +",
            f"MATCH (n:Secret {{id: '{SECRET}'}}) RETURN 1 / 0",
        ):
            with pytest.raises(Neo4jError):
                opened.execute_query(query, id=SECRET)
    text = log_text(settings)
    assert "Bolt enabled" in text
    assert SECRET not in text
    assert running.password not in text


def test_several_homes_live_side_by_side(settings: Settings, running: LocalNeo4j) -> None:
    with driver(running) as first:
        first.execute_query("MERGE (:Here {home: 'first'})")
        with server.throwaway(Settings()) as other:
            assert other.pid != running.pid
            assert other.password != running.password
            assert len({running.bolt_uri, running.http_uri, other.bolt_uri, other.http_uri}) == 4
            with driver(other) as second:
                assert second.execute_query("MATCH (n) RETURN count(n) AS n").records[0]["n"] == 0
    assert not other.home.exists()
    assert server.status(settings).answers


def test_killed_it_starts_again_where_it_was_with_all_that_was_acknowledged(
    settings: Settings, running: LocalNeo4j
) -> None:
    with driver(running) as opened:
        for n in range(50):
            opened.execute_query("CREATE (:Kept {n: $n})", n=n)
        os.kill(running.pid, signal.SIGKILL)
    again = server.up(settings)
    assert again.pid != running.pid
    assert (again.bolt_uri, again.http_uri, again.password) == (running.bolt_uri, running.http_uri, running.password)
    with driver(again) as opened:
        kept = opened.execute_query("MATCH (n:Kept) RETURN collect(n.n) AS n").records[0]["n"]
    assert sorted(kept) == list(range(50))


def await_death(settings: Settings) -> None:
    """Wait until the local Neo4j has ended: a signal is on its way for a moment."""
    deadline = time.monotonic() + 10
    while not server.has_died(settings):
        assert time.monotonic() < deadline
        time.sleep(0.05)


async def test_one_that_ended_by_itself_is_started_again(settings: Settings, running: LocalNeo4j) -> None:
    before = server.up(settings)
    os.kill(before.pid, signal.SIGKILL)
    await_death(settings)
    process.await_end(before.pid)
    one_look = iter([False, True])

    async def stops_within(seconds: float) -> bool:
        return next(one_look)

    await keep_local_neo4j(settings, stops_within)
    again = server.status(settings)
    assert (again.answers, again.pid != before.pid, again.bolt_uri) == (True, True, before.bolt_uri)


def test_stopped_it_stops_cleanly_and_once(settings: Settings, running: LocalNeo4j) -> None:
    before = server.up(settings)
    assert server.down(settings) is True
    assert not server.has_died(settings)
    assert not process.is_running(before.pid, install.home_argument(before.home / "neo4j"))
    assert all(process.is_free(int(uri.rsplit(":", 1)[1])) for uri in (before.bolt_uri, before.http_uri))
    assert (settings.home / "neo4j" / "logs" / "neo4j.log").read_text().rstrip().endswith("Stopped.")
    found = server.status(settings)
    assert (found.running, found.answers, found.pid) == (False, False, None)
    assert found.bolt_uri == before.bolt_uri
    assert server.down(settings) is False


def test_java_that_refuses_is_quoted(tmp_path: Path) -> None:
    settings = seeded(tmp_path).model_copy(update={"neo4j_heap_mb": 10**10})
    with pytest.raises(SetupError, match=r"(?s)ended while it started.*console\.log.*heap"):
        server.up(settings)
    assert not server.status(settings).running


def test_neo4j_that_refuses_is_quoted(tmp_path: Path) -> None:
    settings = seeded(tmp_path)
    (tmp_path / "neo4j" / "data").mkdir()
    (tmp_path / "neo4j" / "data" / "databases").write_text("a file where Neo4j wants a folder")
    with pytest.raises(SetupError, match=r"(?s)ended while it started.*neo4j\.log.*databases"):
        server.up(settings)
    assert not server.status(settings).running
