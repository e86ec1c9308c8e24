"""The TypeScript client, built by its own compiler: the lines of its page in Node on a served API, and its package."""

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem.app import Graphmem
from graphmem.model import Role
from tests.conftest import PASSWORD, Enrol, Pupil
from tests.e2e.test_readme import shown

CLIENT = Path(__file__).parents[2] / "client" / "typescript"
SENT_AGAIN = """
import { Client, GraphmemError } from "graphmem-client";

const { API = "", APP_TOKEN = "", PASSWORD = "" } = process.env;
const failing: Array<() => Promise<Response>> = [];
const sent = (...given: Parameters<typeof fetch>) => (failing.shift() ?? (() => fetch(...given)))();
const away = async () => { throw new TypeError("fetch failed"); };
const unavailable = async () => Response.json({ errors: [{ message: "m", extensions: { code: "UNAVAILABLE" } }] });
const broken = async () => new Response("<html>", { status: 502 });

const client = new Client(API, APP_TOKEN, { fetch: sent });
await client.openSession({ studentId: "ann", password: PASSWORD });
failing.push(away, unavailable, broken);
const turn = await client.handleTurn({ studentId: "ann", turnId: "t1", text: "I like my horse Bella." });
console.log(JSON.stringify([turn.repeated, failing.length]));
failing.push(away, unavailable);
let reply = "";
let last;
for await (const event of client.turnStream({ studentId: "ann", turnId: "t2", text: "And my dog Rex." })) {
  reply += event.token ?? "";
  last = event.turn;
}
console.log(JSON.stringify([reply === last?.reply, failing.length]));
const codes = [];
const nobody = new Client("http://127.0.0.1:9", "token", { patience: 600 });
for (const work of [
  () => nobody.analyses(),
  () => client.facts({ studentId: "nobody" }),
  () => client.enrolStudent({ studentId: "eve", password: PASSWORD }),
  () => client.turnStream({ studentId: "eve", turnId: "t1", text: "Hello." }).next(),
]) {
  try {
    await work();
  } catch (error) {
    codes.push(error instanceof GraphmemError ? [error.code, error.tries > 1] : error);
  }
}
console.log(JSON.stringify(codes));
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client's folder with its compiler and what that made; skipped where npm does not get it, but in CI."""
    folder = tmp_path_factory.mktemp("typescript") / "client"
    shutil.copytree(CLIENT, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    npm = shutil.which("npm")
    got = npm and subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=folder, check=False).returncode == 0
    if not got and not os.environ.get("CI"):
        pytest.skip("npm is not there, or does not get the compiler")
    assert got, "npm ci"
    subprocess.run([str(npm), "run", "--silent", "build"], cwd=folder, check=True)
    return folder


async def run_in_node(built: Path, code: str, **environment: str) -> list[str]:
    """The lines that code in TypeScript prints, once it is checked and compiled beside the client."""
    app = built.parent / "app"
    (app / "node_modules").mkdir(parents=True, exist_ok=True)
    if not (app / "node_modules" / "graphmem-client").exists():
        (app / "node_modules" / "graphmem-client").symlink_to(built)
    (app / "package.json").write_text('{"type": "module"}')
    # What Node gives to every program is no part of the client's types.
    node = "declare const process: { env: Record<string, string | undefined>; stdout: { write(t: string): void } };\n"
    (app / "app.ts").write_text(node + code, "utf-8")
    compiler = ["node", str(built / "node_modules" / "typescript" / "bin" / "tsc"), "--strict", "--target", "ES2022"]
    compiler += ["--module", "NodeNext", "--lib", "ES2022,DOM,DOM.AsyncIterable", "app.ts"]
    checked = await asyncio.to_thread(subprocess.run, compiler, cwd=app, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
    process = await asyncio.create_subprocess_exec(
        "node", "app.js", cwd=app, env=os.environ | environment, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()
    assert process.returncode == 0
    return printed.decode().strip().splitlines()


async def test_the_page_runs_from_top_to_bottom(
    gm: Graphmem, api: str, bearer: Callable[[Role], str], built: Path
) -> None:
    code = "\n".join(shown("docs/typescript.md", "typescript"))
    tokens = {"ADMIN_TOKEN": bearer(Role.ADMIN), "APP_TOKEN": bearer(Role.APP)}
    lines = await run_in_node(built, code, API=api, **tokens)
    told = "\n".join(lines)
    assert "role: 'user', content: 'What is my dog called?'" in told
    assert "Bello" in told
    assert lines[-1] == "The password is wrong or there is no such student."


async def test_the_clients_readme_runs(api: str, bearer: Callable[[Role], str], enrol: Enrol, built: Path) -> None:
    await enrol("ada")
    (code,) = shown("client/typescript/README.md", "typescript")
    code = code.replace('"http://127.0.0.1:8000", token', f'"{api}", "{bearer(Role.APP)}"')
    lines = await run_in_node(built, code.replace(", password", f', "{PASSWORD}"'))
    assert "Bello" in "\n".join(lines)


async def test_what_is_unavailable_is_sent_again_and_what_is_refused_has_a_code(
    api: str, bearer: Callable[[Role], str], ann: Pupil, built: Path
) -> None:
    turn, stream, codes = await run_in_node(built, SENT_AGAIN, API=api, APP_TOKEN=bearer(Role.APP), PASSWORD=PASSWORD)
    assert json.loads(turn) == [False, 0]
    assert json.loads(stream) == [True, 0]
    assert json.loads(codes) == [["UNAVAILABLE", True], ["NOT_FOUND", False], ["FORBIDDEN", False], ["LOCKED", False]]


def test_the_package_holds_what_is_built_and_needs_nothing(built: Path) -> None:
    packed = subprocess.check_output(["npm", "pack", "--dry-run", "--json"], cwd=built, text=True)
    (package,) = json.loads(packed)
    files = {each["path"] for each in package["files"]}
    assert {"README.md", "package.json", "dist/index.js", "dist/index.d.ts", "dist/generated.d.ts"} <= files
    assert all(each.startswith("dist/") for each in files - {"README.md", "package.json"})
    assert package["size"] < 100_000
    assert "dependencies" not in json.loads((built / "package.json").read_text("utf-8"))
    assert "resolved" not in (CLIENT / "package-lock.json").read_text("utf-8")
