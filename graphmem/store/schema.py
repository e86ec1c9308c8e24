"""Constraints, indexes and what the database says of itself, checked at start (spec 2)."""

import re
from collections.abc import AsyncIterator
from datetime import datetime

from graphmem.errors import Conflict, SetupError
from graphmem.store import integrity, jobs, queries, students
from graphmem.store.graph import Graph, Row

SCHEMA_VERSION = 3
UPGRADES = ("upgrade/set_versions", "upgrade/set_roles", "upgrade/set_origins", "upgrade/sum_usage")
"""What brings the data of an older schema up to this one; each may run again."""
PUBLIC_KEYS_AT_ONCE = 500
OLDEST_SERVER = (2026, 2)
"""Cypher 25 with `SEARCH`; an older server is refused."""
EDITIONS = ("community", "enterprise")
_DROP = "CYPHER 25\nDROP"


def commands() -> list[str]:
    """Return the commands of `cypher/schema.cypher`, in their order."""
    code = "\n".join(line for line in queries.read("schema").splitlines() if not line.startswith("//"))
    return [f"CYPHER 25\n{command.strip()}" for command in code.split(";") if command.strip()]


async def prepare(graph: Graph, embedder: str, dimension: int, now: datetime) -> None:
    """Check the server, apply the schema command by command, and check the embedding model.

    Writes constraints and indexes (all `IF NOT EXISTS`) and one `:Schema` node; data of an older schema is upgraded,
    where the server secret vouches for what is there. Waiting jobs of an unknown kind are parked as dead.

    Raises
    ------
    SetupError      the server is too old, the schema is newer than this graphmem, or the database
                    holds embeddings of another model; the message names what to do
    """
    await check_server(graph)
    await apply_commands(graph)
    (row,) = await graph.run("schema/upsert", version=SCHEMA_VERSION, embedder=embedder, dimension=dimension, now=now)
    if row["restoring"]:
        raise SetupError("A restore of this database is under way or was cut short: run `graphmem restore` again.")
    if row["version"] > SCHEMA_VERSION:
        raise SetupError(
            f"This database has schema version {row['version']}, this graphmem knows {SCHEMA_VERSION}: "
            "install a newer graphmem."
        )
    if row["version"] < SCHEMA_VERSION:
        for name in UPGRADES:
            await graph.run(name)
        while found := await students.list_unvouched(graph, PUBLIC_KEYS_AT_ONCE):
            for who in found:
                await integrity.accept(graph, who, now)
        # Last, so that an upgrade that was cut short is done again.
        await graph.run("schema/set_version", version=SCHEMA_VERSION)
    await jobs.park_unknown(graph)
    if len(graph.secrets) > 1:
        await integrity.renew_seals(graph)
    if (row["embedder"], row["dimension"]) != (embedder, dimension):
        raise SetupError(
            f"This database holds embeddings of {row['embedder']} ({row['dimension']} dimensions), but "
            f"{embedder} ({dimension}) is configured: run `graphmem reembed` to change them, "
            f"or set GRAPHMEM_EMBEDDER={row['embedder']}."
        )


async def apply_commands(graph: Graph) -> None:
    """Make the constraints and indexes that are missing, one by one, and drop those that are no longer wanted."""
    (row,) = await graph.run("schema/list_indexes")
    for command in commands():
        wanted = not command.startswith(_DROP)
        if (_made_name(command) in row["names"]) is wanted:
            continue
        try:
            await graph.execute(command, {}, reads=False)
        except Conflict:
            # Two processes that start at once both found it missing, and the other one made it.
            await graph.execute(command, {}, reads=False)


def _made_name(command: str) -> str:
    """Return the name of the constraint or index that a command makes or drops."""
    (name,) = re.findall(r"(?:CONSTRAINT|INDEX) (\w+) IF", command)
    return str(name)


async def check_server(graph: Graph) -> str:
    """Version and edition of the server, e.g. `2026.08.1 community`.

    Raises
    ------
    SetupError      it is too old, or not a Neo4j
    """
    agent = await graph.server_agent()
    numbers = tuple(int(n) for n in re.findall(r"\d+", agent.partition("/")[2])[:2])
    if not agent.startswith("Neo4j/") or numbers < OLDEST_SERVER:
        oldest = ".".join(f"{n:02}" for n in OLDEST_SERVER)
        raise SetupError(f"The server is {agent}, but graphmem needs Neo4j {oldest} or newer: upgrade it.")
    (row,) = await graph.run("graph/get_server")
    if row["edition"] not in EDITIONS:
        raise SetupError(f"Neo4j's edition is {row['edition']}, but graphmem needs one of {', '.join(EDITIONS)}.")
    return f"{row['version']} {row['edition']}"


async def find_held(graph: Graph) -> Row:
    """Return `version` of the schema, `embedder` and `dimension` of a database; empty where it is none of graphmem.

    `schema/find`.
    """
    return next(iter(await graph.run("schema/find")), {})


async def drop_embeddings(graph: Graph, limit: int) -> AsyncIterator[int]:
    """Drop all sealed embeddings, some students at a time; how many of each page; `memory/drop_embeddings`."""
    async for rows in graph.student_pages("memory/drop_embeddings", limit):
        yield sum(row["dropped"] for row in rows)


async def set_embedder(graph: Graph, embedder: str, dimension: int, now: datetime) -> None:
    """Record another embedding model; `schema/set_embedder`."""
    await graph.run("schema/set_embedder", version=SCHEMA_VERSION, embedder=embedder, dimension=dimension, now=now)


async def count_labels(graph: Graph, institution: str) -> dict[str, int]:
    """Return the number of nodes of each kind that an institution has; `graph/list_labels`."""
    return {row["label"]: row["nodes"] for row in await graph.run("graph/list_labels", institution=institution)}
