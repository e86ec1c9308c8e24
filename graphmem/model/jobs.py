"""Background work, as frozen values (spec 16)."""

from dataclasses import dataclass, field
from datetime import datetime

from graphmem.model.enums import JobState
from graphmem.model.fields import documented


@dataclass(frozen=True)
class Job:
    """A piece of work that follows a turn (spec 16)."""

    id: str = field(metadata=documented("Id within the institution."))
    kind: str = field(metadata=documented("Kind of work."))
    student_id: str = field(metadata=documented("Id of the student it is for."))
    state: JobState = field(metadata=documented("Where it stands."))
    attempts: int = field(metadata=documented("Attempts so far, 0 to 5."))
    created_at: datetime = field(metadata=documented("When it was made (UTC)."))
    run_after: datetime | None = field(
        default=None, metadata=documented("When it is tried again (UTC); null: at once.")
    )
    error: str | None = field(default=None, metadata=documented("Why the last attempt failed, if one did."))

    @property
    def ref(self) -> str:
        """Its name within the institution: two students may have jobs of the same id."""
        return f"{self.student_id}/{self.id}"
