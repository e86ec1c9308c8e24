"""The frame of every command: its common options, the graphmem it runs in, and the printing of its answer."""

import asyncio
import getpass
import inspect
import json
import logging
import os
import sys
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from copy import copy
from dataclasses import dataclass, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin

import typer
from pydantic import ValidationError

from graphmem.docstrings import parameters_of
from graphmem.errors import InvalidInput
from graphmem.logs import JsonFormatter, set_up_logging
from graphmem.model import Session, Who
from graphmem.settings import Settings

if TYPE_CHECKING:
    from graphmem.app import Graphmem

log = logging.getLogger(__name__)

CommandFunction = TypeVar("CommandFunction", bound=Callable[..., Any])

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, add_completion=False)

ExistingFile = Annotated[Path, typer.Argument(exists=True, dir_okay=False)]


def _common(
    student: str,
    institution: str = "demo",
    password_stdin: bool = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Stand for the parameters that many commands have.

    Parameters
    ----------
    institution : whose students
    password_stdin : read the password from standard input
    as_json : one JSON document on standard output
    """


NEEDS = {
    "settings": (),
    "gm": (),
    "institution": ("institution",),
    "who": ("student", "institution"),
    "session": ("student", "institution", "password_stdin"),
    "password": ("password_stdin",),
    "new_password": ("password_stdin",),
    "password_stdin": ("password_stdin",),
    "as_json": ("as_json",),
}
"""What a function may ask for, and the common parameters that it brings to the command."""


@dataclass(frozen=True)
class Printout:
    """What a command prints: `document` with --json, else `lines`; and the code it ends with."""

    document: object
    lines: Sequence[str]
    code: int = 0

    @classmethod
    def fields(cls, found: Mapping[str, object]) -> "Printout":
        """Return a line for each name and value."""
        width = max(map(len, found))
        return cls(found, [f"{name:>{width}}  {value}" for name, value in found.items()])

    @classmethod
    def counted(cls, words: str, counts: dict[str, int]) -> "Printout":
        """Return counts, and a line of some words and the counts in words."""
        return cls(counts, [f"{words} {counts_in_words(counts)}."])


def cli_command(name: str) -> Callable[[CommandFunction], CommandFunction]:
    """Make a function a command.

    Parameters
    ----------
    name : str, of the command

    Notes
    -----
    Parameters of the names in `NEEDS` are provided: `settings`; `gm`, an open graphmem; `who`, the student named on
    the command line; `session`, one of that student for as long as the command takes; `password`, and `new_password`,
    which is asked for twice. All others are options and arguments of the command, described in its docstring. A
    function that returns a `Printout` has --json.
    """

    def register(function: CommandFunction) -> CommandFunction:
        given = inspect.signature(function).parameters
        common = {each for name in given for each in NEEDS.get(name, ())}
        if function.__annotations__.get("return") is Printout:
            common.add("as_json")
        held = [each for each in _parameters(_common) if each.name in common]
        own = [each for each in _parameters(function) if each.name not in NEEDS]

        def run(**options: Any) -> None:
            found = _called(function, set(given), options)
            if isinstance(found, Printout):
                for line in [json.dumps(found.document, default=_plain)] if options["as_json"] else found.lines:
                    typer.echo(line)
                raise typer.Exit(found.code)

        parameters = sorted([*held, *own], key=lambda each: (each in held) * (1 if each.name != "student" else -1))
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        run.__doc__ = inspect.cleandoc(function.__doc__ or "").partition("\n\nParameters\n")[0]
        app.command(name)(run)
        return function

    return register


def _parameters(function: Callable[..., Any]) -> Iterator[inspect.Parameter]:
    """Yield the parameters of a function as those of a command, with the help of its docstring."""
    helped = parameters_of(function)
    for name, each in inspect.signature(function).parameters.items():
        type_, *infos = get_args(each.annotation) if get_origin(each.annotation) is Annotated else (each.annotation,)
        if infos:
            info = copy(infos[0])
        elif each.default is each.empty:
            info = typer.Argument()
        else:
            info = typer.Option(*[f"--{name.replace('_', '-')}"] * (each.default is False))
        info.help = helped.get(name, info.help)
        yield each.replace(kind=each.KEYWORD_ONLY, annotation=Annotated[type_, info])


def _called(function: Callable[..., Any], names: set[str], options: dict[str, Any]) -> Any:
    """Provide what a function asks for, and call it."""
    who = Who(options["institution"], options["student"]) if "student" in options else None
    values = {name: value for name, value in options.items() if name in names}
    if "who" in names:
        values["who"] = who
    if names & {"password", "session", "new_password"}:
        password = read_password(options["password_stdin"], confirm="new_password" in names)
        values |= {name: password for name in ("password", "new_password") if name in names}
    if "settings" in names:
        values["settings"] = load_settings()
    if not names & {"gm", "session"}:
        return asyncio.run(function(**values)) if inspect.iscoroutinefunction(function) else function(**values)

    async def opened() -> Any:
        from graphmem.runtime import open_graphmem

        async with open_graphmem(load_settings(), say=say, background=False) as gm:
            if "gm" in names:
                values["gm"] = gm
            if "session" not in names or who is None:
                return await function(**values)
            async with unlocked(gm, who, password) as session:
                return await function(**values, session=session)

    return asyncio.run(opened())


@asynccontextmanager
async def unlocked(gm: "Graphmem", who: Who, password: str) -> AsyncIterator[Session]:
    """Open a session of the command's own, closed at the end; those of apps go on.

    Raises
    ------
    Locked          the password is wrong or there is no such student
    """
    from graphmem.flows import students
    from graphmem.jobs.sessions import close_session

    _, session = await students.open_session(gm, who, password)
    try:
        yield session
    finally:
        await close_session(gm, session, wait=True)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    return vars(value) if is_dataclass(value) else value.isoformat() if isinstance(value, datetime) else str(value)


@contextmanager
def new_file(file: Path, mode: str) -> Iterator[IO[Any]]:
    """Open a new file that only its owner can read, which has its name once it is whole.

    Raises
    ------
    InvalidInput    it is there already, or cannot be written
    """
    aside = file.with_name(f".{file.name}.unfinished")
    if file.exists():
        raise InvalidInput(f"{file.name} is there already: name a new file.")
    try:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, mode, encoding=None if "b" in mode else "utf-8") as out:
            yield out
        aside.rename(file)
    except OSError as e:
        raise InvalidInput(f"{file.name} cannot be written: {e.strerror}.") from e
    finally:
        aside.unlink(missing_ok=True)


def load_settings() -> Settings:
    """Load the settings of the environment and set up logging by them; InvalidInput names a wrong one."""
    try:
        settings = Settings()
    except ValidationError as e:
        wrong = [f"GRAPHMEM_{'_'.join(map(str, p['loc'])).upper()}: {p['msg']}" for p in e.errors()]
        raise InvalidInput("Settings will not do: " + "; ".join(wrong)) from e
    set_up_logging(settings.log_level, settings.log_format)
    return settings


def read_password(from_stdin: bool, *, confirm: bool = False) -> str:
    """Read a password typed twice or once on the terminal, or the first line of standard input."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            password = getpass.getpass("Password: ")
            again = getpass.getpass("Once more: ") if confirm else password
        except getpass.GetPassWarning:
            raise InvalidInput("No terminal to ask for the password: send it in with --password-stdin.") from None
    if again != password:
        raise InvalidInput("The two passwords differ.")
    return password


def counts_in_words(counts: dict[str, int]) -> str:
    """Return counts in words, without those that are 0.

    Examples
    --------
    >>> counts_in_words({"nodes": 3, "edges": 0, "students": 1})
    '3 nodes, 1 students'
    """
    return ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in counts.items() if count)


def say(line: str, level: int = logging.INFO) -> None:
    """Print a line about progress on standard error; where logs are JSON, log it."""
    if any(isinstance(each.formatter, JsonFormatter) for each in logging.getLogger().handlers):
        log.log(level, "%s", line)
    else:
        typer.echo(line, err=True)
