"""One student's memory in four lines: open, add, context, search (spec 18)."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

from graphmem.app import Graphmem
from graphmem.errors import Conflict, Locked
from graphmem.flows import context as contexts
from graphmem.flows.students import enrol, find_student, open_session
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.jobs.sessions import close_session
from graphmem.model import Recalled, Session, TurnOutcome, Who
from graphmem.runtime import open_graphmem


@dataclass(frozen=True)
class PromptContext:
    """Context of a question, ready for a language model.

    found : all of it, with the memories, ledger entries and facts that the prompt holds
    """

    question: str = field(repr=False)
    found: contexts.Context = field(repr=False)

    @property
    def prompt(self) -> str:
        """The block of what is remembered; empty where nothing fits."""
        return self.found.prompt

    def messages(self) -> list[dict[str, str]]:
        """Return the messages to send, in OpenAI's form: the latest turns, the block, the question."""
        earlier = [{"role": each.role, "content": each.content} for each in self.found.messages]
        return [*earlier, {"role": "user", "content": self.question}]


@dataclass(frozen=True)
class StudentMemory:
    """One student's memory while a session is open; every function of the library takes its `gm` and `session`."""

    gm: Graphmem = field(repr=False)
    session: Session

    async def add(self, text: str, *, reply: str | None = None, turn_id: str | None = None) -> TurnOutcome:
        """Remember a message of the student, and return what came of it, the reply among it.

        Parameters
        ----------
        text : str, what the student said
        reply : str, what your app replied; None: graphmem replies by itself
        turn_id : str, so that the same message may be sent again; None: it counts as a new one
        """
        incoming = Incoming(turn_id or uuid4().hex, text, datetime.now(UTC), reply)
        return await handle_turn(self.gm, self.session, incoming)

    async def context(self, question: str, *, token_budget: int = 2_000, history: int = 6) -> PromptContext:
        """Return what is remembered that fits a question of the student; adds nothing.

        Parameters
        ----------
        question : str
        token_budget : int, 1 to 32,000, tokens of the block
        history : int, 0 to 50, latest turns that `messages` begins with
        """
        found = await contexts.context(self.gm, self.session, question, token_budget, history=history)
        return PromptContext(question, found)

    async def search(self, query: str, *, limit: int = 10) -> list[Recalled]:
        """Return the memories that fit a query, best first, each with its weight and why it fits; limit 1 to 100."""
        return await contexts.recall(self.gm, self.session, query, limit)


@asynccontextmanager
async def open_memory(
    student_id: str,
    password: str,
    *,
    display_name: str | None = None,
    institution: str = "demo",
    gm: Graphmem | None = None,
) -> AsyncIterator[StudentMemory]:
    """Open the memory of a student, who is enrolled at the first use, in this process.

    The local Neo4j is fetched and started when no other one is configured, and says so. At the end what was said is
    formed and consolidated.

    Parameters
    ----------
    student_id : str
    password : str, opens what is remembered; nobody can read it without
    display_name : str, how the student is called, for the first use
    institution : str, of the student
    gm : Graphmem, an open one for several students; None opens one for this student alone

    Raises
    ------
    Locked          the password is wrong
    InvalidInput    the id or the first password will not do
    SetupError      this machine or its Neo4j is not ready; the message says what to do
    """
    who = Who(institution, student_id)
    async with AsyncExitStack() as opened:
        if gm is None:
            gm = await opened.enter_async_context(open_graphmem())
        if await find_student(gm, who) is None:
            # Another process may be first: the password then tells whether it is the same student.
            with suppress(Conflict):
                await enrol(gm, who, password, display_name)
        try:
            _, session = await open_session(gm, who, password)
        except Locked:
            raise Locked(
                f"The password is wrong: {student_id} of {institution} is enrolled with another one. Give that one, or "
                "the id of another student."
            ) from None
        try:
            yield StudentMemory(gm, session)
        finally:
            await close_session(gm, session, wait=True)
