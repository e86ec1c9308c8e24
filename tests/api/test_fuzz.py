"""Requests made from the schema: as many as GRAPHMEM_FUZZ_REQUESTS says, by the seed of GRAPHMEM_FUZZ_SEED."""

import os

import httpx

from graphmem.app import Graphmem
from tests.conftest import another_replica, served
from tests.support.fuzzing import fuzz

REQUESTS = int(os.environ.get("GRAPHMEM_FUZZ_REQUESTS", "250"))
SEED = int(os.environ.get("GRAPHMEM_FUZZ_SEED", "20261124"))


async def test_no_request_fails_inside_and_none_that_is_refused_writes(gm: Graphmem, institution: str) -> None:
    # Nothing is written behind a request's back.
    settings = gm.settings.model_copy(update={"jobs_quiet": 1e6, "jobs_patience": 1e6})
    replica = another_replica(gm, settings=settings)
    async with served(replica) as address, httpx.AsyncClient(base_url=address) as client:
        try:
            found = await fuzz(replica, client, institution, REQUESTS, SEED)
        finally:
            for task in replica.background.tasks:
                task.cancel()
    print(f"\n{found}")
    assert found.requests == REQUESTS
    assert found.refused > REQUESTS / 10
    assert found.internal == []
    assert found.stored == []
