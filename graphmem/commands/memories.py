"""Commands on a student's memories: talk, replay, observe, import, recall, forget, reveal, compress, drift."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer
from pydantic import TypeAdapter

from graphmem.commands.frame import ExistingFile, Printout, cli_command, read_password, say, unlocked
from graphmem.errors import Conflict, InvalidInput
from graphmem.exports import EXPORT_FORMATS, Chats, Turn, read_export
from graphmem.model import Observation, Session, SourceKind, TurnOutcome, Who

if TYPE_CHECKING:
    from graphmem.app import Graphmem
    from graphmem.flows.turn import Incoming
    from graphmem.samples.dialogues import Dialogue

OBSERVATIONS_AT_A_TIME = 100
"""Observations noted at once."""
REPLAY_GAP = timedelta(seconds=40)
"""Time between two messages of a recording without times."""


TURNS_AT_A_TIME = 20


@cli_command("chat")
async def chat_command(gm: "Graphmem", session: Session) -> None:
    """Talk with the companion as a student; an empty line ends the session."""
    from graphmem.flows.turn import Incoming, handle_turn

    if sys.stdin.isatty():
        typer.echo("Write what the student says; an empty line ends the session.")
    while line := (await _next_line()).strip():
        outcome = await handle_turn(gm, session, Incoming(uuid4().hex, line, gm.clock()))
        match = "nothing was expected" if outcome.match is None else f"match {outcome.match:.2f}"
        scores = f"surprise {outcome.surprise:.2f} {outcome.level}, importance {outcome.importance:.2f}"
        typer.echo(f"  ({match}, {scores})")
        if outcome.fact is not None:
            typer.echo(f"  (learned: {outcome.fact.text})")
        typer.echo(f"Companion: {outcome.reply}")


async def _next_line() -> str:
    if not sys.stdin.isatty():
        return await asyncio.to_thread(sys.stdin.readline)
    # A thread that reads a terminal would keep Ctrl-C waiting for Enter.
    typed, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_reader(sys.stdin, typed.set)
    try:
        await typed.wait()
    finally:
        loop.remove_reader(sys.stdin)
    return sys.stdin.readline()


@cli_command("replay")
async def replay_command(
    gm: "Graphmem", institution: str, password: str, file: ExistingFile, student: str = "replayed"
) -> Printout:
    """Put recorded dialogues through handleTurn, the tutor's turns as replies; safe to repeat.

    Parameters
    ----------
    file : dialogues, one JSON object a line
    student : who is to have said it
    """
    from graphmem.bench.talks import match_baselines
    from graphmem.flows.turn import handle_turn
    from graphmem.progress import tracked
    from graphmem.samples.dialogues import load_dialogues

    dialogues, outcomes, handled = load_dialogues(file), list[TurnOutcome](), 0
    async with unlocked(gm, Who(institution, student), password) as session:
        for dialogue in tracked(dialogues, "Replaying"):
            for incoming in incoming_turns(dialogue, gm.clock()):
                try:
                    outcomes.append(await handle_turn(gm, session, incoming))
                except Conflict:
                    handled += 1
    baselines = await match_baselines(gm, dialogues, seed=1)
    # Of this run's answered turns, repeated ones included.
    counts = {
        "dialogues": len(dialogues),
        "answered": sum(not o.repeated for o in outcomes),
        "repeated": sum(o.repeated for o in outcomes),
        "handled_before": handled,
        "expected": sum(o.matched is not None for o in outcomes),
        "matched": sum(o.matched is True for o in outcomes),
        "facts": sum(o.fact is not None for o in outcomes),
    }
    row = (
        "{dialogues} dialogues: {answered} turns answered, {repeated} had been answered in this session, "
        "{handled_before} in an earlier one; {matched} of {expected} expectations came true{beside}, "
        "{facts} facts learned."
    )
    named = {"parrot": "the message before", "random": "a random message"}
    would = [f"{named[name]} {rate:.0%}" for name, rate in baselines.items() if rate is not None]
    beside = f" ({', '.join(would)} would have)" if would else ""
    return Printout(counts | {"baselines": baselines}, [row.format(**counts, beside=beside)])


def incoming_turns(dialogue: "Dialogue", end: datetime) -> "Iterator[Incoming]":
    """Yield the student's messages of a dialogue that ends at `end`, with the tutor's real replies."""
    from graphmem.bench.talks import recorded_turn
    from graphmem.samples.dialogues import dialogue_turns

    turns = dialogue_turns(dialogue)
    for i, turn in enumerate(turns):
        # A turn's id is made of its dialogue and place: a replay that was cut short goes on where it stopped.
        yield recorded_turn(dialogue, i, turn, end - REPLAY_GAP * (len(turns) - 1 - i))


_OBSERVATION_LINE = TypeAdapter(Observation)


def read_observations(file: Path) -> Iterator[Observation]:
    """Read the observations of a JSON lines file: `{"ref", "speaker", "text", "at", "kind"}` each.

    Raises
    ------
    InvalidInput    a line is not one; the message says which
    """
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                told = {name: row[name] for name in ("ref", "text", "at", "speaker") if name in row}
                kind = SourceKind(row.get("kind", SourceKind.SYSTEM))
                found = _OBSERVATION_LINE.validate_python(told | {"kind": kind})
                if found.at.utcoffset() is None:
                    raise ValueError("a time without a zone")
            except (ValueError, TypeError, AttributeError) as e:
                raise InvalidInput(
                    f"Line {number} of {file.name} is not an observation: it needs ref, text and at (with time zone)."
                ) from e
            yield found


@cli_command("observe")
async def observe_command(
    gm: "Graphmem", institution: str, file: ExistingFile, student: Annotated[str, typer.Option()]
) -> Printout:
    """Note lessons, remarks and other speakers' words, also for a locked student; safe to repeat.

    Parameters
    ----------
    file : observations, one JSON object a line
    student : whom they are about
    """
    from graphmem.flows.observation import observe

    found = list(read_observations(file))
    for start in range(0, len(found), OBSERVATIONS_AT_A_TIME):
        await observe(gm, Who(institution, student), found[start : start + OBSERVATIONS_AT_A_TIME])
    return Printout({"noted": len(found)}, [f"{len(found)} observations are noted for {student}."])


@cli_command("recall")
async def recall_command(gm: "Graphmem", session: Session, query: str, limit: int = 20) -> Printout:
    """Tell what would be recalled for a question, and why.

    Parameters
    ----------
    limit : most memories
    """
    from graphmem.flows import context

    found: list[dict[str, Any]] = [
        {
            "id": each.memory.id,
            "weight": each.weight,
            "modality": each.memory.modality,
            "kind": each.memory.kind,
            "gravity": each.gravity,
            "speaker": each.memory.speaker,
            "content": each.memory.content,
            "at": each.memory.timestamp.isoformat(),
            "why": list(each.why),
            "source_refs": list(each.memory.source_refs),
        }
        for each in await context.recall(gm, session, query, limit, None)
    ]
    row = "{weight:.2f}  [{modality}] {content}  ({reasons})"
    return Printout(found, [row.format(**each, reasons=", ".join(each["why"])) for each in found])


@cli_command("forget")
async def forget_command(gm: "Graphmem", session: Session, memory: str) -> Printout:
    """Forget a memory and what it fed, for good: facts, episodes, ledger entries, questions, raw turns.

    Parameters
    ----------
    memory : id of the memory, as `recall --json` tells it
    """
    from graphmem.flows.forgetting import forget_memory
    from graphmem.jobs.runner import run_jobs

    await run_jobs(gm, session)
    return Printout.counted(f"{memory} is forgotten:", asdict(await forget_memory(gm, session, memory)))


@cli_command("reveal")
async def reveal_command(
    gm: "Graphmem",
    session: Session,
    concepts: Annotated[list[str] | None, typer.Argument()] = None,
    through_grade: int | None = None,
) -> None:
    """Reveal concepts of the world to a student, so that the companion may speak of them.

    Parameters
    ----------
    concepts : ids of concepts of the world
    through_grade : every concept of this and lower grades, too
    """
    from graphmem.flows.overlay import reveal

    known = (await reveal(gm, session, concepts or (), through_grade=through_grade)).total
    typer.echo(f"{session.student_id} knows {known} concepts now.")


@cli_command("compress")
async def compress_command(gm: "Graphmem", session: Session, preview: bool = False, to: int | None = None) -> Printout:
    """Make a student's memories fewer: prune what has faded, merge what belongs together.

    Parameters
    ----------
    preview : only tell what would be done
    to : memories to be left; by default 0.618 of the limit
    """
    from graphmem.jobs.runner import compress_within_budget

    done = await compress_within_budget(gm, session, to=to, preview=preview)
    verb = "would become" if done.id is None else "became"
    line = (
        f"{done.nodes_before} memories {verb} {done.nodes_after} ({done.pruned} pruned, {done.merged} merged into "
        f"summaries), {done.edges_before} edges {verb} {done.edges_after}, in {done.cycles} cycles."
    )
    return Printout(asdict(done), [line])


@cli_command("drift")
async def drift_command(
    gm: "Graphmem", institution: str, password_stdin: bool, student: Annotated[str | None, typer.Argument()] = None
) -> Printout:
    """Run a drift cycle: memories fade; with the password jobs are done, contradictions sought, memories compressed.

    Parameters
    ----------
    student : whose memories; all students by default
    """
    from graphmem.flows import students
    from graphmem.jobs.drift import DriftReport, drift_cycle

    if password_stdin and student is None:
        raise InvalidInput("Name the student whose password it is.")
    if student is not None and password_stdin:
        who = Who(institution, student)
        async with unlocked(gm, who, read_password(True)) as session:
            report = await drift_cycle(gm, who, session, by_hand=True)
    else:
        whom = [student] if student is not None else await students.list_all_ids(gm, institution)
        report = sum([await drift_cycle(gm, Who(institution, each), None) for each in whom], DriftReport())
    lines = [f"{report.faded} memories faded to where they are now, {report.deleted} were deleted."]
    if report.considered or report.failed:
        failed = " This failed for some; see the log." if report.failed else ""
        lines.append(f"{report.kept} of {report.considered} memories of ended sessions were consolidated.{failed}")
    if report.questions:
        lines.append(f"{report.questions} questions came to nothing.")
    if password_stdin:
        lines.append(f"{report.jobs} waiting jobs were done.")
        lines.append(f"{report.settled} contradictions were settled, {report.left_open} left open.")
        compressed = [f"{each.nodes_before} memories became {each.nodes_after}." for each in report.compressions]
        lines += compressed or ["Nothing was compressed."]
    return Printout(asdict(report), lines)


@cli_command("import-chats")
async def import_chats_command(
    gm: "Graphmem",
    institution: str,
    password: str,
    file: ExistingFile,
    student: Annotated[str, typer.Option()],
    format_: Annotated[str, typer.Option("--format", help=f"auto, {', '.join(EXPORT_FORMATS)}")] = "auto",
    speaker: str | None = None,
) -> Printout:
    """Bring in the chats of another service, dated as they were, with their replies; safe to repeat.

    Parameters
    ----------
    file : the export: JSON or JSON lines
    student : whose chats they are; enrolled before
    speaker : who in the file is the student, if not `user`
    """
    if format_ not in ("auto", *EXPORT_FORMATS):
        raise InvalidInput(f"There is no format {format_}: name one of auto, {', '.join(EXPORT_FORMATS)}.")
    chats = read_export(file, format_, student, speaker)
    say(f"{file.name} is of {chats.format}: {sum(map(len, chats.turns))} messages in {len(chats.turns)} chats.")
    async with unlocked(gm, Who(institution, student), password) as session:
        report = await _brought_in(gm, session, chats)
    lines = [
        f"{report['turns']} turns and {report['notes']} notes of {report['chats']} chats are remembered; "
        f"{report['handled_before']} had been before."
    ]
    if chats.undated:
        lines.append(
            f"{chats.undated} messages have no time of their own: they have that of the one before, or of the file."
        )
    return Printout(report, lines + [f"left out, {count} times: {reason}" for reason, count in chats.left_out.items()])


async def _brought_in(gm: "Graphmem", session: Session, chats: Chats) -> dict[str, Any]:
    """Put every turn through handleTurn or observe, and count them; what is refused is left out for its reason."""
    from graphmem.jobs.runner import run_jobs
    from graphmem.progress import tracked

    counts = Counter[str]()
    for turns in tracked(chats.turns, "Importing"):
        for place, turn in enumerate(turns, start=1):
            try:
                counts[await _brought(gm, session, turn)] += 1
            except InvalidInput as e:
                chats.left_out[str(e)] += 1
            # Memories are there before what comes next is read, as they would have been.
            if place % TURNS_AT_A_TIME == 0 or place == len(turns):
                await run_jobs(gm, session)
    found = {"format": chats.format, "chats": len(chats.turns), "undated": chats.undated, "left_out": chats.left_out}
    return found | {name: counts[name] for name in ("turns", "notes", "handled_before")}


async def _brought(gm: "Graphmem", session: Session, turn: Turn) -> str:
    """Remember one turn; `turns`, `notes`, or `handled_before` where it had been."""
    from graphmem.flows.observation import observe
    from graphmem.flows.turn import Incoming, handle_turn

    if turn.reply is not None:
        try:
            outcome = await handle_turn(
                gm, session, Incoming(turn.id, turn.text, turn.at, turn.reply, opener=turn.opener)
            )
        except Conflict:
            return "handled_before"
        return "handled_before" if outcome.repeated else "turns"
    kind = SourceKind.SYSTEM if turn.noted else SourceKind.CHAT
    await observe(
        gm, Who(session.institution, session.student_id), [Observation(kind, turn.id, turn.text, turn.at, turn.speaker)]
    )
    return "notes"
