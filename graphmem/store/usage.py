"""Language-model usage, day by day, and the limits of spending (spec 5, 17)."""

from dataclasses import asdict, dataclass
from datetime import datetime

from graphmem.model import PromptUsage, Usage, Who
from graphmem.store.graph import Graph, Transaction

OTHER = "other"
"""Prompt name of usage counted without one, as by older versions."""


@dataclass(frozen=True)
class Limits:
    """Daily limits of spending (UTC), of one student and of all together; 0 means no limit.

    Tokens of questions and answers together; cost in US dollars.
    """

    student_tokens: int = 0
    tokens: int = 0
    student_cost: float = 0.0
    cost: float = 0.0

    @property
    def unlimited(self) -> bool:
        """True if nothing needs to be set aside."""
        return self == Limits()


@dataclass(frozen=True)
class Reserve:
    """Reservation for a question: at most so many tokens and so much money, on the day of `at`."""

    tokens: int
    cost: float
    at: datetime


async def add_usage(tx: Transaction, kind: str, usage: Usage, now: datetime) -> None:
    """Add the usage of a turn or a kind of job, if there is any; `usage/add`."""
    if usage.calls:
        total = PromptUsage(OTHER, usage.calls, usage.input_tokens, usage.output_tokens, usage.cost)
        prompts = [asdict(each) for each in usage.prompts or (total,)]
        await tx.run("usage/add", kind=kind, usage=asdict(total), prompts=prompts, now=now)


async def by_kind(graph: Graph, institution: str, student_id: str | None, since: datetime | None) -> dict[str, Usage]:
    """Usage since the day of a moment, by purpose: `turn` or the kind of a job; `usage/sum`.

    Of one student, or where that is None of the whole institution.
    """
    found: dict[str, Usage] = {}
    for row in await graph.run("usage/sum", institution=institution, student_id=student_id, since=since):
        kind, prompt = row.pop("kind"), row.pop("prompt")
        found[kind] = found.get(kind, Usage()) + Usage.of(PromptUsage(prompt or OTHER, **row))
    return found


async def reserve(graph: Graph, who: Who, job_id: str, limits: Limits, wanted: Reserve) -> bool:
    """Set something aside for a job, unless with it more than a limit would be spent that day; `budget/reserve`.

    What others have set aside counts as spent, so that workers at once cannot spend the same rest. A second time
    for the same job and day changes nothing: what a worker that died had set aside serves the next one.
    """
    rows = await graph.run("budget/reserve", who, job_id=job_id, wanted=asdict(wanted), limits=asdict(limits))
    return bool(rows and rows[0]["fits"])


async def release_budget(graph: Graph, who: Who, job_id: str, reserved_at: datetime, now: datetime) -> None:
    """Release the budget reserved for a job, after its actual usage was counted; `budget/release`.

    A second time changes nothing.
    """
    await graph.run("budget/release", who, job_id=job_id, reserved_at=reserved_at, now=now)
