"""Background work, as frozen values (spec 16)."""

from dataclasses import dataclass
from datetime import datetime

from graphmem.model.enums import JobState


@dataclass(frozen=True)
class Job:
    """A piece of work that follows a turn (spec 16)."""

    id: str
    kind: str
    student_id: str
    state: JobState
    attempts: int
    created_at: datetime
    run_after: datetime | None = None
    error: str | None = None

    @property
    def ref(self) -> str:
        """Its name within the institution: two students may have jobs of the same id."""
        return f"{self.student_id}/{self.id}"
