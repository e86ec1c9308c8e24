"""Commands for operators: database, server, worker, jobs, tokens, backups, queries, benchmarks."""

import asyncio
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphmem.bench import BENCHMARKS, figure_lines, run_benchmark
from graphmem.commands.frame import ExistingFile, Printout, cli_command, read_password, say, unlocked
from graphmem.errors import InvalidInput, SetupError
from graphmem.flows.analysis import analyse, declared, list_queries
from graphmem.jobs.webhooks import WEBHOOK_SECONDS
from graphmem.model import Job, JobState, Role, Usage, Who
from graphmem.progress import Say, spoken
from graphmem.runtime import open_graph
from graphmem.settings import Settings
from graphmem.validation import PAGE_SIZE

if TYPE_CHECKING:
    from graphmem.app import Graphmem

DAY_SECONDS = 86_400.0
STUDENTS_AT_A_TIME = 20
"""Students whose embeddings are dropped at once."""


@cli_command("up")
def up_command(settings: Settings) -> None:
    """Start the local Neo4j; fetched at the first start."""
    from graphmem.local import server

    with spoken(say, "starting Neo4j") as told:
        found = server.up(settings, told)
    typer.echo(f"Neo4j is up at {found.bolt_uri}, user {found.user}, password {found.password}")
    typer.echo(f"Neo4j Browser: {found.browser_url}")


@cli_command("down")
def down_command(settings: Settings) -> None:
    """Stop the local Neo4j."""
    from graphmem.local import server

    with spoken(say, "stopping Neo4j") as told:
        stopped = server.down(settings, told)
    typer.echo("Neo4j is stopped." if stopped else "Neo4j was not running.")


@cli_command("status")
def status_command(settings: Settings) -> Printout:
    """Tell whether the local Neo4j runs, where, and how large it is."""
    from graphmem.local import server
    from graphmem.local.server import remove_left_copy

    remove_left_copy(settings, say)
    return Printout.fields(asdict(server.status(settings)))


@cli_command("doctor")
async def doctor_command(
    settings: Settings, institution: str, password_stdin: bool, junk: str | None = None
) -> Printout:
    """Check Java, database, schema, embedder, mind, keys, broker and jobs, each with its remedy; or look for junk.

    Parameters
    ----------
    junk : instead: the junk rate of this student's memories
    """
    from graphmem.commands.doctor import examine

    if junk is not None:
        return await _junk_of(settings, Who(institution, junk), read_password(password_stdin))
    findings = await examine(settings)
    lines = [f"{'ok ' if each['ok'] else 'BAD'} {each['part']:<13} {each['detail']}" for each in findings]
    return Printout(findings, lines, 0 if all(each["ok"] for each in findings) else 1)


async def _junk_of(settings: Settings, who: Who, password: str) -> Printout:
    from graphmem.flows.memories import find_junk
    from graphmem.runtime import open_graphmem

    async with open_graphmem(settings, say=say, background=False) as gm, unlocked(gm, who, password) as session:
        junk = await find_junk(gm, session)
    return Printout.fields(asdict(junk) | {"rate": round(junk.rate, 4)})


@cli_command("serve")
def serve_command(settings: Settings, host: str = "127.0.0.1", port: int = 8000) -> None:
    """Serve the API; starts the local Neo4j when GRAPHMEM_NEO4J_URI is not set.

    Parameters
    ----------
    host : address to listen on
    port : port to listen on
    """
    from graphmem.commands.serve import serve

    serve(settings, host, port, say)


@cli_command("worker")
def worker_command(settings: Settings, concurrency: Annotated[int, typer.Option(min=1)] = 4) -> None:
    """Run background jobs on this machine, until told to stop; several workers share the work.

    Parameters
    ----------
    concurrency : students whose jobs are run side by side
    """
    from graphmem.commands.serve import work

    work(settings, concurrency, say)


@cli_command("mcp")
def mcp_command(
    settings: Settings, student_id: Annotated[str | None, typer.Argument()] = None, http: bool = False, port: int = 8001
) -> None:
    """Serve a student's memory to MCP clients, over stdio or HTTP; needs a running API (GRAPHMEM_MCP_API).

    Parameters
    ----------
    student_id : whose memory; with --http each request says it
    http : streamable HTTP instead of stdio
    port : port of 127.0.0.1 to listen on
    """
    from graphmem.commands.mcp_server import serve_mcp

    serve_mcp(settings, student_id, port if http else None)


@cli_command("jobs")
async def jobs_command(
    gm: "Graphmem",
    institution: str,
    student: Annotated[str | None, typer.Argument()] = None,
    state: JobState | None = None,
    first: int = 100,
    retry: str | None = None,
) -> Printout:
    """List background jobs, newest first, or start a dead one again.

    Parameters
    ----------
    student : whose jobs; all students by default
    state : only jobs that stand so
    first : most jobs
    retry : instead: start the dead job of this id again
    """
    from graphmem.jobs import health

    found: list[Job] = []
    if retry:
        found, total = [await health.retry_job(gm, institution, retry)], 1
    else:
        total, after = await health.count_jobs(gm, institution, student, state), None
        while len(found) < first:
            most = min(first - len(found), PAGE_SIZE)
            page = await health.list_jobs(gm, institution, student, state, most, after)
            found += page.items
            if (after := page.next) is None:
                break
    names = ("state", "kind", "attempts", "error", "created_at", "run_after")
    jobs = [{"id": job.ref} | {name: getattr(job, name) for name in names} for job in found]
    lines = [
        f"{job['created_at'].isoformat()}  {job['state']:<8} {job['kind']:<8} {job['id']}"
        + (f"  failed {job['attempts']} times: {job['error']}" if job["error"] else "")
        for job in jobs
    ]
    return Printout({"jobs": jobs, "total": total}, [*lines, f"{len(jobs)} of {total} jobs"])


@cli_command("usage")
async def usage_command(
    gm: "Graphmem",
    institution: str,
    student: Annotated[str | None, typer.Argument()] = None,
    since: Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"])] = None,
) -> Printout:
    """Tell what language models were asked for and what it cost, by turns, each kind of job and prompt.

    Parameters
    ----------
    student : whose; all students by default
    since : from this day on (UTC)
    """
    from graphmem.jobs.health import spent_by_kind

    by_kind = await spent_by_kind(gm, institution, student, since and since.replace(tzinfo=UTC))
    found: dict[str, dict[str, Any]] = {kind: asdict(usage) for kind, usage in by_kind.items()}
    found["all"] = asdict(sum(by_kind.values(), Usage()))
    by_prompt = {f"{each['prompt']} *": each for each in found["all"]["prompts"]}
    row = "{calls:,} calls, {input_tokens:,} + {output_tokens:,} tokens, {cost:.4f} dollars"
    lines = [f"{kind:>12}  {row.format(**each)}" for kind, each in (found | by_prompt).items()]
    return Printout(found, lines + ["* of all, by prompt"] * bool(by_prompt))


@cli_command("token")
async def token_command(
    settings: Settings,
    institution: str,
    role: Role | None = None,
    ttl: float | None = None,
    student: str | None = None,
    service: str | None = None,
    list_all: Annotated[bool, typer.Option("--list")] = False,
    revoke: str | None = None,
) -> Printout:
    """Print a bearer token, nothing else; or list or revoke service tokens.

    Parameters
    ----------
    role : what the bearer may do
    ttl : seconds until it expires; by default an hour, of a service token a year
    student : the only student that it reaches, of role app
    service : of this service: lives long, is listed, can be revoked
    list_all : instead: list the institution's service tokens
    revoke : instead: revoke the service token of this id
    """
    from graphmem.app import server_secret
    from graphmem.bearer import make_token
    from graphmem.flows.students import issue_token, list_tokens, revoke_token
    from graphmem.runtime import open_graphmem

    if role is None and not list_all and revoke is None:
        raise InvalidInput("Say what the bearer may do: --role app, teacher, auditor, analyst or admin.")
    if student is not None and service is not None:
        raise InvalidInput("A service token reaches every student: leave out --service or --student.")
    makes = role if not list_all and revoke is None else None
    if makes is not None and service is None:
        seconds, now = 3600.0 if ttl is None else ttl, datetime.now(UTC)
        token = make_token(server_secret(settings), institution, makes, seconds, now, student_id=student)
        return Printout(token, [token])
    async with open_graphmem(settings, say=say, background=False) as gm:
        if makes is not None and service is not None:
            token, _ = await issue_token(gm, institution, makes, service, None if ttl is None else ttl / DAY_SECONDS)
            return Printout(token, [token])
        found = (
            await list_tokens(gm, institution)
            if list_all or not revoke
            else [await revoke_token(gm, institution, revoke)]
        )
    lines = [
        f"{each.id}  {each.role:<8} {each.name}  made {each.created_at:%Y-%m-%d}, expires {each.expires_at:%Y-%m-%d}, "
        + (f"used {each.used_at:%Y-%m-%dT%H:%M}" if each.used_at else "never used")
        + (f", revoked {each.revoked_at:%Y-%m-%dT%H:%M}" if each.revoked_at else "")
        for each in found
    ]
    return Printout(found, lines or ["There are no service tokens."])


@cli_command("webhook")
async def webhook_command(settings: Settings, institution: str, test: bool = False) -> None:
    """Print the secret by which an institution's webhook checks signatures.

    Parameters
    ----------
    test : send it a notice of type `test`, and tell what came of it
    """
    from graphmem.app import server_secret
    from graphmem.jobs.webhooks import webhook_secret

    if not test:
        typer.echo(webhook_secret(server_secret(settings), institution))
        return
    await send_trial(settings, institution)
    typer.echo("The webhook has taken the notice.")


async def send_trial(settings: Settings, institution: str) -> None:
    """Send a notice of type `test`.

    Raises
    ------
    SetupError      the institution has no webhook, or it did not take the notice
    """
    import httpx

    from graphmem.app import server_secret
    from graphmem.jobs.webhooks import post

    if institution not in settings.webhooks:
        raise SetupError(f"{institution} has no webhook: set GRAPHMEM_WEBHOOKS.")
    notice = {"type": "test", "data": {"institution": institution}}
    async with httpx.AsyncClient(timeout=WEBHOOK_SECONDS, follow_redirects=False, trust_env=False) as http:
        error = await post(settings, server_secret(settings), http, Who(institution, ""), "test", notice)
    if error:
        raise SetupError(error)


@cli_command("backup")
async def backup_command(settings: Settings, file: Path) -> Printout:
    """Back up the configured Neo4j, all students of all institutions, while it is used.

    Parameters
    ----------
    file : a new file, compressed
    """
    from graphmem.commands.backup import backup

    return Printout.counted(f"{file.name} holds", await backup(settings, file, say))


@cli_command("restore")
async def restore_command(settings: Settings, file: ExistingFile) -> Printout:
    """Restore a backup into the configured Neo4j, which must be empty; what was cut short is begun again.

    Parameters
    ----------
    file : a file that `backup` wrote
    """
    from graphmem.commands.backup import restore

    return Printout.counted("Restored:", await restore(settings, file, say))


@cli_command("import-world")
async def import_world_command(
    gm: "Graphmem", institution: str, file: str, world: str = "main", replace: bool = False
) -> Printout:
    """Import concepts and edges into the world of an institution; checked first, safe to repeat.

    Parameters
    ----------
    file : CSV, JSON as importWorld takes it, or mathematics, which ships
    world : which of the institution's worlds it is
    replace : remove what the file lacks, of this world
    """
    from graphmem.flows.world import find_world, import_world, read_world

    def progress(done: int, total: int) -> None:
        if sys.stderr.isatty():
            say(f"{done} of {total} changes written")

    draft = read_world(find_world(file))
    found = asdict(await import_world(gm, institution, draft, name=world, replace=replace, progress=progress))
    return Printout.counted(f"The world of {institution} holds these now:", found)


@cli_command("query")
async def query_command(
    settings: Settings,
    institution: str,
    name: Annotated[str | None, typer.Argument()] = None,
    param: list[str] | None = None,
) -> Printout:
    """Run a query for analysts, which reads structure and numbers; without a name, list them.

    Parameters
    ----------
    name : which one; without it they are listed
    param : a parameter, as name=value
    """
    from graphmem.commands.operation import run_query, table
    from graphmem.flows.analysis import declared, list_queries

    if name is not None:
        rows = await run_query(settings, name, param or [], institution, say)
        return Printout(rows, [table(rows, shutil.get_terminal_size().columns if sys.stdout.isatty() else None)])
    known = [
        {"name": each, "description": query.description, "params": declared(query)}
        for each, query in list_queries().items()
    ]
    return Printout(
        known, [f"{each['name']}  ({', '.join(each['params'])})\n    {each['description']}" for each in known]
    )


@cli_command("reembed")
async def reembed_command(settings: Settings) -> None:
    """Change the embedding model of a database to the configured one; can be interrupted and repeated.

    A student's embeddings are sealed: they are dropped here, batch by batch, and made again when the student is next
    unlocked. The model is recorded last, so an interrupted run is simply run again. Concepts are embedded at once.
    """
    from graphmem.flows.world import embed_world
    from graphmem.runtime import open_graph
    from graphmem.store import schema
    from graphmem.store.world import drop_concept_embeddings, list_institutions
    from graphmem.text.embedder import make_embedder

    async def progress(done: int) -> None:
        say(f"{done} concepts embedded")

    embedder, dropped = make_embedder(settings), 0
    try:
        async with open_graph(settings, say) as graph:
            await schema.check_server(graph)
            held = await schema.find_held(graph)
            if held and (held["embedder"], held["dimension"]) == (embedder.name, embedder.dimension):
                say(f"Nothing to do: this database holds embeddings of {embedder.name}.")
                return
            for batches in (schema.drop_embeddings(graph, STUDENTS_AT_A_TIME), drop_concept_embeddings(graph)):
                async for changed in batches:
                    dropped += changed
                    say(f"{dropped} embeddings dropped")
            for institution in await list_institutions(graph):
                await embed_world(graph, embedder, institution, progress)
            await schema.set_embedder(graph, embedder.name, embedder.dimension, datetime.now(UTC))
            say(f"This database now holds embeddings of {embedder.name}; students get theirs at their next session.")
    finally:
        await embedder.aclose()


@cli_command("bench")
def bench_command(
    settings: Settings,
    name: Annotated[str, typer.Argument(help=", ".join(BENCHMARKS))],
    file: Annotated[Path | None, typer.Argument()] = None,
) -> Printout:
    """Run a benchmark and print its figures.

    Parameters
    ----------
    file : data to use instead of the shipped samples
    """
    figures = run_benchmark(name, settings, file)
    return Printout({"benchmark": name, "result": figures}, figure_lines(figures))


@cli_command("experiment")
def experiment_command(
    settings: Settings,
    name: str,
    file: ExistingFile,
    conversations: int | None = None,
    seed: Annotated[int, typer.Option(min=0)] = 7,
) -> Printout:
    """Compare how often expectations come true with memory and without, on real dialogues, in a throwaway database.

    Parameters
    ----------
    name : voe: violation of expectation, with what is remembered and without
    file : dialogues, one JSON object a line
    conversations : how many an arm, drawn by student; all by default
    seed : of the draw and of the random messages
    """
    from graphmem.bench.voe import run_experiment

    if name != "voe":
        raise InvalidInput(f"There is no experiment {name}: there is voe.")
    about = {"experiment": name, "file": file.name, "model": settings.model, "seed": seed}
    figures = run_experiment(settings, file, conversations, seed)
    head = ", ".join(f"{key} {value}" for key, value in about.items())
    return Printout(about | {"result": figures}, [head, *figure_lines(figures)])


@cli_command("demo")
def demo_command(
    settings: Settings,
    as_json: bool,
    dialogues: Annotated[Path | None, typer.Option(exists=True, dir_okay=False)] = None,
) -> None:
    """The main job: real tutoring dialogues over HTTP, and what was predicted, learned and remembered, on a page.

    Parameters
    ----------
    dialogues : other dialogues than the shipped ones
    """
    from graphmem.commands.demo import demonstrate

    demonstrate(settings, dialogues, as_json=as_json)


@cli_command("plot")
async def plot_command(
    gm: "Graphmem",
    who: Who,
    password_stdin: bool,
    out: Annotated[Path, typer.Option()],
    overlay: bool = False,
    name_frontier: bool = False,
    structure: bool = False,
    memories: Annotated[int, typer.Option(min=1, max=150)] = 40,
) -> None:
    """Draw a picture of a student's memory graph, or of the overlay on the world.

    Parameters
    ----------
    out : the picture: .svg, .png or .pdf
    overlay : instead: what the student knows of the world; no password
    name_frontier : name what could come next, too; not for the student's eyes
    structure : no word of anybody; no password
    memories : most memories, the most present ones
    """
    from graphmem.commands.plot import checked_picture, memory_figure, overlay_figure, save_figure

    file = checked_picture(out)
    if overlay:
        figure = await overlay_figure(gm, who, name_frontier=name_frontier)
    else:
        password = None if structure else await asyncio.to_thread(read_password, password_stdin)
        figure = await memory_figure(gm, who, password, memories)
    save_figure(figure, file)
    typer.echo(f"{file}: {file.stat().st_size / 1000:.0f} kB")


@cli_command("inspect")
def inspect_command(settings: Settings, who: Who, password: str) -> None:
    """Put a readable copy of a student into a Neo4j of its own, for Neo4j Browser; Enter removes it again."""
    from graphmem.commands.backup import show_copy

    show_copy(settings, who, password, say)


def typed_params(types: Mapping[str, str], typed: Sequence[str]) -> dict[str, Any]:
    """Return the values of parameters that were typed as `name=value`, numbers and maps as JSON has them.

    Raises
    ------
    InvalidInput    one has no value, or is given twice

    Examples
    --------
    >>> typed_params({"student_id": "str", "limit": "int"}, ["student_id=7", "limit=5"])
    {'student_id': '7', 'limit': 5}
    """
    given: dict[str, Any] = {}
    for each in typed:
        name, equals, value = each.partition("=")
        if not equals:
            raise InvalidInput(f"--param {each} will not do: write name=value.")
        if name in given:
            raise InvalidInput(f"--param {name} is given twice.")
        given[name] = value
        if types.get(name) in ("int", "float", "map"):
            try:
                given[name] = json.loads(value)
            except ValueError:
                # A text is of another type, which is told with the types that are wanted.
                continue
    return given


async def run_query(
    settings: Settings, name: str, typed: Sequence[str], institution: str, say: Say
) -> list[dict[str, Any]]:
    """Return the rows of a named query, in plain values.

    Parameters
    ----------
    settings : Settings
    name : str, of a file in `cypher/analyst`
    typed : `name=value` each
    institution : str
    say : told while the local Neo4j starts

    Raises
    ------
    NotFound        there is no such query
    InvalidInput    its parameters will not do
    Unavailable     Neo4j does not answer

    Source: spec 18.
    """
    query = list_queries().get(name)
    params = typed_params({} if query is None else declared(query), typed)
    async with open_graph(settings, say) as graph:
        return (await analyse(graph, institution, name, params, most=None)).rows


def table(rows: Sequence[Mapping[str, Any]], width: int | None = None) -> str:
    """Return rows as text: a table, or where that is wider than `width` characters, row by row.

    Examples
    --------
    >>> print(table([{"type": "ABOUT", "edges": 2}, {"type": "EVOKES", "edges": 11}]))
    type    edges
    ABOUT   2
    EVOKES  11
    >>> print(table([{"type": "ABOUT", "edges": 2}], width=8))
    type   ABOUT
    edges  2
    """
    if not rows:
        return "no rows"
    names = list(rows[0])
    lines = [names, *([_cell(row[name]) for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    if width is not None and sum(widths) + 2 * len(widths) - 2 > width:
        longest = max(map(len, names))
        blocks = [
            [f"{name:<{longest}}  {cell}".rstrip() for name, cell in zip(names, row, strict=True)] for row in lines[1:]
        ]
        return "\n\n".join("\n".join(block) for block in blocks)
    return "\n".join("  ".join(f"{c:<{w}}" for c, w in zip(line, widths, strict=True)).rstrip() for line in lines)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return ", ".join(map(_cell, value))
    return "" if value is None else json.dumps(value) if isinstance(value, dict) else str(value)
