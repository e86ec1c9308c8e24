"""Students with memories that are in doubt."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType

import pytest

from graphmem.app import Graphmem
from graphmem.flows import formation_plan, uncertainty_plan
from graphmem.flows.session_cache import memories_now, open_memories
from graphmem.model import (
    DetectionContext,
    Memory,
    Reliability,
    Session,
    Severity,
    Uncertainty,
    UncertaintyType,
)
from graphmem.store.changes import Changes, Update, write
from graphmem.store.uncertainties import Recorded
from graphmem.text.revision import Claim, PairVerdict

COMPATIBLE = PairVerdict()


def doubt(a: Memory, b: Memory | None, **changes: object) -> Uncertainty:
    """A doubt about a memory, or between two."""
    record = Uncertainty(
        id=f"uncertainty-{a.id}-{'' if b is None else b.id}",
        type=UncertaintyType.UNVERIFIED if b is None else UncertaintyType.CONTRADICTION,
        severity=Severity.HIGH,
        detection_context=DetectionContext.CONSOLIDATION,
        temporal_signal=False,
        a_id=a.id,
        b_id=None if b is None else b.id,
        created_at=a.timestamp,
        reasoning=f"Nobody knows whether it is so: {a.content}",
        surface_context=a.content,
    )
    return replace(record, **changes)  # type: ignore[arg-type]


async def doubted(gm: Graphmem, session: Session, a: Memory, b: Memory | None, **changes: object) -> Uncertainty:
    """A doubt that is kept, its sides contradicted."""
    record, (held, _) = doubt(a, b, **changes), await memories_now(gm, session)
    sides = [Update(each.id, {"reliability": Reliability.CONTRADICTED}) for each in (a, b) if each is not None]
    kept = Changes(held.version, "test", (*sides, Recorded(record, new=True)))
    written = await write(gm.graph, session, kept, gm.clock())
    assert written is not None
    assert written.current
    await open_memories(gm, session, held.version + 1)
    return record


class Judging:
    """Judges every pair alike in place of the networks, and notes the words that it was asked about."""

    def __init__(self, verdict: PairVerdict) -> None:
        self.verdict = verdict
        self.asked: list[tuple[str, str]] = []

    def __call__(self, new: Claim, old: Claim) -> PairVerdict:
        self.asked.append((old.words, new.words))
        return self.verdict


@contextmanager
def judged_by(judge: Callable[[Claim, Claim], PairVerdict], *places: ModuleType) -> Iterator[None]:
    """Judge pairs by a test's own rule: in turns and cycles (`uncertainty_plan`), or where memories are formed."""
    with pytest.MonkeyPatch.context() as patch:
        for place in places or (uncertainty_plan, formation_plan):
            patch.setattr(place, "pair_verdict", judge)
        yield
