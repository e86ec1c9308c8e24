"""Commands on whole students: enrolment, keys, data rights, integrity."""

import os
import sys
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from graphmem.commands.frame import ExistingFile, Printout, cli_command, counts_in_words, new_file, unlocked
from graphmem.errors import Conflict, InvalidInput
from graphmem.model import Integrity, Who

if TYPE_CHECKING:
    from graphmem.app import Graphmem

MOST_SHARES = 16
"""Shares that a recovery key can be split into, by SLIP-0039."""


@cli_command("enrol")
async def enrol_command(
    gm: "Graphmem", who: Who, new_password: str, display_name: str | None = None, time_zone: str | None = None
) -> None:
    """Enrol a student; asks for the password that opens everything.

    Parameters
    ----------
    display_name : how the student is called
    time_zone : IANA time zone of the student's days: Europe/Berlin
    """
    from graphmem.flows import students

    await students.enrol(gm, who, new_password, display_name, time_zone)
    typer.echo(f"{who.student_id} is enrolled at {who.institution}.")


@cli_command("rotate-key")
async def rotate_key_command(gm: "Graphmem", who: Who, password: str, end_sessions: bool = False) -> None:
    """Replace a student's key by a new random one and seal everything anew; the password stays.

    Parameters
    ----------
    end_sessions : end the student's running sessions
    """
    from graphmem.flows import students

    values = await students.rotate_key(gm, who, password, end_sessions=end_sessions)
    typer.echo(f"The key of {who.student_id} is a new one: {values} values were sealed anew.")


@cli_command("recovery-key")
def recovery_key_command(
    folder: Path,
    shares: Annotated[int, typer.Option(min=1, max=16)] = 1,
    needed: Annotated[int | None, typer.Option(min=1)] = None,
) -> None:
    """Make a recovery key, with which an institution can set new passwords of its students from then on.

    Parameters
    ----------
    folder : where the secret half is written, made if missing
    shares : split it into so many shares, 2 to 16
    needed : so many of them are needed; all by default
    """
    public, files = make_recovery_key(folder, shares, shares if needed is None else needed)
    typer.echo("\n".join(f"written: {file}" for file in files))
    typer.echo(f"The public half, for GRAPHMEM_RECOVERY_KEYS: {public}")


def make_recovery_key(folder: Path, shares: int, needed: int) -> tuple[str, list[Path]]:
    """Make a recovery key and write its secret half, whole or in shares, to new files that the user alone can read.

    Parameters
    ----------
    folder : Path, made where it is missing
    shares : int, 1 to 16; 1: the key is whole
    needed : int, how many of them put the key together again, 2 to `shares`; fewer tell nothing

    Returns
    -------
    The public half, as the setting has it, and the files

    Raises
    ------
    InvalidInput    the numbers will not do, or a file is there already

    Source: spec 14; SLIP-0039 (Shamir's secret sharing, with checksums, in words).
    """
    from shamir_mnemonic import generate_mnemonics

    from graphmem.sealing import new_recovery_key

    if not (shares == needed == 1 or 2 <= needed <= shares <= MOST_SHARES):
        raise InvalidInput(f"A key is split into 2 to {MOST_SHARES} shares, of which 2 or more are needed.")
    secret, public = new_recovery_key()
    texts = {"recovery.key": urlsafe_b64encode(secret).decode()}
    if shares > 1:
        ((*words,),) = generate_mnemonics(1, [(needed, shares)], secret)
        texts = {f"recovery-{i}-of-{shares}.share": each for i, each in enumerate(words, 1)}
    folder.mkdir(parents=True, exist_ok=True)
    if there := [name for name in texts if (folder / name).exists()]:
        raise InvalidInput(f"{folder / there[0]} is there already: name a new folder.")
    for name, text in texts.items():
        with os.fdopen(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text + "\n")
    return urlsafe_b64encode(public).decode(), [folder / name for name in texts]


@cli_command("recover")
async def recover_command(
    gm: "Graphmem", who: Who, new_password: str, key: Annotated[list[Path], typer.Option(exists=True, dir_okay=False)]
) -> None:
    """Set a new password of a student with the institution's recovery key; what is remembered stays.

    Parameters
    ----------
    key : the recovery key, or a share of it (several times)
    """
    from graphmem.flows.students import recover_student

    await recover_student(gm, who, read_recovery_key(key), new_password)
    typer.echo(f"{who.student_id} has a new password. The student's `recoveries` tell when it was set.")


def read_recovery_key(files: Sequence[Path]) -> bytes:
    """Read the secret half of a recovery key, from its file or from as many shares as are needed.

    Raises
    ------
    InvalidInput    they are none, too few, or of two keys
    """
    from shamir_mnemonic import MnemonicError, combine_mnemonics

    from graphmem.flows.students import decoded_recovery_key

    texts = [file.read_text().strip() for file in files]
    if len(texts) == 1 and len(texts[0].split()) == 1:
        return decoded_recovery_key(texts[0])
    try:
        return bytes(combine_mnemonics(texts))
    except MnemonicError as e:
        raise InvalidInput(f"These shares do not make a recovery key: {e}") from e


@cli_command("erase")
async def erase_command(gm: "Graphmem", who: Who, yes: bool = False) -> Printout:
    """Erase a student: all that is kept, the key first. Nothing of it can be brought back.

    Parameters
    ----------
    yes : do not ask before
    """
    from graphmem.flows.students import erase_student

    if not yes and sys.stdin.isatty():
        typer.confirm(f"Erase all that is kept of {who.student_id} at {who.institution}?", abort=True)
    return Printout.counted(f"{who.student_id} is erased:", asdict(await erase_student(gm, who)))


@cli_command("export")
async def export_command(gm: "Graphmem", who: Who, password: str, out: Path | None = None) -> None:
    """Give out all that is kept of a student, readable, as one JSON document.

    Parameters
    ----------
    out : a new file; standard output by default
    """
    if out is None:
        await _export(gm, who, password, sys.stdout, 1)
        return
    from graphmem.flows.transfer import EXPORT_TRIES

    with new_file(out, "w") as file:
        await _export(gm, who, password, file, EXPORT_TRIES)


async def _export(gm: "Graphmem", who: Who, password: str, out: IO[str], tries: int) -> None:
    """Write the document piece by piece; a file is begun again where the student was changed meanwhile."""
    from graphmem.flows.transfer import export_pieces
    from graphmem.jobs.runner import run_jobs

    async with unlocked(gm, who, password) as session:
        await run_jobs(gm, session)
        for attempt in range(1, tries + 1):
            try:
                async for piece in export_pieces(gm, session):
                    out.write(piece)
                return
            except Conflict:
                if attempt == tries:
                    raise
                out.seek(0)
                out.truncate()


@cli_command("import")
async def import_command(
    gm: "Graphmem",
    institution: str,
    new_password: str,
    file: ExistingFile,
    student: str | None = None,
    skip_unknown: bool = False,
) -> Printout:
    """Make an exported student anew, sealed with a new key that the new password opens; all of it or nothing.

    Parameters
    ----------
    file : a document that `export` wrote
    student : id of the new student; by default the exported one's
    skip_unknown : leave out concepts that the institution's world does not have
    """
    from graphmem.flows.transfer import import_student, read_document

    try:
        document = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise InvalidInput(f"{file.name} cannot be read: it must be a JSON document in UTF-8.") from e
    name = student or read_document(document).document.student_id
    done = await import_student(gm, Who(institution, name), new_password, document, skip_unknown=skip_unknown)
    counts = {each: getattr(done, each) for each in ("nodes", "edges", "left_out", "repeated")}
    line = f"{name} is imported at {institution}: {counts_in_words(counts)}."
    if done.repeated:
        line = f"{name} had been imported from this document before; nothing was changed."
    return Printout({"student": name, "institution": institution} | counts, [line])


@cli_command("verify")
async def verify_command(
    gm: "Graphmem", institution: str, student: Annotated[str | None, typer.Argument()] = None, accept: bool = False
) -> Printout:
    """Name what was altered, removed or added by hand in the database; ends with 1 where something was.

    Parameters
    ----------
    student : whose data; all students by default; no password
    accept : take what is there for what graphmem wrote, whoever wrote it
    """
    from graphmem.flows.students import accept_integrity, list_all_ids, verify_integrity

    ids = await list_all_ids(gm, institution) if student is None else [student]
    flow = accept_integrity if accept else verify_integrity
    found = {each: await flow(gm, Who(institution, each)) for each in ids}
    lines = [line for name, each in found.items() for line in integrity_lines(name, each)]
    code = 0 if all(each.intact for each in found.values()) else 1
    return Printout({name: asdict(each) for name, each in found.items()}, lines, code)


def integrity_lines(student: str, found: Integrity) -> list[str]:
    """Describe what was found of a student, line by line.

    Examples
    --------
    >>> integrity_lines("ada", Integrity(True, "0f" * 32))[0]
    'ada is intact: all nodes and relationships are as graphmem wrote them.'
    >>> integrity_lines("ada", Integrity(False, "0f" * 32, removed=("fact-t1",)))[0:2]
    ['ada is NOT intact: the database was changed outside of graphmem.', ' removed  fact-t1']
    """
    if found.intact:
        lines = [f"{student} is intact: all nodes and relationships are as graphmem wrote them."]
    else:
        lines = [f"{student} is NOT intact: the database was changed outside of graphmem."]
    for what, ids in (("altered", found.altered), ("removed", found.removed), ("added", found.added)):
        for each in ids:
            own = sorted(name.removeprefix(f"{each}.") for name in found.fields if name.startswith(f"{each}."))
            named = f" ({', '.join(own)})" if what == "altered" and own and not own[0].startswith(":") else ""
            lines.append(f"{what:>8}  {each}{named}")
    return [*lines, f"    hash  {found.hash}"]
