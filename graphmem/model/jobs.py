"""Background work, as frozen values (spec 16)."""

from dataclasses import dataclass
from datetime import datetime

from graphmem.model.enums import JobState


@dataclass(frozen=True)
class Job:
    """A piece of work that follows a turn (spec 16)."""

    id: str
    """Id within the institution."""
    kind: str
    """Kind of work."""
    student_id: str
    """Id of the student it is for."""
    state: JobState
    """Where it stands."""
    attempts: int
    """Attempts so far, 0 to 5."""
    created_at: datetime
    """When it was made (UTC)."""
    run_after: datetime | None = None
    """When it is tried again (UTC); null: at once."""
    error: str | None = None
    """Why the last attempt failed, if one did."""

    @property
    def ref(self) -> str:
        """Its name within the institution: two students may have jobs of the same id."""
        return f"{self.student_id}/{self.id}"
