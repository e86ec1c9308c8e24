"""The command line as a user types it, on the test's Neo4j."""

import asyncio
import json
import os
import re
import signal
import socket
import sys
from importlib.metadata import version
from pathlib import Path

import httpx
import pytest
from neo4j import AsyncGraphDatabase

from graphmem.app import Graphmem as App
from graphmem.jobs.sessions import close_session
from graphmem.samples import SAMPLES
from graphmem.settings import Settings
from graphmem.store import schema
from graphmem.store.tampering import count_noticed
from tests.conftest import PASSWORD, Enrol, Pupil, say
from tests.support.commands import Command, commands
from tests.support.guide import guide_queries
from tests.support.own_neo4j import Access
from tests.support.remembering import told

CIMA = SAMPLES / "cima" / "dialogues.jsonl"


@pytest.fixture
def environment(gm: App, settings: Settings, neo4j_access: Access, tmp_path: Path) -> dict[str, str]:
    return os.environ | {
        "GRAPHMEM_HOME": str(tmp_path),
        "GRAPHMEM_NEO4J_URI": neo4j_access.uri,
        "GRAPHMEM_NEO4J_USER": neo4j_access.user,
        "GRAPHMEM_NEO4J_PASSWORD": neo4j_access.password,
        "GRAPHMEM_SECRET": (settings.home / "secret").read_text("utf-8"),
        "GRAPHMEM_ARGON2_OPS": "1",
        "GRAPHMEM_ARGON2_MIB": "8",
        # Other tests leave jobs behind that nobody runs.
        "GRAPHMEM_JOBS_LATE": "1e9",
        "GRAPHMEM_HEALTH_SECONDS": "10",
    }


@pytest.fixture
def graphmem(environment: dict[str, str]) -> Command:
    return commands(environment)


@pytest.fixture
async def ada(gm: App, enrol: Enrol) -> Pupil:
    """A student who has told of her sister."""
    pupil = await enrol("ada")
    await told(gm, pupil, "My sister Ottilie keeps nine otters.")
    await close_session(gm, pupil.session, wait=True)
    return pupil


async def test_enrol_replay_chat(graphmem: Command, institution: str) -> None:
    who = ("--institution", institution, "--password-stdin")
    code, out, err = await graphmem("enrol", "ada", *who, said=f"{PASSWORD}\n")
    assert (code, out) == (0, f"ada is enrolled at {institution}.\n"), err
    code, out, err = await graphmem("replay", str(CIMA), "--student", "ada", *who, "--json", said=f"{PASSWORD}\n")
    assert code == 0, err
    report = json.loads(out)
    assert (code, report["dialogues"], report["repeated"], report["handled_before"]) == (0, 3, 0, 0), err
    again = json.loads(
        (await graphmem("replay", str(CIMA), "--student", "ada", *who, "--json", said=f"{PASSWORD}\n"))[1]
    )
    assert (again["answered"], again["handled_before"]) == (0, report["answered"])
    code, out, _ = await graphmem("chat", "ada", *who, said=f"{PASSWORD}\nHow do I say tree?\n\n")
    assert code == 0
    assert "Companion: " in out


@pytest.mark.usefixtures("ada")
async def test_ctrl_c_ends_a_chat_on_a_terminal(environment: dict[str, str], institution: str) -> None:
    typed, terminal = os.openpty()
    chat = [sys.executable, "-m", "graphmem", "chat", "ada", "--institution", institution, "--password-stdin"]
    # Tests that run in the background of a shell ignore Ctrl-C, and so would what they start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = await asyncio.create_subprocess_exec(
            *chat, env=environment, stdin=terminal, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
    finally:
        signal.signal(signal.SIGINT, before)
    os.close(terminal)
    assert process.stdout is not None
    os.write(typed, f"{PASSWORD}\n".encode())
    assert b"an empty line ends" in await process.stdout.readline()
    os.write(typed, b"Hello!\n")
    said = [await process.stdout.readline() for _ in range(2)]
    assert said[1].startswith(b"Companion: ")
    process.send_signal(signal.SIGINT)
    # What was said is formed first, and another process may hold its jobs for a while.
    assert await asyncio.wait_for(process.wait(), 240) == 130
    os.close(typed)


@pytest.mark.usefixtures("ada")
async def test_forget(graphmem: Command, institution: str) -> None:
    who = ("--institution", institution, "--password-stdin")
    recall = ("recall", "ada", "Ottilie", *who, "--json")
    (found,) = json.loads((await graphmem(*recall, said=f"{PASSWORD}\n"))[1])
    code, out, err = await graphmem("forget", "ada", found["id"], *who, "--json", said=f"{PASSWORD}\n")
    assert code == 0, err
    assert json.loads(out)["memories"] >= 1
    assert json.loads((await graphmem(*recall, said=f"{PASSWORD}\n"))[1]) == []


@pytest.mark.usefixtures("ada")
async def test_export(graphmem: Command, institution: str, tmp_path: Path) -> None:
    who = ("--institution", institution, "--password-stdin")
    file = tmp_path / "ada.json"
    code, _, err = await graphmem("export", "ada", "--out", str(file), *who, said=f"{PASSWORD}\n")
    assert code == 0, err
    assert file.stat().st_mode & 0o077 == 0
    assert "otters" in json.dumps(json.loads(file.read_text("utf-8")))
    code, _, err = await graphmem("export", "ada", "--out", str(file), *who, said=f"{PASSWORD}\n")
    assert code != 0
    assert "ada.json" in err


@pytest.mark.usefixtures("ada")
async def test_plot(graphmem: Command, institution: str, tmp_path: Path) -> None:
    who = ("--institution", institution)
    for name, given, said in (("a.svg", "--password-stdin", f"{PASSWORD}\n"), ("a.png", "--structure", "")):
        code, out, err = await graphmem("plot", "ada", "--out", str(tmp_path / name), given, *who, said=said)
        assert (code, out.startswith(str(tmp_path / name))) == (0, True), err
    assert (tmp_path / "a.svg").read_text("utf-8").startswith("<?xml")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    code, _, err = await graphmem("plot", "ada", "--out", str(tmp_path / "a.txt"), "--structure", *who)
    assert (code, ".svg" in err) == (1, True)
    code, _, err = await graphmem("plot", "ada", "--out", str(tmp_path / "o.svg"), "--overlay", *who)
    assert (code, "import-world" in err) == (1, True)


@pytest.mark.usefixtures("ada")
async def test_inspect_shows_a_readable_copy_and_removes_it(
    environment: dict[str, str], graphmem: Command, institution: str, tmp_path: Path
) -> None:
    who = ("--institution", institution, "--password-stdin")
    assert (await graphmem("inspect", "ada", *who, said="not the password\n"))[0] == 1
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "graphmem", "inspect", "ada", *who, env=environment,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{PASSWORD}\n".encode())
    link, access, guided = [(await process.stdout.readline()).decode() for _ in range(3)]
    style, guide = re.findall(r":(?:style|play) (http://localhost:\d+/[a-z.]+)", guided)
    async with httpx.AsyncClient() as http:
        assert "node.Memory" in (await http.get(style)).text
        played = await http.get(guide)
    assert (played.status_code, played.headers["Access-Control-Allow-Origin"]) == (200, "*")
    assert 'student_id: "ada"' in played.text
    port = re.findall(r"bolt%3A%2F%2F127\.0\.0\.1%3A(\d+)", link)[0]
    password = access.split()[-1]
    async with AsyncGraphDatabase.driver(f"bolt://127.0.0.1:{port}", auth=("neo4j", password)) as copy:
        said = await copy.execute_query("MATCH (m:Memory) RETURN m.name AS name")
        assert any("otters" in record["name"] for record in said.records)
        for query in guide_queries(played.text):
            await copy.execute_query(query, institution=institution, student_id="ada")
    home = tmp_path / json.loads((tmp_path / "inspect.json").read_text("utf-8"))["home"]
    assert home.is_dir()
    process.send_signal(signal.SIGTERM)
    await process.wait()
    assert not home.exists()
    assert not (tmp_path / "inspect.json").exists()


async def test_drift(gm: App, graphmem: Command, enrol: Enrol, institution: str) -> None:
    who = ("--institution", institution)
    pupil = await enrol("ada")
    await told(gm, pupil, "I have never been on a plane in my life.", "I flew to Oslo by plane when I was six.")
    await close_session(gm, pupil.session, wait=True)
    code, out, err = await graphmem("drift", "ada", *who)
    assert (code, out.count("\n")) == (0, 1), err
    code, out, err = await graphmem("drift", "ada", *who, "--password-stdin", "--json", said=f"{PASSWORD}\n")
    assert code == 0, err
    report = json.loads(out)
    assert report["students"] == 1
    assert report["faded"] >= 2
    assert report["compressions"] == []
    code, _, err = await graphmem("drift", *who, "--password-stdin", said=f"{PASSWORD}\n")
    assert code != 0
    assert "Name the student" in err


async def test_erase(graphmem: Command, gm: App, institution: str) -> None:
    who = ("--institution", institution)
    await graphmem("enrol", "ada", *who, "--password-stdin", said=f"{PASSWORD}\n")
    held = "MATCH (n {institution: $i}) WHERE NOT n:Institution RETURN labels(n)[0] AS label, count(n) AS nodes"
    found = await gm.graph.execute(held, {"i": institution}, reads=True)
    assert {each["label"]: each["nodes"] for each in found} == {"Student": 1, "Companion": 1, "ManifestPage": 2}
    code, out, err = await graphmem("erase", "ada", *who, "--json")
    assert (code, json.loads(out)["other"]) == (0, 4), err
    assert await gm.graph.execute(held, {"i": institution}, reads=True) == []
    code, _, err = await graphmem("erase", "ada", *who)
    assert code != 0
    assert "no such student" in err


async def test_import_world(graphmem: Command, institution: str, tmp_path: Path) -> None:
    file, who = tmp_path / "world.csv", ("--institution", institution)
    file.write_text("id,name,prerequisites\nhalf,half,\nfraction,fraction,half\n")
    code, out, err = await graphmem("import-world", str(file), *who, "--json")
    assert (code, json.loads(out)) == (0, {"concepts": 2, "edges": 1}), err
    file.write_text("id,name,prerequisites\nhalf,half,third\n")
    code, out, err = await graphmem("import-world", str(file), *who)
    assert (code, out) == (1, "")
    assert "line 2: there is no concept 'third'" in err
    code, out, err = await graphmem("import-world", "mathematics", *who, "--json")
    assert code == 0, err
    assert json.loads(out)["concepts"] > 300
    code, out, err = await graphmem("import-world", "nowhere.csv", *who)
    assert (code, out) == (1, "")
    assert "no file nowhere.csv" in err


async def test_what_goes_wrong_is_one_line(graphmem: Command, institution: str) -> None:
    who = ("--institution", institution, "--password-stdin")
    for arguments, said, changes, reason in [
        (("enrol", "ada", *who), "short\n", {}, "8 to 1000 characters"),
        (("chat", "nobody", *who), f"{PASSWORD}\n", {}, "no such student"),
        (("mcp", "ada"), "", {}, "GRAPHMEM_MCP_TOKEN"),
        (("replay", __file__, *who), f"{PASSWORD}\n", {}, "not JSON"),
        (("doctor",), "", {"GRAPHMEM_SESSION_MINUTES": "soon"}, "GRAPHMEM_SESSION_MINUTES"),
        (("bench", "nothing"), "", {}, "There is no benchmark"),
        (("enrol", "ada", *who), f"{PASSWORD}\n", {"GRAPHMEM_NEO4J_PASSWORD": "wrong"}, "GRAPHMEM_NEO4J_PASSWORD"),
        (("enrol", "ada", *who), f"{PASSWORD}\n", {"GRAPHMEM_NEO4J_URI": "http://x"}, "GRAPHMEM_NEO4J_URI"),
        (("enrol", "ada", *who), f"{PASSWORD}\n", {"GRAPHMEM_EMBEDDER": "word2vec"}, "GRAPHMEM_EMBEDDER"),
        (("enrol", "ada", *who), f"{PASSWORD}\n", {"GRAPHMEM_SECRET": "short"}, "GRAPHMEM_SECRET"),
        (("enrol", "ada", *who), f"{PASSWORD}\n", {"GRAPHMEM_MODEL": "nobody:nothing"}, "nobody"),
    ]:
        code, _, err = await graphmem(*arguments, said=said, **changes)
        assert code == 1, arguments
        assert reason in err
        assert "Traceback" not in err


async def test_doctor_counts_junk(graphmem: Command, ada: Pupil, institution: str) -> None:
    asked = ("doctor", "--junk", "ada", "--institution", institution, "--password-stdin", "--json")
    code, out, err = await graphmem(*asked, said=f"{PASSWORD}\n")
    found = json.loads(out)
    assert (code, found["rate"]) == (0, 0), err
    assert found["statements"] > 0


async def test_doctor_looks_at_every_part(graphmem: Command, gm: App, ann: Pupil) -> None:
    # A job that waits and that nobody runs.
    await say(gm, ann, "I have a dog called Rex.")
    # Other tests alter sealed values of their students in the same database, perhaps just now.
    before = await count_noticed(gm.graph)
    code, out, err = await graphmem("doctor", "--json")
    findings = {f["part"]: f["ok"] for f in json.loads(out)}
    after = await count_noticed(gm.graph)
    # Nor is it theirs to end their imports.
    assert isinstance(findings.pop("worlds"), bool)
    assert findings.pop("sealed values") in {not before[0], not after[0]}
    assert findings == dict.fromkeys(
        ["java", "database", "schema", "embedder", "mind", "keys", "broker", "jobs", "copies"], True
    )
    assert code == (0 if all(f["ok"] for f in json.loads(out)) else 1), err
    code, out, _ = await graphmem("doctor", GRAPHMEM_NEO4J_URI="bolt://127.0.0.1:1", GRAPHMEM_NEO4J_TIMEOUT="1")
    assert code == 1
    assert "BAD database" in out
    assert out.count("not checked") == 4
    code, out, _ = await graphmem(
        "doctor", GRAPHMEM_BROKER="redis://:a-password@127.0.0.1:1/0", GRAPHMEM_JOBS_LATE="1e-9"
    )
    assert code == 1
    assert "BAD broker" in out
    assert "BAD jobs" in out
    assert "a-password" not in out


async def test_jobs_are_listed_and_started_again(graphmem: Command, gm: App, ann: Pupil) -> None:
    who = ("--institution", ann.who.institution)
    await say(gm, ann, "I have a dog called Rex.")
    kill = """MATCH (j:Job {institution: $i, kind: 'form'})
              SET j.state = 'dead', j.attempts = 5, j.error = 'It is too late.'"""
    await gm.graph.execute(kill, {"i": ann.who.institution}, reads=False)
    code, out, err = await graphmem("jobs", "ann", "--state", "dead", "--json", *who)
    assert code == 0, err
    assert [(job["id"], job["error"]) for job in json.loads(out)["jobs"]] == [("ann/form-1", "It is too late.")]
    code, out, _ = await graphmem("jobs", "--retry", "ann/form-1", *who)
    assert (code, "waiting" in out) == (0, True)
    code, out, _ = await graphmem("jobs", *who)
    assert "ann/form-1" in out
    code, _, err = await graphmem("jobs", "--retry", "ann/form-1", *who)
    assert (code, "not dead" in err) == (1, True)
    code, out, _ = await graphmem("usage", "ann", "--since", "2026-01-01", "--json", *who)
    assert json.loads(out)["all"]["calls"] == 0


async def test_a_token_is_all_that_is_printed(graphmem: Command) -> None:
    code, out, err = await graphmem("token", "--role", "app", "--institution", "x")
    assert (code, err) == (0, "")
    assert len(out.strip().split(".")) == 3


async def test_serve_drains_on_sigterm(gm: App, environment: dict[str, str], unused_tcp_port: int) -> None:
    # Other tests leave messages behind that nobody answers.
    await gm.graph.execute("MATCH (t:Turn) WHERE t.state <> 'answered' DETACH DELETE t", {}, reads=False)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "graphmem", "serve", "--port", str(unused_tcp_port),
        env=environment, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{unused_tcp_port}") as http:
        for _ in range(600):
            try:
                if (await http.get("/readyz")).status_code == 200:
                    break
            except httpx.HTTPError:
                await asyncio.sleep(0.1)
        health = await http.get("/healthz")
        assert health.status_code == 200, health.text
    process.send_signal(signal.SIGTERM)
    await process.communicate()
    assert process.returncode == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_port_that_is_taken_is_told_at_once(
    environment: dict[str, str], unused_tcp_port: int, host: str
) -> None:
    with socket.create_server(("127.0.0.1", unused_tcp_port)):
        run = commands(environment | {"GRAPHMEM_NEO4J_URI": "bolt://127.0.0.1:1"})
        code, out, err = await run("serve", "--host", host, "--port", str(unused_tcp_port))
    assert (code, out) == (1, "")
    assert f"port {unused_tcp_port}" in err
    assert "--port" in err
    assert "serves" not in err
    code, _, err = await run("serve", "--host", "192.0.2.1")
    assert (code, "--host" in err) == (1, True)


async def test_every_line_of_serve_is_json_where_logs_are(environment: dict[str, str], unused_tcp_port: int) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "graphmem", "serve", "--port", str(unused_tcp_port),
        env=environment | {"GRAPHMEM_LOG_FORMAT": "json", "GRAPHMEM_MODLE": "offline"}, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    told = []
    async for line in process.stderr:
        told.append(json.loads(line))
        if "serves GraphQL" in told[-1]["message"]:
            # It listens by now.
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{unused_tcp_port}") as http:
                assert (await http.get("/livez")).status_code == 200
            process.send_signal(signal.SIGTERM)
    assert "did you mean GRAPHMEM_MODEL?" in told[0]["message"]
    (served,) = [each["message"] for each in told if f":{unused_tcp_port}/graphql" in each["message"]]
    assert served.endswith(f"the page for people at http://127.0.0.1:{unused_tcp_port}/")
    assert await process.wait() == 0
    refused = commands(environment | {"GRAPHMEM_LOG_FORMAT": "json", "GRAPHMEM_SECRET": "short"})
    _, _, err = await refused("serve", "--port", str(unused_tcp_port))
    assert "too short" in json.loads(err)["message"]


async def test_the_demo_tells_of_every_turn_and_leaves_nothing_running(graphmem: Command, tmp_path: Path) -> None:
    few = tmp_path / "few.jsonl"
    few.write_text("\n".join(CIMA.read_text("utf-8").splitlines()[:2]), "utf-8")
    code, out, err = await graphmem("demo", "--json", "--dialogues", str(few))
    assert code == 0, err
    told = json.loads(out)
    assert len(told["turns"]) >= 4
    assert {"expected", "text", "reply", "match", "surprise", "level", "learnedFact", "ms"} <= set(told["turns"][0])
    assert told["nodes"]["Turn"] >= 4
    assert "playing cima-" in err


async def test_reembed_changes_the_model_and_predictions_are_embedded_anew(
    graphmem: Command, gm: App, ann: Pupil, replica: App
) -> None:
    first = await say(gm, ann, "I am stuck with fractions.", reply="How many spoons did Julia buy in total?")
    await schema.set_embedder(gm.graph, "sentence-transformers:another", 768, gm.clock())
    code, out, _ = await graphmem("doctor")
    assert code == 1
    assert "BAD schema" in out
    assert "graphmem reembed" in out
    code, _, err = await graphmem("serve")
    assert code == 1
    assert "graphmem reembed" in err
    code, _, err = await graphmem("reembed")
    assert code == 0, err
    assert list((await schema.find_held(gm.graph)).values())[1:] == [gm.embedder.name, gm.embedder.dimension]
    rows = await gm.graph.execute(
        "MATCH (c:Companion) WHERE c.prediction_embedding IS NOT NULL RETURN c", {}, reads=True
    )
    assert rows == []
    assert ((await say(replica, ann, first.prediction)).match or 0.0) > 0.99
    code, _, err = await graphmem("reembed")
    assert (code, "Nothing to do" in err) == (0, True)


async def test_the_version_is_printed(graphmem: Command) -> None:
    assert await graphmem("--version") == (0, f"graphmem {version('graphmem')}\n", "")


EXPORTS = Path(__file__).parents[1] / "data" / "exports"


async def test_chats_of_another_service_are_brought_in_once(graphmem: Command, ada: Pupil, institution: str) -> None:
    whose = ["--student", "ada", "--institution", institution, "--password-stdin"]
    command = ("import-chats", str(EXPORTS / "chatgpt.json"), *whose)
    code, told, progress = await graphmem(*command, "--json", said=PASSWORD)
    report = json.loads(told)
    assert code == 0
    assert "chatgpt.json is of chatgpt: 2 messages in 2 chats." in progress
    assert (report["format"], report["chats"], report["turns"], report["handled_before"]) == ("chatgpt", 2, 2, 0)
    assert report["left_out"]["a picture or a file"] == 1
    code, told, _ = await graphmem(*command, said=PASSWORD)
    assert told.splitlines()[0] == "0 turns and 0 notes of 2 chats are remembered; 2 had been before."
    assert "left out, 1 times: a picture or a file" in told
    code, told, _ = await graphmem("recall", "ada", "the dog", *whose[2:], "--json", said=PASSWORD)
    dog = next(each for each in json.loads(told) if "Bello" in each["content"])
    assert dog["at"].startswith("2024-03-01T08:00:10")


async def test_memories_of_another_service_are_noted_and_a_broken_export_is_refused(
    graphmem: Command, ada: Pupil, institution: str, tmp_path: Path
) -> None:
    whose = ["--student", "ada", "--institution", institution, "--password-stdin"]
    code, told, _ = await graphmem("import-chats", str(EXPORTS / "mem0.json"), *whose, said=PASSWORD)
    assert code == 0
    assert "0 turns and 2 notes of 2 chats are remembered" in told
    (broken := tmp_path / "broken.json").write_text((EXPORTS / "chatgpt.json").read_text("utf-8")[:-200], "utf-8")
    code, _, refused = await graphmem("import-chats", str(broken), *whose, said=PASSWORD)
    assert code == 1
    assert "is broken, or the file is cut short: mend it, or export it again." in refused
