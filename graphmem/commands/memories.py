"""Commands on memories: noting observations, recalling, fading."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from graphmem.app import Graphmem
from graphmem.commands.unlocked import unlocked
from graphmem.errors import InvalidInput
from graphmem.flows import context
from graphmem.flows.forgetting import forget_memory
from graphmem.flows.junk import find_junk
from graphmem.flows.observation import observe
from graphmem.jobs.runner import run_jobs
from graphmem.model import Erased, Observation, SourceKind, Who

OBSERVATIONS_AT_A_TIME = 100
"""Observations noted at once."""


class Line(BaseModel):
    """One observation of a file."""

    model_config = ConfigDict(extra="ignore")

    ref: str
    text: str
    at: AwareDatetime
    speaker: str | None = None
    kind: SourceKind = SourceKind.SYSTEM


def read_observations(file: Path) -> Iterator[Observation]:
    """The observations of a JSON lines file: `{"ref", "speaker", "text", "at", "kind"}` each.

    Raises
    ------
    InvalidInput    a line is not one; the message says which
    """
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                read = Line.model_validate(json.loads(line))
            except (ValidationError, ValueError, TypeError) as e:
                raise InvalidInput(
                    f"Line {number} of {file.name} is not an observation: it needs ref, text and at (with time zone)."
                ) from e
            yield Observation(read.kind, read.ref, read.text, read.at, read.speaker)


async def note(gm: Graphmem, who: Who, file: Path) -> int:
    """Note every observation of a file; how many there are. What was noted before stays as it is.

    Raises
    ------
    InvalidInput    the file is not one of observations
    NotFound        there is no such student
    """
    found = list(read_observations(file))
    for start in range(0, len(found), OBSERVATIONS_AT_A_TIME):
        await observe(gm, who, found[start : start + OBSERVATIONS_AT_A_TIME])
    return len(found)


async def recall(gm: Graphmem, who: Who, password: str, query: str, limit: int) -> list[dict[str, Any]]:
    """Recall memories for a question, with the reasons; pending memories are formed first.

    Raises
    ------
    Locked          the password is wrong or there is no such student
    InvalidInput    the question or the limit will not do
    """
    async with unlocked(gm, who, password) as session:
        found = await context.recall(gm, session, query, limit, None)
    return [
        {
            "id": each.memory.id,
            "weight": each.weight,
            "modality": each.memory.modality,
            "kind": each.memory.kind,
            "gravity": each.gravity,
            "speaker": each.memory.speaker,
            "content": each.memory.content,
            "at": each.memory.timestamp.isoformat(),
            "why": list(each.why),
            "source_refs": list(each.memory.source_refs),
        }
        for each in found
    ]


async def forgotten(gm: Graphmem, who: Who, password: str, memory_id: str) -> Erased:
    """Forget a memory and what it fed; how much was deleted.

    Raises
    ------
    Locked          the password is wrong or there is no such student
    NotFound        there is no such memory
    """
    async with unlocked(gm, who, password) as session:
        await run_jobs(gm, session)
        return await forget_memory(gm, session, memory_id)


async def junk_of(gm: Graphmem, who: Who, password: str) -> dict[str, int | float]:
    """Count the junk among a student's memories: counts by kind, and `rate`, the share of all memories.

    Raises
    ------
    Locked          the password is wrong or there is no such student
    """
    async with unlocked(gm, who, password) as session:
        await run_jobs(gm, session)
        junk = await find_junk(gm, session)
    return asdict(junk) | {"rate": junk.rate}
