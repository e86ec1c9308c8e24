"""Changing the embedding model of a database."""

from datetime import UTC, datetime

from graphmem.flows.world import embed_world
from graphmem.ports import Embedder
from graphmem.runtime import Say, open_graph
from graphmem.settings import Settings
from graphmem.store import schema
from graphmem.store.world import drop_concept_embeddings, list_institutions
from graphmem.text.embedder import make_embedder

STUDENTS_AT_A_TIME = 20
"""Students whose embeddings are dropped at once."""


async def reembed(settings: Settings, say: Say) -> None:
    """Drop embeddings of another model and record the configured one.

    A student's embeddings are sealed, so nobody but the student's session can make them anew: they are
    dropped here, batch by batch, and made again when the student is next unlocked. The model is recorded
    last, so an interrupted run is simply run again. Concepts are in the clear and embedded at once.
    """
    embedder = make_embedder(settings)
    try:
        await _changed(settings, embedder, say)
    finally:
        await embedder.aclose()


async def _changed(settings: Settings, embedder: Embedder, say: Say) -> None:
    async def told(done: int) -> None:
        say(f"{done} concepts embedded")

    async with open_graph(settings, say) as graph:
        await schema.check_server(graph)
        if await schema.find_embedder(graph) == (embedder.name, embedder.dimension):
            say(f"Nothing to do: this database holds embeddings of {embedder.name}.")
            return
        dropped = 0
        async for changed in schema.drop_embeddings(graph, STUDENTS_AT_A_TIME):
            dropped += changed
            say(f"{dropped} embeddings dropped")
        async for changed in drop_concept_embeddings(graph):
            dropped += changed
            say(f"{dropped} embeddings dropped")
        for institution in await list_institutions(graph):
            await embed_world(graph, embedder, institution, told)
        await schema.set_embedder(graph, embedder.name, embedder.dimension, datetime.now(UTC))
        say(f"This database now holds embeddings of {embedder.name}; students get theirs at their next session.")
