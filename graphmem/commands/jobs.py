"""Commands for operators: jobs, and the cost of language models."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from graphmem.app import Graphmem
from graphmem.jobs import admin as job_list
from graphmem.model import Job, JobState, Usage


async def list_jobs(
    gm: Graphmem, institution: str, student: str | None, state: JobState | None, first: int
) -> dict[str, Any]:
    """The newest jobs, at most `first` of them, and how many there are in all."""
    found: list[Job] = []
    page = await job_list.list_jobs(gm, institution, student, state, min(first, gm.settings.page_size), None)
    found += page.items
    while page.next is not None and len(found) < first:
        most = min(first - len(found), gm.settings.page_size)
        page = await job_list.list_jobs(gm, institution, student, state, most, page.next)
        found += page.items
    total = await job_list.count_jobs(gm, institution, student, state)
    return {"jobs": [_shown(job) for job in found], "total": total}


async def retry_job(gm: Graphmem, institution: str, ref: str) -> dict[str, Any]:
    """Start a dead job again, and show it."""
    return {"jobs": [_shown(await job_list.retry_job(gm, institution, ref))], "total": 1}


async def spent(
    gm: Graphmem, institution: str, student: str | None, since: datetime | None
) -> dict[str, dict[str, Any]]:
    """Model usage by kind of work, each also by prompt, and its total as `all`."""
    by_kind = await job_list.spent_by_kind(gm, institution, student, since)
    return {kind: asdict(usage) for kind, usage in by_kind.items()} | {"all": asdict(sum(by_kind.values(), Usage()))}


def _shown(job: Job) -> dict[str, Any]:
    return {
        "id": job.ref,
        "kind": job.kind,
        "state": job.state.value,
        "attempts": job.attempts,
        "error": job.error,
        "created_at": job.created_at.isoformat(),
        "run_after": None if job.run_after is None else job.run_after.isoformat(),
    }
