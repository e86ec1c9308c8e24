"""Send requests made from the schema to an API of its own: `scripts/fuzz_api.py --requests 20000 --seed 1`.

Exits with 1 if one failed inside (INTERNAL) or a refused one wrote. The database is a throwaway one, unless
GRAPHMEM_TEST_NEO4J_URI (with _USER and _PASSWORD) names another.
"""

import argparse
import asyncio
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import httpx

sys.path.insert(0, str(Path(__file__).parents[1]))

from graphmem.app import open_with_neo4j
from graphmem.local import server
from graphmem.settings import Settings
from tests.conftest import served
from tests.support.fuzzing import Fuzzed, fuzz


async def main(requests: int, seed: int) -> Fuzzed:
    """Serve, fuzz, and tell what came of it."""
    with ExitStack() as opened:
        home = Path(opened.enter_context(TemporaryDirectory()))
        # Nothing may be written behind a request's back.
        settings = Settings(
            home=home,
            argon2_ops=1,
            argon2_mib=8,
            sweep_seconds=1e6,
            jobs_quiet=1e6,
            jobs_patience=1e6,
            observations_minute=1_000_000,
            neo4j_timeout=60.0,
        )
        if uri := os.environ.get("GRAPHMEM_TEST_NEO4J_URI"):
            access = (uri, os.environ["GRAPHMEM_TEST_NEO4J_USER"], os.environ["GRAPHMEM_TEST_NEO4J_PASSWORD"])
        else:
            found = opened.enter_context(server.throwaway(settings))
            access = (found.bolt_uri, found.user, found.password)
        async with (
            open_with_neo4j(settings, *access) as gm,
            served(gm) as address,
            httpx.AsyncClient(base_url=address) as client,
        ):
            try:
                return await fuzz(gm, client, f"fuzzed-{uuid4().hex}", requests, seed, print)
            finally:
                for task in gm.background.tasks:
                    task.cancel()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    given_ = parser.parse_args()
    result = asyncio.run(main(given_.requests, given_.seed))
    print(result)
    for each in (*result.internal[:20], *result.stored[:20]):
        print(each)
    sys.exit(1 if result.internal or result.stored else 0)
