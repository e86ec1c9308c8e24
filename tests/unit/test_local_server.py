"""The local Neo4j without a server: whose processes, which ports, which files, which words."""

import json
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from graphmem.errors import SetupError
from graphmem.local import install, process, server
from graphmem.local.process import write_private
from graphmem.local.server import Record
from graphmem.settings import Settings

MARK = "--home-dir=/somewhere/neo4j"
WAITS = "import time; print('ready', flush=True); time.sleep(60)"
DEAF = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {WAITS}"


def silent(_: str) -> None: ...


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "neo4j").mkdir()
    return Settings(home=tmp_path)


def started(code: str, *words: str) -> subprocess.Popen[bytes]:
    child = subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    return child


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process of someone else."""
    with started(WAITS, "--home-dir=/elsewhere/neo4j") as child:
        yield child
        child.kill()


@pytest.fixture
def taken() -> Iterator[int]:
    """A port another program listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield int(listener.getsockname()[1])


def record(settings: Settings, pid: int | None = None, bolt_port: int = 7687, http_port: int = 7474) -> Record:
    kept = Record(bolt_port, http_port, "5.1", pid)
    (settings.home / "neo4j" / "server.json").write_text(json.dumps(vars(kept)))
    return kept


# Whose process


def test_another_process_with_the_recorded_id_is_neither_believed_nor_touched(
    settings: Settings, stranger: subprocess.Popen[bytes]
) -> None:
    record(settings, stranger.pid)
    assert not server.status(settings).running
    assert server.status(settings).pid is None
    assert server.down(settings) is False
    process.stop(stranger.pid, MARK, 0.2)
    assert stranger.poll() is None


def test_the_id_of_a_process_that_is_gone_is_noticed(settings: Settings) -> None:
    with started("print()", install.home_argument(settings.home / "neo4j")) as child:
        child.wait()
        record(settings, child.pid)
        assert not server.status(settings).running
        assert server.down(settings) is False


def test_the_end_of_a_killed_process_is_awaited_with_all_it_held() -> None:
    holds = """if True:
        import socket, threading
        server, memory = socket.create_server(("127.0.0.1", 0)), bytearray(100_000_000)
        for _ in range(200):
            threading.Thread(target=threading.Event().wait, daemon=True).start()
        print(server.getsockname()[1], flush=True)
        input()
    """
    for _ in range(5):
        with subprocess.Popen(
            [sys.executable, "-c", holds, MARK], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as child:
            assert child.stdout is not None
            port = int(child.stdout.readline())
            child.kill()
            while process.is_running(child.pid, MARK):
                pass
            process.await_end(child.pid)
            assert process.is_free(port)


def test_a_process_that_listens_is_asked_only() -> None:
    with started(WAITS, MARK) as child:
        assert process.is_running(child.pid, MARK)
        assert process.stop(child.pid, MARK, 20)
        assert child.wait() == -15


def test_a_process_that_does_not_listen_is_ended_by_force() -> None:
    with started(DEAF, MARK) as child:
        assert not process.stop(child.pid, MARK, 0.2)
        assert child.wait() == -9


def test_a_detached_process_belongs_to_no_one_here(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-c", f"import os; print(os.getcwd(), os.environ['A'], os.getsid(0)); {WAITS}", MARK]
    pid = process.start_detached(command, tmp_path, log, {"A": "b c"})
    try:
        while "ready" not in log.read_text():
            time.sleep(0.02)
        where, session = log.read_text().splitlines()[0].rsplit(" b c ", 1)
        assert where == str(tmp_path)
        assert int(session) != os.getsid(0)
        with pytest.raises(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    finally:
        assert process.stop(pid, MARK, 20)


# Which ports


def test_ports_of_the_last_start_are_kept(settings: Settings) -> None:
    bolt, http = process.free_ports(2)
    assert server._ports(settings, record(settings, None, bolt, http)) == (bolt, http)


def test_a_port_taken_meanwhile_is_replaced_and_only_that(settings: Settings, taken: int) -> None:
    [http] = process.free_ports(1)
    chosen = server._ports(settings, record(settings, None, taken, http))
    assert chosen[0] not in (taken, http)
    assert chosen[1] == http
    assert process.is_free(chosen[0])


def test_a_port_that_is_wanted_is_no_spare_one(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted, *others = process.free_ports(6)
    monkeypatch.setattr(process, "free_ports", lambda count: [wanted, wanted, *others][:count])
    settings = settings.model_copy(update={"neo4j_bolt_port": wanted})
    assert server._ports(settings, None) == (wanted, others[1])


def test_ports_of_the_settings_come_first(settings: Settings) -> None:
    [wanted, other, third] = process.free_ports(3)
    settings = settings.model_copy(update={"neo4j_bolt_port": wanted})
    assert server._ports(settings, record(settings, None, other, third)) == (wanted, third)
    assert server._ports(settings, record(settings, None, other, wanted))[1] != wanted


@pytest.mark.parametrize("name", ["bolt", "http"])
def test_a_port_of_the_settings_that_is_taken_is_named(settings: Settings, taken: int, name: str) -> None:
    settings = settings.model_copy(update={f"neo4j_{name}_port": taken})
    with pytest.raises(SetupError, match=rf"Port {taken} is taken.*GRAPHMEM_NEO4J_{name.upper()}_PORT"):
        server.up(settings)


def test_one_port_for_both_is_refused(settings: Settings) -> None:
    [port] = process.free_ports(1)
    with pytest.raises(SetupError, match="choose two ports"):
        server.up(settings.model_copy(update={"neo4j_bolt_port": port, "neo4j_http_port": port}))


def test_a_server_on_another_port_than_the_settings_say_is_not_passed_off(settings: Settings) -> None:
    with started(WAITS, install.home_argument(settings.home / "neo4j")) as child:
        record(settings, child.pid, bolt_port=1111)
        with pytest.raises(SetupError, match=r"runs on port 1111.*_BOLT_PORT is 2222.*graphmem down"):
            server.up(settings.model_copy(update={"neo4j_bolt_port": 2222}))
        child.kill()


def test_bolt_is_answered_by_bolt_only(taken: int) -> None:
    [nobody] = process.free_ports(1)
    assert not process.answers_bolt(nobody)

    def closes_at_once(listener: socket.socket) -> None:
        listener.accept()[0].close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=closes_at_once, args=(listener,)).start()
        assert not process.answers_bolt(listener.getsockname()[1])


# One at a time


def test_the_second_waits_for_the_first(tmp_path: Path) -> None:
    told = threading.Event()
    order: list[str] = []

    def second() -> None:
        with server._one_at_a_time(tmp_path, lambda _: told.set()):
            order.append("second")

    with server._one_at_a_time(tmp_path, silent):
        thread = threading.Thread(target=second)
        thread.start()
        assert told.wait(10)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


# Which files


def test_a_home_never_started_has_a_status(tmp_path: Path) -> None:
    found = server.status(Settings(home=tmp_path / "new"))
    assert (found.running, found.answers, found.pid, found.bolt_uri, found.bytes_on_disk) == (
        False,
        False,
        None,
        None,
        0,
    )
    assert server.down(Settings(home=tmp_path / "new")) is False
    assert not (tmp_path / "new").exists()


def test_a_home_below_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(SetupError, match=r"file.*cannot be written.*GRAPHMEM_HOME"):
        server.up(Settings(home=tmp_path / "file" / "home"))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}'])
def test_a_broken_record_is_named(settings: Settings, text: str) -> None:
    (settings.home / "neo4j" / "server.json").write_text(text)
    with pytest.raises(SetupError, match=r"server.json is broken"):
        server.up(settings)


def test_a_record_is_read_as_it_was_saved(settings: Settings) -> None:
    kept = Record(1, 2, "5.1", None)
    server._save(settings.home / "neo4j", kept)
    assert server._read_record(settings.home / "neo4j") == kept
    server._save(settings.home / "neo4j", replace(kept, pid=3))
    assert server._read_record(settings.home / "neo4j") == replace(kept, pid=3)
    assert [path.name for path in (settings.home / "neo4j").iterdir()] == ["server.json"]


def test_the_password_is_random_private_and_made_once(tmp_path: Path) -> None:
    homes = [tmp_path / "a", tmp_path / "b"]
    for home in homes:
        home.mkdir()
        install.make_password(home)
    first, other = (install.password(home) for home in homes)
    assert first != other
    assert len(first) >= 32
    for name in ("password", "data/dbms/auth.ini"):
        assert stat.S_IMODE((homes[0] / name).stat().st_mode) == 0o600
        assert first not in (homes[0] / "data/dbms/auth.ini").read_text()
    install.make_password(homes[0])
    assert install.password(homes[0]) == first


def test_a_lost_password_is_not_made_anew_over_data(tmp_path: Path) -> None:
    install.make_password(tmp_path)
    (tmp_path / "password").unlink()
    with pytest.raises(SetupError, match=r"password is gone.*graphmem down"):
        install.make_password(tmp_path)


def test_a_first_start_interrupted_after_the_password_begins_again(tmp_path: Path) -> None:
    write_private(tmp_path / "password", "of the interrupted start")
    install.make_password(tmp_path)
    salt = bytes.fromhex((tmp_path / "data/dbms/auth.ini").read_text().split(",")[2])
    assert install.first_user(install.password(tmp_path), salt) == (tmp_path / "data/dbms/auth.ini").read_text()


def test_the_first_user_is_what_neo4j_admin_writes() -> None:
    salt = bytes.fromhex("96753eafb7e1214ad2a141800f12c5a6ced237da8fe7a8a377cbe8ae827eb99b")
    digest = "381a10ca570f96a00618cf224b9ade5d7a913ec12a3b65078e61a734e40f0a3c"
    assert install.first_user("secret12345", salt) == f"neo4j:SHA-256,{digest},{salt.hex()},1024:\n"


def test_the_configuration_listens_here_only_logs_no_query_and_tells_no_one(settings: Settings) -> None:
    folder = settings.home / "neo4j"
    own = {"neo4j_config": "dbms.cypher.min_replan_interval=1h db.tx_log.preallocate=false"}
    install.write_configuration(settings.model_copy(update=own), folder, 1111, 2222)
    lines = (folder / "conf" / "neo4j.conf").read_text().splitlines()
    set_to = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    assert len(set_to) == sum(1 for line in lines if line and not line.startswith("#"))
    addresses = [value for name, value in set_to.items() if name.endswith("_address")]
    assert addresses
    assert all(value.split(":")[0] == "127.0.0.1" for value in addresses)
    assert set_to["server.bolt.listen_address"] == "127.0.0.1:1111"
    assert set_to["server.http.listen_address"] == "127.0.0.1:2222"
    assert set_to["server.memory.pagecache.size"] == f"{install.PAGE_CACHE_MB}m"
    assert set_to["dbms.cypher.min_replan_interval"] == "1h"
    assert set_to["db.tx_log.preallocate"] == "false"
    assert set_to["db.logs.query.enabled"] == "OFF"
    for name in (
        "dbms.usage_report.enabled",
        "client.allow_telemetry",
        "server.bolt.telemetry.enabled",
        "dbms.fleet_manager.enabled",
        "server.fleet_discovery.enabled",
        "server.https.enabled",
    ):
        assert set_to[name] == "false"


def test_old_jars_go_and_nothing_else_does(tmp_path: Path) -> None:
    for name in ("lib-old", "lib-new", "data"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.jar").touch()
    (tmp_path / "lib-shared").symlink_to(tmp_path / "lib-new")
    install.remove_old_jars(tmp_path, tmp_path / "lib-new")
    assert {path.name for path in tmp_path.iterdir()} == {"lib-new", "data"}
    assert (tmp_path / "lib-new" / "x.jar").exists()
