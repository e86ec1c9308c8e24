"""Sources and observations in the graph: what memories come from (spec 2, 7)."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from nacl.encoding import HexEncoder
from nacl.hash import blake2b

from graphmem.model import Observation, Source, SourceKind, Who
from graphmem.sealing import seal_for
from graphmem.store.graph import Graph
from graphmem.store.jobs import Kind, observation_text, waiting_job
from graphmem.store.rows import from_ms


async def observe(
    graph: Graph, who: Who, public_key: bytes, observations: Sequence[Observation], now: datetime
) -> list[Source]:
    """Note observations, sealed so that only the student's session opens them; `source/observe`.

    The sources in the order of the observations; nothing is changed for those that were noted before, and
    for a turn that has the same kind and ref.
    """
    rows = []
    for place, observed in enumerate(observations):
        source_id = observed_id(observed)
        payload = seal_for(public_key, who, observation_text(observed))
        # A microsecond apart, so that they are read in the order in which they were sent.
        job = waiting_job(f"observe-{source_id}", Kind.OBSERVE, payload, now)
        job["created_at"] = now + timedelta(microseconds=place)
        rows.append({"id": source_id, "kind": observed.kind.value, "ref": observed.ref, "at": observed.at, "job": job})
    found = await graph.run("source/observe", who, observations=rows, now=now)
    return [
        Source(source_id, SourceKind(kind), ref, from_ms(at))
        for r in found
        for source_id, kind, ref, at in r["sources"]
    ]


def observed_id(observed: Observation) -> str:
    """The id of an observation's source."""
    return f"source-{observed_key(observed)}"


def observed_key(observed: Observation) -> str:
    """What the ids of an observation's source and memories are made with: a hash of its kind and ref."""
    name = f"{observed.kind}:{observed.ref}".encode()
    return str(blake2b(name, digest_size=8, encoder=HexEncoder).decode())
