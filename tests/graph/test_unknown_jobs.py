"""Jobs of kinds that this version does not have, as an older one left them: parked, and in nobody's way (spec 16)."""

import json

import pytest

from graphmem.app import Graphmem
from graphmem.errors import Conflict
from graphmem.flows.forgetting import forget_memory
from graphmem.flows.transfer import export_student, read_document
from graphmem.jobs.health import list_jobs, retry_job
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import JobState
from graphmem.store import schema
from graphmem.store.jobs import NO_SUCH_KIND
from graphmem.store.nodes import NodeSealer
from tests.conftest import BOTH_FORMS, Pupil
from tests.support.remembering import changed, lived, nodes

pytestmark = BOTH_FORMS

SECRET, OTHER = "I hid nine jars of marmalade for Otti behind the piano.", "My uncle Ferdinand sails."


async def distilling(gm: Graphmem, pupil: Pupil, job_id: str, actual: str) -> None:
    """A waiting job of a kind that is no more, with what a student said."""
    payload = NodeSealer(pupil.session.keys, pupil.session, "Job", job_id).seal_json("payload", {"actual": actual})
    made = """CREATE (job:Job {institution: $i, student_id: $s, id: $id, kind: 'distil', state: 'waiting', attempts: 0,
                               created_at: $now, run_after: $now, seq: 1, payload: $payload})"""
    await changed(gm, pupil.who, made, id=job_id, now=gm.clock(), payload=payload)


async def restarted(gm: Graphmem) -> None:
    await schema.prepare(gm.graph, gm.embedder.name, gm.embedder.dimension, gm.clock())


async def test_such_a_job_that_waits_is_forgotten_like_any_other(gm: Graphmem, ann: Pupil) -> None:
    by_text = await lived(gm, ann, (SECRET, OTHER))
    await distilling(gm, ann, "distil-1", SECRET)
    await distilling(gm, ann, "distil-2", OTHER)
    await forget_memory(gm, ann.session, by_text[SECRET].id)
    assert [node["id"] for node in await nodes(gm, ann.who, "Job") if node["kind"] == "distil"] == ["distil-2"]


async def test_a_start_parks_it_with_a_reason_and_nothing_waits_for_it(gm: Graphmem, ann: Pupil) -> None:
    await lived(gm, ann, (OTHER,))
    await distilling(gm, ann, "distil-1", SECRET)
    assert await run_jobs(gm, ann.session) == 0
    await restarted(gm)
    page = await list_jobs(gm, ann.who.institution, "ann", JobState.DEAD, 10, None)
    assert [(job.id, job.kind, job.error) for job in page.items] == [("distil-1", "distil", NO_SUCH_KIND)]
    with pytest.raises(Conflict, match="no jobs of this kind"):
        await retry_job(gm, ann.who.institution, "ann/distil-1")
    await close_session(gm, ann.session, wait=True)
    assert await nodes(gm, ann.who, "Turn") == []


async def test_an_import_leaves_it_out(gm: Graphmem, ann: Pupil) -> None:
    await lived(gm, ann, (OTHER,))
    await distilling(gm, ann, "distil-1", SECRET)
    document = await export_student(gm, ann.session)
    assert "distil" in [node["properties"].get("kind") for node in document["nodes"] if node["labels"] == ["Job"]]
    read = read_document(json.dumps(document))
    assert [node for node in read.nodes if node.label == "Job" and node.properties["kind"] == "distil"] == []
    assert "Memory" in {node.label for node in read.nodes}
