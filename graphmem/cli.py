"""The command line: every command parses, calls and prints; `commands.frame` says how."""

import logging
import os
import sys
from typing import Annotated

import typer

from graphmem import __version__
from graphmem.commands import memories, operation, students
from graphmem.commands.frame import app, say
from graphmem.errors import GraphmemError
from graphmem.logs import set_up_logging
from graphmem.settings import misspelt

__all__ = ["app", "main"]

COMMANDS = (students, memories, operation)
"""Modules whose functions are the commands."""


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


def main() -> None:
    """Run a command; an error of ours is one line and exit code 1, not a traceback."""
    if os.environ.get("GRAPHMEM_LOG_FORMAT") == "json":
        set_up_logging("info", "json")
    for name, meant in misspelt(sorted(os.environ)).items():
        say(f"graphmem: there is no setting {name}" + (f": did you mean {meant}?" if meant else "."), logging.WARNING)
    try:
        app()
    except GraphmemError as e:
        say(f"graphmem: {e}", logging.ERROR)
        sys.exit(1)
    except ModuleNotFoundError as e:
        say(f'graphmem: this needs {e.name}: pip install "graphmem[server,local,plots,mcp]"', logging.ERROR)
        sys.exit(1)
