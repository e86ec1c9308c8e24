"""The command line: every command parses, calls and prints."""

import asyncio
import getpass
import json
import os
import shutil
import sys
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import ValidationError

from graphmem import __version__
from graphmem.bench import BENCHMARKS, run_benchmark
from graphmem.errors import GraphmemError, InvalidInput
from graphmem.logs import set_up_logging
from graphmem.model import JobState, Role, Who
from graphmem.settings import Settings, misspelt

T = TypeVar("T")

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

Institution = Annotated[str, typer.Option(help="whose students")]
AsJson = Annotated[bool, typer.Option("--json", help="one JSON document on standard output")]
PasswordStdin = Annotated[bool, typer.Option("--password-stdin", help="read the password from standard input")]


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"graphmem {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    """graphmem: an AI tutor's lasting memory of each student, kept as a graph in Neo4j."""


@app.command("up")
def up_command() -> None:
    """Start the local Neo4j; fetched at the first start."""
    from graphmem.local import server

    found = server.up(load_settings(), say)
    typer.echo(f"Neo4j is up at {found.bolt_uri}, user {found.user}, password {found.password}")
    typer.echo(f"Neo4j Browser: {found.browser_url}")


@app.command("down")
def down_command() -> None:
    """Stop the local Neo4j."""
    from graphmem.local import server

    stopped = server.down(load_settings(), say)
    typer.echo("Neo4j is stopped." if stopped else "Neo4j was not running.")


@app.command("status")
def status_command(as_json: AsJson = False) -> None:
    """Tell whether the local Neo4j runs, where, and how large it is."""
    from graphmem.local import server
    from graphmem.local.copies import remove_left_copy

    settings = load_settings()
    remove_left_copy(settings, say)
    found = asdict(server.status(settings))
    if as_json:
        typer.echo(json.dumps(found, default=str))
    else:
        for name, value in found.items():
            typer.echo(f"{name:>12}  {value}")


@app.command("doctor")
def doctor_command(
    as_json: AsJson = False,
    junk: Annotated[str | None, typer.Option(help="instead: the junk rate of this student's memories")] = None,
    institution: Institution = "demo",
    password_stdin: PasswordStdin = False,
) -> None:
    """Check Java, database, schema, embedder, mind, keys, broker and jobs, each with its remedy; or look for junk."""
    from graphmem.commands.doctor import examine
    from graphmem.commands.memories import junk_of

    if junk is not None:
        password = read_password(password_stdin)
        found = run(lambda gm: junk_of(gm, Who(institution, junk), password))
        for name, value in found.items():
            if not as_json:
                typer.echo(f"{name:>10}  {value:.2%}" if isinstance(value, float) else f"{name:>10}  {value}")
        if as_json:
            typer.echo(json.dumps(found))
        return

    findings = asyncio.run(examine(load_settings()))
    if as_json:
        typer.echo(json.dumps([asdict(f) for f in findings]))
    else:
        for finding in findings:
            typer.echo(f"{'ok ' if finding.ok else 'BAD'} {finding.part:<10} {finding.detail}")
    raise typer.Exit(0 if all(f.ok for f in findings) else 1)


@app.command("serve")
def serve_command(
    host: Annotated[str, typer.Option(help="address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="port to listen on")] = 8000,
) -> None:
    """Serve the API; starts the local Neo4j when GRAPHMEM_NEO4J_URI is not set."""
    from graphmem.commands.serve import serve

    serve(load_settings(), host, port, say)


@app.command("worker")
def worker_command(
    concurrency: Annotated[int, typer.Option(min=1, help="students whose jobs are run side by side")] = 4,
) -> None:
    """Run background jobs on this machine, until told to stop; several workers share the work."""
    from graphmem.commands.worker import work

    work(load_settings(), concurrency, say)


@app.command("jobs")
def jobs_command(
    student: Annotated[str | None, typer.Argument(help="whose jobs; all students by default")] = None,
    state: Annotated[JobState | None, typer.Option(help="only jobs that stand so")] = None,
    first: Annotated[int, typer.Option(help="most jobs")] = 100,
    retry: Annotated[str | None, typer.Option(help="instead: start the dead job of this id again")] = None,
    institution: Institution = "demo",
    as_json: AsJson = False,
) -> None:
    """List background jobs, newest first, or start a dead one again."""
    from graphmem.commands.jobs import list_jobs, retry_job

    found = run(
        lambda gm: retry_job(gm, institution, retry) if retry else list_jobs(gm, institution, student, state, first)
    )
    if as_json:
        typer.echo(json.dumps(found))
        return
    for job in found["jobs"]:
        failed = f"  failed {job['attempts']} times: {job['error']}" if job["error"] else ""
        typer.echo(f"{job['created_at']}  {job['state']:<8} {job['kind']:<8} {job['id']}{failed}")
    typer.echo(f"{len(found['jobs'])} of {found['total']} jobs")


@app.command("usage")
def usage_command(
    student: Annotated[str | None, typer.Argument(help="whose; all students by default")] = None,
    since: Annotated[datetime | None, typer.Option(help="from this day on (UTC)", formats=["%Y-%m-%d"])] = None,
    institution: Institution = "demo",
    as_json: AsJson = False,
) -> None:
    """Tell what language models were asked for and what it cost, by turns, each kind of job and prompt."""
    from graphmem.commands.jobs import spent

    found = run(lambda gm: spent(gm, institution, student, since and since.replace(tzinfo=UTC)))
    if as_json:
        typer.echo(json.dumps(found))
        return
    by_prompt = {f"{each['prompt']} *": each for each in found["all"]["prompts"]}
    for kind, each in (found | by_prompt).items():
        typer.echo(
            f"{kind:>12}  {each['calls']:,} calls, {each['input_tokens']:,} + {each['output_tokens']:,} tokens, "
            f"{each['cost']:.4f} dollars"
        )
    if by_prompt:
        typer.echo("* of all, by prompt")


@app.command("token")
def token_command(
    role: Annotated[Role | None, typer.Option(help="what the bearer may do")] = None,
    institution: Institution = "demo",
    ttl: Annotated[
        float | None, typer.Option(help="seconds until it expires; by default an hour, of a service token a year")
    ] = None,
    service: Annotated[str | None, typer.Option(help="of this service: lives long, is listed, can be revoked")] = None,
    list_all: Annotated[bool, typer.Option("--list", help="instead: list the institution's service tokens")] = False,
    revoke: Annotated[str | None, typer.Option(help="instead: revoke the service token of this id")] = None,
    as_json: AsJson = False,
) -> None:
    """Print a bearer token, nothing else; or list or revoke service tokens."""
    from graphmem.app import server_secret
    from graphmem.bearer import make_token
    from graphmem.commands.tokens import issued, listed, revoked, token_lines

    if list_all or revoke is not None:
        found = run(lambda gm: listed(gm, institution) if revoke is None else revoked(gm, institution, revoke))
        for line in [json.dumps(found)] if as_json else token_lines(found):
            typer.echo(line)
    elif role is None:
        raise InvalidInput("Say what the bearer may do: --role app, teacher, auditor, analyst or admin.")
    elif service is not None:
        typer.echo(run(lambda gm: issued(gm, institution, role, service, ttl)))
    else:
        seconds = 3600.0 if ttl is None else ttl
        typer.echo(make_token(server_secret(load_settings()), institution, role, seconds, datetime.now(UTC)))


@app.command("webhook")
def webhook_command(
    institution: Institution = "demo",
    test: Annotated[
        bool, typer.Option("--test", help="send it a notice of type `test`, and tell what came of it")
    ] = False,
) -> None:
    """Print the secret by which an institution's webhook checks signatures."""
    from graphmem.commands.webhook import secret_of, send_trial

    if not test:
        typer.echo(secret_of(load_settings(), institution))
        return
    asyncio.run(send_trial(load_settings(), institution))
    typer.echo("The webhook has taken the notice.")


@app.command("enrol")
def enrol_command(
    student: str,
    institution: Institution = "demo",
    display_name: Annotated[str | None, typer.Option(help="how the student is called")] = None,
    password_stdin: PasswordStdin = False,
) -> None:
    """Enrol a student; asks for the password that opens everything."""
    from graphmem.flows import students

    password = read_password(password_stdin, confirm=True)
    who = Who(institution, student)
    run(lambda gm: students.enrol(gm, who, password, display_name))
    typer.echo(f"{student} is enrolled at {institution}.")


@app.command("rotate-key")
def rotate_key_command(
    student: str,
    institution: Institution = "demo",
    end_sessions: Annotated[bool, typer.Option("--end-sessions", help="end the student's running sessions")] = False,
    password_stdin: PasswordStdin = False,
) -> None:
    """Replace a student's key by a new random one and seal everything anew; the password stays."""
    from graphmem.flows import students

    password, who = read_password(password_stdin), Who(institution, student)
    values = run(lambda gm: students.rotate_key(gm, who, password, end_sessions=end_sessions))
    typer.echo(f"The key of {student} is a new one: {values} values were sealed anew.")


@app.command("recovery-key")
def recovery_key_command(
    folder: Annotated[Path, typer.Argument(help="where the secret half is written, made if missing")],
    shares: Annotated[int, typer.Option(help="split it into so many shares, 2 to 16", min=1, max=16)] = 1,
    needed: Annotated[int | None, typer.Option(help="so many of them are needed; all by default", min=1)] = None,
) -> None:
    """Make a recovery key, with which an institution can set new passwords of its students from then on."""
    from graphmem.commands.recovery import make_recovery_key

    public, files = make_recovery_key(folder, shares, shares if needed is None else needed)
    typer.echo("\n".join(f"written: {file}" for file in files))
    typer.echo(f"The public half, for GRAPHMEM_RECOVERY_KEYS: {public}")


@app.command("recover")
def recover_command(
    student: str,
    key: Annotated[
        list[Path], typer.Option(help="the recovery key, or a share of it (several times)", exists=True, dir_okay=False)
    ],
    institution: Institution = "demo",
    password_stdin: PasswordStdin = False,
) -> None:
    """Set a new password of a student with the institution's recovery key; what is remembered stays."""
    from graphmem.commands.recovery import read_recovery_key
    from graphmem.flows.recovery import recover_student

    recovery_key, who = read_recovery_key(key), Who(institution, student)
    password = read_password(password_stdin, confirm=True)
    run(lambda gm: recover_student(gm, who, recovery_key, password))
    typer.echo(f"{student} has a new password. The student's `recoveries` tell when it was set.")


@app.command("erase")
def erase_command(
    student: str,
    institution: Institution = "demo",
    yes: Annotated[bool, typer.Option("--yes", help="do not ask before")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase a student: all that is kept, the key first. Nothing of it can be brought back."""
    from graphmem.flows.erasure import erase_student

    if not yes and sys.stdin.isatty():
        typer.confirm(f"Erase all that is kept of {student} at {institution}?", abort=True)
    erased = asdict(run(lambda gm: erase_student(gm, Who(institution, student))))
    echo_erased(f"{student} is erased", erased, as_json=as_json)


@app.command("export")
def export_command(
    student: str,
    out: Annotated[Path | None, typer.Option(help="a new file; standard output by default")] = None,
    institution: Institution = "demo",
    password_stdin: PasswordStdin = False,
) -> None:
    """Give out all that is kept of a student, readable, as one JSON document."""
    from graphmem.commands.export import export_to, new_file

    password = read_password(password_stdin)
    with nullcontext(sys.stdout) if out is None else new_file(out) as file:
        run(lambda gm: export_to(gm, Who(institution, student), password, file))


@app.command("import")
def import_command(
    file: Annotated[Path, typer.Argument(help="a document that `export` wrote", exists=True, dir_okay=False)],
    student: Annotated[str | None, typer.Option(help="id of the new student; by default the exported one's")] = None,
    institution: Institution = "demo",
    skip_unknown: Annotated[
        bool, typer.Option("--skip-unknown", help="leave out concepts that the institution's world does not have")
    ] = False,
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Make an exported student anew, sealed with a new key that the new password opens; all of it or nothing."""
    from graphmem.commands.export import read_file
    from graphmem.flows.import_plan import read_document
    from graphmem.flows.student_import import import_student

    document = read_file(file)
    who = Who(institution, student or read_document(document).document.student_id)
    password = read_password(password_stdin, confirm=True)
    done = run(lambda gm: import_student(gm, who, password, document, skip_unknown=skip_unknown))
    counts = {name: getattr(done, name) for name in ("nodes", "edges", "left_out", "repeated")}
    if as_json:
        typer.echo(json.dumps({"student": who.student_id, "institution": institution} | counts))
    elif done.repeated:
        typer.echo(f"{who.student_id} had been imported from this document before; nothing was changed.")
    else:
        left_out = f", {done.left_out} left out" if done.left_out else ""
        typer.echo(f"{who.student_id} is imported at {institution}: {done.nodes} nodes, {done.edges} edges{left_out}.")


@app.command("backup")
def backup_command(
    file: Annotated[Path, typer.Argument(help="a new file, compressed")],
    as_json: AsJson = False,
) -> None:
    """Back up the configured Neo4j, all students of all institutions, while it is used."""
    from graphmem.commands.backup import backup

    found = asdict(asyncio.run(backup(load_settings(), file, say)))
    told = ", ".join(f"{count} {kind}" for kind, count in found.items())
    typer.echo(json.dumps(found) if as_json else f"{file.name} holds {told}.")


@app.command("restore")
def restore_command(
    file: Annotated[Path, typer.Argument(help="a file that `backup` wrote", exists=True, dir_okay=False)],
    as_json: AsJson = False,
) -> None:
    """Restore a backup into the configured Neo4j, which must be empty; what was cut short is begun again."""
    from graphmem.commands.backup import restore

    found = asdict(asyncio.run(restore(load_settings(), file, say)))
    told = ", ".join(f"{count} {kind}" for kind, count in found.items())
    typer.echo(json.dumps(found) if as_json else f"Restored: {told}.")


@app.command("import-world")
def import_world_command(
    file: Annotated[str, typer.Argument(help="CSV, JSON as importWorld takes it, or mathematics, which ships")],
    institution: Institution = "demo",
    world: Annotated[str, typer.Option(help="which of the institution's worlds it is")] = "main",
    replace: Annotated[bool, typer.Option("--replace", help="remove what the file lacks, of this world")] = False,
    as_json: AsJson = False,
) -> None:
    """Import concepts and edges into the world of an institution; checked first, safe to repeat."""
    from graphmem.flows.world import import_world
    from graphmem.flows.world_file import find_world, read_world

    draft = read_world(find_world(file))

    def shown(done: int, total: int) -> None:
        if sys.stderr.isatty():
            say(f"{done} of {total} changes written")

    found = asdict(run(lambda gm: import_world(gm, institution, draft, name=world, replace=replace, progress=shown)))
    told = ", ".join(f"{count} {kind}" for kind, count in found.items())
    typer.echo(json.dumps(found) if as_json else f"The world of {institution} holds these now: {told}.")


@app.command("chat")
def chat_command(student: str, institution: Institution = "demo", password_stdin: PasswordStdin = False) -> None:
    """Talk with the companion as a student; an empty line ends the session."""
    from graphmem.commands.chat import talk

    password = read_password(password_stdin)
    run(lambda gm: talk(gm, Who(institution, student), password, typer.echo))


@app.command("replay")
def replay_command(
    file: Annotated[Path, typer.Argument(help="dialogues, one JSON object a line", exists=True, dir_okay=False)],
    student: Annotated[str, typer.Option(help="who is to have said it")] = "replayed",
    institution: Institution = "demo",
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Put recorded dialogues through handleTurn, the tutor's turns as replies; safe to repeat."""
    from graphmem.commands.replay import replay

    password = read_password(password_stdin)
    report = run(lambda gm: replay(gm, Who(institution, student), password, file))
    typer.echo(json.dumps(asdict(report)) if as_json else str(report))


@app.command("observe")
def observe_command(
    file: Annotated[Path, typer.Argument(help="observations, one JSON object a line", exists=True, dir_okay=False)],
    student: Annotated[str, typer.Option(help="whom they are about")],
    institution: Institution = "demo",
    as_json: AsJson = False,
) -> None:
    """Note lessons, remarks and other speakers' words, also for a locked student; safe to repeat."""
    from graphmem.commands.memories import note

    noted = run(lambda gm: note(gm, Who(institution, student), file))
    typer.echo(json.dumps({"noted": noted}) if as_json else f"{noted} observations are noted for {student}.")


@app.command("recall")
def recall_command(
    student: str,
    query: str,
    limit: Annotated[int, typer.Option(help="most memories")] = 20,
    institution: Institution = "demo",
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Tell what would be recalled for a question, and why."""
    from graphmem.commands.memories import recall

    password = read_password(password_stdin)
    found = run(lambda gm: recall(gm, Who(institution, student), password, query, limit))
    if as_json:
        typer.echo(json.dumps(found))
    else:
        for each in found:
            typer.echo(f"{each['weight']:.2f}  [{each['modality']}] {each['content']}  ({', '.join(each['why'])})")


@app.command("reveal")
def reveal_command(
    student: str,
    concepts: Annotated[list[str] | None, typer.Argument(help="ids of concepts of the world")] = None,
    through_grade: Annotated[int | None, typer.Option(help="every concept of this and lower grades, too")] = None,
    institution: Institution = "demo",
    password_stdin: PasswordStdin = False,
) -> None:
    """Reveal concepts of the world to a student, so that the companion may speak of them."""
    from graphmem.commands.reveal import revealed

    who, password = Who(institution, student), read_password(password_stdin)
    known = run(lambda gm: revealed(gm, who, password, concepts or (), through_grade))
    typer.echo(f"{student} knows {known} concepts now.")


@app.command("plot")
def plot_command(
    student: str,
    out: Annotated[Path, typer.Option(help="the picture: .svg, .png or .pdf")],
    overlay: Annotated[
        bool, typer.Option("--overlay", help="instead: what the student knows of the world; no password")
    ] = False,
    name_frontier: Annotated[
        bool, typer.Option("--name-frontier", help="name what could come next, too; not for the student's eyes")
    ] = False,
    structure: Annotated[bool, typer.Option("--structure", help="no word of anybody; no password")] = False,
    memories: Annotated[int, typer.Option(min=1, max=150, help="most memories, the most present ones")] = 40,
    institution: Institution = "demo",
    password_stdin: PasswordStdin = False,
) -> None:
    """Draw a picture of a student's memory graph, or of the overlay on the world."""
    from graphmem.commands.plot import checked_picture, memory_figure, overlay_figure, save_figure

    file, who = checked_picture(out), Who(institution, student)
    if overlay:
        figure = run(lambda gm: overlay_figure(gm, who, name_frontier=name_frontier))
    else:
        password = None if structure else read_password(password_stdin)
        figure = run(lambda gm: memory_figure(gm, who, password, memories))
    save_figure(figure, file)
    typer.echo(f"{file}: {file.stat().st_size / 1000:.0f} kB")


@app.command("inspect")
def inspect_command(student: str, institution: Institution = "demo", password_stdin: PasswordStdin = False) -> None:
    """Put a readable copy of a student into a Neo4j of its own, for Neo4j Browser; Enter removes it again."""
    from graphmem.commands.guide import served_guide
    from graphmem.commands.inspect import copy_database, copy_link, fill_copy, readable_student

    settings, password = load_settings(), read_password(password_stdin)
    document = run(lambda gm: readable_student(gm, Who(institution, student), password))
    with copy_database(settings, say) as (own, neo4j), served_guide(institution, student) as guide:
        asyncio.run(fill_copy(own, document, say))
        typer.echo(f"{copy_link(neo4j)}\nuser {neo4j.user}, password {neo4j.password}")
        typer.echo(f"For colours run `:style {guide}/style.grass` there, for a tour `:play {guide}/guide.html`.")
        typer.echo("Press Run there. Every word is readable in this copy: press Enter here to remove it.")
        sys.stdin.readline()
    typer.echo("The copy is removed.")


@app.command("forget")
def forget_command(
    student: str,
    memory: Annotated[str, typer.Argument(help="id of the memory, as `recall --json` tells it")],
    institution: Institution = "demo",
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Forget a memory and what it fed, for good: facts, episodes, ledger entries, questions, raw turns."""
    from graphmem.commands.memories import forgotten

    password = read_password(password_stdin)
    erased = asdict(run(lambda gm: forgotten(gm, Who(institution, student), password, memory)))
    echo_erased(f"{memory} is forgotten", erased, as_json=as_json)


def echo_erased(said: str, erased: dict[str, int], *, as_json: bool) -> None:
    """Print how much was deleted."""
    told = ", ".join(f"{count} {kind}" for kind, count in erased.items() if count)
    typer.echo(json.dumps(erased) if as_json else f"{said}: {told}.")


@app.command("query")
def query_command(
    name: Annotated[str | None, typer.Argument(help="which one; without it they are listed")] = None,
    param: Annotated[list[str] | None, typer.Option(help="a parameter, as name=value")] = None,
    institution: Institution = "demo",
    as_json: AsJson = False,
) -> None:
    """Run a query for analysts, which reads structure and numbers; without a name, list them."""
    from graphmem.commands import query as queries
    from graphmem.flows.analysis import list_queries

    if name is None:
        known = queries.described(list_queries())
        for each in known if not as_json else ():
            typer.echo(f"{each['name']}  ({', '.join(each['params'])})\n    {each['description']}")
    else:
        known = asyncio.run(queries.run_query(load_settings(), name, param or [], institution, say))
        if not as_json:
            width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
            typer.echo(queries.table(known, width))
    if as_json:
        typer.echo(json.dumps(known))


@app.command("compress")
def compress_command(
    student: str,
    preview: Annotated[bool, typer.Option("--preview", help="only tell what would be done")] = False,
    to: Annotated[int | None, typer.Option(help="memories to be left; by default 0.618 of the limit")] = None,
    institution: Institution = "demo",
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Make a student's memories fewer: prune what has faded, merge what belongs together."""
    from graphmem.commands.compress import compressed, compression_line

    password = read_password(password_stdin)
    done = run(lambda gm: compressed(gm, Who(institution, student), password, preview, to))
    typer.echo(json.dumps(asdict(done), default=str) if as_json else compression_line(done))


@app.command("verify")
def verify_command(
    student: Annotated[str | None, typer.Argument(help="whose data; all students by default; no password")] = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="take what is there for what graphmem wrote, whoever wrote it")
    ] = False,
    institution: Institution = "demo",
    as_json: AsJson = False,
) -> None:
    """Name what was altered, removed or added by hand in the database; ends with 1 where something was."""
    from graphmem.commands.verify import integrity_lines, verified

    found = run(lambda gm: verified(gm, institution, student, accept=accept))
    if as_json:
        typer.echo(json.dumps({name: asdict(each) for name, each in found.items()}))
    else:
        typer.echo("\n".join(line for name, each in found.items() for line in integrity_lines(name, each)))
    if not all(each.intact for each in found.values()):
        raise typer.Exit(1)


@app.command("drift")
def drift_command(
    student: Annotated[str | None, typer.Argument(help="whose memories; all students by default")] = None,
    institution: Institution = "demo",
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="read the student's password: then contradictions are sought, too")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a drift cycle: memories fade; with the password jobs are done, contradictions sought, memories compressed."""
    from graphmem.commands.drift import drift, drift_lines

    if password_stdin and student is None:
        raise InvalidInput("Name the student whose password it is.")
    password = read_password(password_stdin) if password_stdin else None
    report = run(lambda gm: drift(gm, institution, student, password))
    if as_json:
        typer.echo(json.dumps(asdict(report), default=str))
    else:
        typer.echo("\n".join(drift_lines(report, read=password is not None)))


@app.command("demo")
def demo_command(
    as_json: AsJson = False,
    dialogues: Annotated[
        Path | None, typer.Option(help="other dialogues than the shipped ones", exists=True, dir_okay=False)
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="every turn: expected, said, measured, recalled")] = False,
) -> None:
    """The main job: real tutoring dialogues over HTTP, and what was predicted, learned and remembered, on a page."""
    from graphmem.commands.demo import demonstrate

    demonstrate(load_settings(), dialogues, as_json=as_json, verbose=verbose)


@app.command("reembed")
def reembed_command() -> None:
    """Change the embedding model of a database to the configured one; can be interrupted and repeated."""
    from graphmem.commands.reembed import reembed

    asyncio.run(reembed(load_settings(), say))


@app.command("bench")
def bench_command(
    name: Annotated[str, typer.Argument(help=", ".join(BENCHMARKS))],
    file: Annotated[Path | None, typer.Argument(help="data to use instead of the shipped samples")] = None,
    as_json: AsJson = False,
) -> None:
    """Run a benchmark and print its figures."""
    run_benchmark(load_settings(), name, file, as_json=as_json)


@app.command("experiment")
def experiment_command(
    name: Annotated[str, typer.Argument(help="voe: violation of expectation, with what is remembered and without")],
    file: Annotated[Path, typer.Argument(help="dialogues, one JSON object a line", exists=True, dir_okay=False)],
    conversations: Annotated[int | None, typer.Option(help="how many an arm, drawn by student; all by default")] = None,
    seed: Annotated[int, typer.Option(min=0, help="of the draw and the bootstrap")] = 7,
    as_json: AsJson = False,
) -> None:
    """Compare how often expectations come true with memory and without, on real dialogues, in a throwaway database."""
    from graphmem.commands.experiment import run_experiment

    run_experiment(load_settings(), name, file, conversations, seed, as_json=as_json)


def load_settings() -> Settings:
    """The settings of the environment, by which logging is set up; InvalidInput says which one will not do."""
    try:
        settings = Settings()
    except ValidationError as e:
        wrong = [f"GRAPHMEM_{'_'.join(map(str, p['loc'])).upper()}: {p['msg']}" for p in e.errors()]
        raise InvalidInput("Settings will not do: " + "; ".join(wrong)) from e
    set_up_logging(settings.log_level, settings.log_format)
    return settings


def run(work: Callable[[Any], Coroutine[Any, Any, T]]) -> T:
    """Open graphmem, do one thing, close it again."""
    from graphmem.runtime import open_graphmem

    async def whole() -> T:
        async with open_graphmem(load_settings(), say=say, background=False) as gm:
            return await work(gm)

    return asyncio.run(whole())


def read_password(from_stdin: bool, *, confirm: bool = False) -> str:
    """A password typed twice or once on the terminal, or the first line of standard input."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\n")
    password = getpass.getpass("Password: ")
    if confirm and getpass.getpass("Once more: ") != password:
        raise InvalidInput("The two passwords differ.")
    return password


def say(line: str) -> None:
    """Tell a person what is going on, on standard error."""
    typer.echo(line, err=True)


def main() -> None:
    """Run a command; an error of ours is one line and exit code 1, not a traceback."""
    for name, meant in misspelt(sorted(os.environ)).items():
        say(f"graphmem: there is no setting {name}" + (f": did you mean {meant}?" if meant else "."))
    try:
        app()
    except GraphmemError as e:
        say(f"graphmem: {e}")
        sys.exit(1)
