"""Sources and observations in the graph: what memories come from (spec 2, 7)."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from nacl.encoding import HexEncoder
from nacl.hash import blake2b

from graphmem.model import Concern, Danger, Erased, Observation, RaisedConcern, Session, Source, SourceKind, Who
from graphmem.sealing import StudentLock, seal_for
from graphmem.store.graph import Graph
from graphmem.store.jobs import Kind, observation_text, waiting_job
from graphmem.store.ledger import clear_concern
from graphmem.store.nodes import REMARK, from_ms, readable, source_kind


def kind_in_graph(kind: SourceKind) -> str:
    """Return the kind in the graph of what is observed.

    Examples
    --------
    >>> kind_in_graph(SourceKind.CHAT), kind_in_graph(SourceKind.LESSON)
    ('remark', 'lesson')
    """
    return REMARK if kind is SourceKind.CHAT else kind.value


def opened_source(source_id: str, kind: str, ref: str, at: int) -> Source:
    """Return a source as it was found in the graph."""
    with readable("Source", source_id):
        return Source(source_id, source_kind(kind), ref, from_ms(at))


async def save_observations(
    graph: Graph, who: Who, lock: StudentLock, observations: Sequence[Observation], most: int, now: datetime
) -> list[Source] | None:
    """Note observations, sealed so that only the student's session opens them; `source/observe`.

    The sources in the order of the observations; nothing is changed for those that were noted before. None, and
    nothing written, when more than `most` jobs of the student would wait, or the public key is another one by now.
    """
    rows = []
    for place, observed in enumerate(observations):
        source_id = observed_id(observed)
        payload = seal_for(lock, who, observation_text(observed))
        # A microsecond apart, so that they are read in the order in which they were sent.
        job = waiting_job(f"observe-{source_id}", Kind.OBSERVE, payload, now)
        job["created_at"] = now + timedelta(microseconds=place)
        concerns = [] if observed.danger is None else [clear_concern(observed_concern(observed, observed.danger))]
        row = {"id": source_id, "kind": kind_in_graph(observed.kind), "ref": observed.ref}
        rows.append(row | {"at": observed.at.astimezone(UTC), "job": job, "concerns": concerns})
    found = await graph.run("source/observe", who, public_key=lock.public_key, observations=rows, most=most, now=now)
    if not found:
        return None
    return [opened_source(*source) for r in found for source in r["sources"]]


async def find_formed(graph: Graph, session: Session, source_id: str, now: datetime) -> list[str] | None:
    """Return ids of the memories that come from an observation alone; `source/find_formed`.

    None without such an observation, or when the session has ended.
    """
    return await graph.value(list, "source/find_formed", session, id=source_id, now=now)


async def delete_contents(graph: Graph, session: Session, source_id: str, now: datetime) -> Erased | None:
    """Delete what is left of an observation; `source/delete_contents`. None when the session has ended."""
    rows = await graph.run("source/delete_contents", session, id=source_id, now=now)
    return Erased(**rows[0]) if rows else None


def observed_id(observed: Observation) -> str:
    """Return the id of an observation's source."""
    return f"source-{observed_key(observed)}"


def observed_key(observed: Observation) -> str:
    """Key for the ids of an observation's source and memories: a hash of its kind and ref."""
    name = f"{observed.kind}:{observed.ref}".encode()
    return str(blake2b(name, digest_size=8, encoder=HexEncoder).decode())


def observed_concern(observed: Observation, danger: Danger) -> RaisedConcern:
    """Return the concern that an observation raises."""
    concern = Concern(
        f"concern-{observed_key(observed)}", danger.kind, danger.urgency, danger.about, observed.at.astimezone(UTC)
    )
    return RaisedConcern(concern, danger.probability)
