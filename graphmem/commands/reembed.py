"""Changing the embedding model of a database."""

from datetime import UTC, datetime

from graphmem.runtime import Say, open_graph
from graphmem.settings import Settings
from graphmem.store import schema
from graphmem.text.embedder import make_embedder

STUDENTS_AT_A_TIME = 20
"""Students whose embeddings are dropped at once."""


async def reembed(settings: Settings, say: Say) -> None:
    """Drop embeddings of another model and record the configured one.

    A student's embeddings are sealed, so nobody but the student's session can make them anew: they are
    dropped here, batch by batch, and made again when the student is next unlocked. The model is recorded
    last, so an interrupted run is simply run again.
    """
    embedder = make_embedder(settings)
    await embedder.aclose()
    async with open_graph(settings, say) as graph:
        await schema.check_server(graph)
        if await schema.find_embedder(graph) == (embedder.name, embedder.dimension):
            say(f"Nothing to do: this database holds embeddings of {embedder.name}.")
            return
        dropped = 0
        async for changed in schema.drop_embeddings(graph, STUDENTS_AT_A_TIME):
            dropped += changed
            say(f"{dropped} embeddings dropped")
        await schema.set_embedder(graph, embedder.name, embedder.dimension, datetime.now(UTC))
        say(f"This database now holds embeddings of {embedder.name}; students get theirs at their next session.")
