"""The command that brings in chats and memories of other services."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphmem.commands.frame import ExistingFile, Printout, cli_command, say, unlocked
from graphmem.errors import Conflict, InvalidInput
from graphmem.exports.reading import EXPORT_FORMATS, Chats, Turn, read_export
from graphmem.model import Observation, Session, SourceKind, Who

if TYPE_CHECKING:
    from graphmem.app import Graphmem


TURNS_AT_A_TIME = 20


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
