"""Operations of the contract as methods, with asyncio and without."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict
from datetime import datetime
from enum import Enum
from functools import lru_cache, partial
from threading import Lock, Thread
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

import httpx
from pydantic import TypeAdapter

from graphmem.client.backoff import Backoff
from graphmem.client.documents import document
from graphmem.client.results import (
    ActionCheckResult,
    AnalysisResult,
    CompanionResult,
    CompressionResult,
    ConceptPageResult,
    ConceptResult,
    ContextResult,
    ErasedResult,
    FactResult,
    ImportedResult,
    ImportedStudentResult,
    IntegrityResult,
    JobPageResult,
    JobResult,
    KnownResult,
    LedgerEntryResult,
    MemoryEventResult,
    MemoryPageResult,
    MemoryResult,
    NeighbourhoodResult,
    OverlayPageResult,
    ProgressPageResult,
    ProgressResult,
    QuestionResult,
    RecalledResult,
    ServiceTokenResult,
    SessionResult,
    SourceResult,
    StudentResult,
    TurnEventResult,
    TurnResult,
    UncertaintyResult,
    UsageResult,
)
from graphmem.errors import GraphmemError, NotFound, Unavailable
from graphmem.model import (
    MAIN_WORLD,
    Concept,
    JobState,
    LedgerCategory,
    MemoryKind,
    MemoryRole,
    Modality,
    Observation,
    Reliability,
    Resolution,
    Severity,
    UncertaintyState,
    Verdict,
    WorldEdge,
)

P = ParamSpec("P")
T = TypeVar("T")


class Operation(Generic[P, T]):
    """Decorator of a method that is a coroutine in `AsyncClient` and blocks in `Client`."""

    def __init__(self, call: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> None:
        self.call, self.__doc__ = call, call.__doc__

    @overload
    def __get__(self, client: "AsyncClient", owner: Any) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, client: "Client", owner: Any) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: None, owner: Any) -> Self: ...
    def __get__(self, client: "AsyncClient | Client | None", owner: Any) -> Any:
        return self if client is None else client.bound(partial(self.call, client))


class Stream(Generic[P, T]):
    """Decorator of a method that is an asynchronous generator in `AsyncClient` and an ordinary one in `Client`."""

    def __init__(self, call: Callable[Concatenate[Any, P], AsyncGenerator[T, None]]) -> None:
        self.call, self.__doc__ = call, call.__doc__

    @overload
    def __get__(self, client: "AsyncClient", owner: Any) -> Callable[P, AsyncGenerator[T, None]]: ...
    @overload
    def __get__(self, client: "Client", owner: Any) -> Callable[P, Generator[T, None, None]]: ...
    @overload
    def __get__(self, client: None, owner: Any) -> Self: ...
    def __get__(self, client: "AsyncClient | Client | None", owner: Any) -> Any:
        return self if client is None else client.streaming(partial(self.call, client))


def error_of(error: Mapping[str, Any]) -> GraphmemError:
    """The error of `graphmem.errors` that an error of an answer stands for.

    Examples
    --------
    >>> error_of({"message": "Open a session first.", "extensions": {"code": "LOCKED"}})
    Locked('Open a session first.')
    """
    waiting: list[type[GraphmemError]] = [GraphmemError]
    code = error.get("extensions", {}).get("code")
    while waiting:
        kind = waiting.pop()
        if kind.code == code:
            return kind(error["message"])
        waiting += kind.__subclasses__()
    return GraphmemError(error["message"])


def _event_of(message: Mapping[str, Any]) -> Any:
    """The value that a message of a subscription holds; its error is raised."""
    payload = message["payload"]
    errors = payload if message["type"] == "error" else payload.get("errors")
    if errors:
        raise error_of(errors[0])
    (value,) = payload["data"].values()
    return value


def _json(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: _json(each) for name, each in value.items()}
    return [_json(each) for each in value] if isinstance(value, list | tuple) else value


class Operations:
    """The operations of the contract, on one server with one bearer token.

    The token of each session that `open_session` opens is kept, and sent with what is about its student. A request
    that is answered by UNAVAILABLE, or not at all, is sent again (a stream: until its first event).

    Parameters
    ----------
    address : str, such as `http://127.0.0.1:8000`
    token : str, a bearer token (`graphmem token`)
    timeout : float > 0, seconds of one try
    patience : float >= 0, seconds from the first failure after which nothing is sent again; 0: never
    http : httpx.AsyncClient, to be used instead of one of its own; its base_url is the address

    Raises
    ------
    GraphmemError   every method: the class of `graphmem.errors` whose code the answer has; a note says where an
                    earlier try may have taken effect
    Unavailable     every method: the API does not answer
    """

    def __init__(
        self,
        address: str = "",
        token: str = "",
        *,
        timeout: float = 120.0,
        patience: float = 60.0,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self.http = http or httpx.AsyncClient(base_url=address, timeout=timeout)
        self.token, self.patience = token, patience
        self.sessions: dict[str, str] = {}
        """Session tokens by student id."""
        self.bookmark = ""
        """What this client wrote last, so that any member of a cluster shows it at once."""

    @Operation
    async def execute(self, query: str, student_id: str | None = None, /, **variables: Any) -> Any:
        """The value of the one field of a document of your own, as JSON has it."""
        return await self._executed(query, student_id, variables)

    @Operation
    async def enrol_student(
        self, student_id: str, password: str, display_name: str | None = None, time_zone: str | None = None
    ) -> StudentResult:
        """Enrol a student; the password opens everything that is ever sealed. For admins."""
        variables = {"id": student_id, "password": password, "displayName": display_name, "timeZone": time_zone}
        return await self._ask(_ENROL, StudentResult, None, **variables)

    @Operation
    async def open_session(self, student_id: str, password: str) -> SessionResult:
        """Unlock a student for a while; the session's token is sent from now on."""
        opened = await self._ask(_OPEN, SessionResult, student_id, password=password)
        self.sessions[student_id] = opened.token
        return opened

    @Operation
    async def renew_session(self, student_id: str) -> SessionResult:
        """Let the session that this client opened end later, as each use does."""
        return await self._ask(_RENEW, SessionResult, student_id)

    @Operation
    async def close_session(self, student_id: str) -> bool:
        """End the session that this client opened; with the student's last one the student is locked."""
        closed = await self._ask(_CLOSE, bool, student_id)
        self.sessions.pop(student_id, None)
        return closed

    @Operation
    async def change_password(self, student_id: str, old: str, new: str, *, end_sessions: bool = False) -> bool:
        """Change the password; nothing has to be sealed again. The student's other sessions end if wanted."""
        return await self._ask(_PASSWORD, bool, student_id, old=old, new=new, endSessions=end_sessions)

    @Operation
    async def rotate_key(self, student_id: str, password: str, *, end_sessions: bool = False) -> int:
        """Replace the student's key by a new one and seal all anew; the sessions end. How many values were sealed."""
        resealed = await self._ask(_ROTATE, int, student_id, password=password, endSessions=end_sessions)
        self.sessions.pop(student_id, None)
        return resealed

    @Operation
    async def recover_student(self, student_id: str, recovery_key: str, password: str) -> StudentResult:
        """Set a new password with the secret recovery key of the institution (role admin)."""
        given = {"recoveryKey": recovery_key, "password": password}
        return await self._ask(_RECOVER, StudentResult, student_id, **given)

    @Operation
    async def set_companion(
        self,
        student_id: str,
        *,
        name: str | None = None,
        persona: str | None = None,
        expertise: Sequence[str] | None = None,
    ) -> StudentResult:
        """Set name, persona and expertise of a student's companion; None leaves what is there."""
        given = {"name": name, "persona": persona, "expertise": None if expertise is None else list(expertise)}
        return await self._ask(_COMPANION, StudentResult, student_id, **given)

    @Operation
    async def set_default_companion(
        self, *, name: str | None = None, persona: str | None = None, expertise: Sequence[str] | None = None
    ) -> CompanionResult:
        """Set the companion that the institution's new students get. For admins."""
        given = {"name": name, "persona": persona, "expertise": None if expertise is None else list(expertise)}
        return await self._ask(_DEFAULT_COMPANION, CompanionResult, None, **given)

    @Operation
    async def handle_turn(
        self,
        student_id: str,
        turn_id: str,
        text: str,
        *,
        at: datetime | None = None,
        reply: str | None = None,
        task: str | None = None,
        opener: str | None = None,
        used: Sequence[str] = (),
    ) -> TurnResult:
        """Answer a message, learn from it and predict the next; repeat with the same id after Unavailable."""
        given = {"at": at, "reply": reply, "task": task, "opener": opener, "used": list(used)}
        return await self._ask(_TURN, TurnResult, student_id, turnId=turn_id, text=text, **given)

    @Operation
    async def observe(self, student_id: str, observations: Sequence[Observation]) -> tuple[SourceResult, ...]:
        """Note lessons, teachers' remarks, other speakers; also while locked."""
        given = [
            {
                "kind": each.kind,
                "ref": each.ref,
                "text": each.text,
                "at": each.at,
                "speaker": each.speaker,
                "practised": [{"conceptId": one.concept_id, "outcome": one.outcome.name} for one in each.practised],
            }
            for each in observations
        ]
        return await self._ask(_OBSERVE, tuple[SourceResult, ...], student_id, observations=given)

    @Operation
    async def student(self, student_id: str) -> StudentResult | None:
        """A student, or None if there is none of this id."""
        return await self._ask(_STUDENT, StudentResult | None, student_id, id=student_id)

    @Operation
    async def recall(
        self,
        student_id: str,
        query: str,
        *,
        limit: int = 20,
        as_of: datetime | None = None,
        roles: Sequence[MemoryRole] = (),
    ) -> tuple[RecalledResult, ...]:
        """The memories that fit a question, best first, and why; only of some roles where they are named."""
        given = {"query": query, "limit": limit, "asOf": as_of, "roles": list(roles)}
        return await self._ask(_RECALL, tuple[RecalledResult, ...], student_id, **given)

    @Operation
    async def context(
        self,
        student_id: str,
        query: str,
        *,
        token_budget: int = 2000,
        as_of: datetime | None = None,
        history: int = 0,
    ) -> ContextResult:
        """Get the context for answering a message, within a token budget; latest turns stand in `messages`."""
        given = {"query": query, "tokenBudget": token_budget, "asOf": as_of, "history": history}
        return await self._ask(_CONTEXT, ContextResult, student_id, **given)

    @Operation
    async def memory(self, student_id: str, memory_id: str) -> MemoryResult | None:
        """A memory, or None if there is none of this id."""
        return await self._ask(_MEMORY, MemoryResult | None, student_id, id=memory_id)

    @Operation
    async def memories(
        self,
        student_id: str,
        *,
        modality: Modality | None = None,
        kind: MemoryKind | None = None,
        reliability: Reliability | None = None,
        min_gravity: float | None = None,
        as_of: datetime | None = None,
        first: int = 20,
        after: str | None = None,
    ) -> MemoryPageResult:
        """A page of memories, newest first."""
        wanted = {"modality": modality, "kind": kind, "reliability": reliability, "minGravity": min_gravity}
        return await self._ask(_MEMORIES, MemoryPageResult, student_id, asOf=as_of, first=first, after=after, **wanted)

    @Operation
    async def kept(self, student_id: str, turn_ids: Sequence[str]) -> tuple[bool | None, ...]:
        """Of each turn, whether a memory formed of its message was consolidated; None while that is not judged."""
        return await self._ask(_KEPT, tuple[bool | None, ...], student_id, turnIds=list(turn_ids))

    @Operation
    async def around(
        self, student_id: str, memory_id: str, *, hops: int = 2, min_weight: float = 0.0, as_of: datetime | None = None
    ) -> NeighbourhoodResult:
        """A memory and what is a few edges away from it."""
        asked = {"memoryId": memory_id, "hops": hops, "minWeight": min_weight, "asOf": as_of}
        return await self._ask(_AROUND, NeighbourhoodResult, student_id, **asked)

    @Operation
    async def facts(
        self, student_id: str, *, first: int = 200, as_of: datetime | None = None
    ) -> tuple[FactResult, ...]:
        """Facts, newest first."""
        return await self._ask(_FACTS, tuple[FactResult, ...], student_id, first=first, asOf=as_of)

    @Operation
    async def ledger(
        self,
        student_id: str,
        *,
        category: LedgerCategory | None = None,
        active: bool | None = None,
        as_of: datetime | None = None,
    ) -> tuple[LedgerEntryResult, ...]:
        """The ledger, newest first."""
        found, wanted = tuple[LedgerEntryResult, ...], {"category": category, "active": active, "asOf": as_of}
        return await self._ask(_LEDGER, found, student_id, **wanted)

    @Operation
    async def add_ledger_entry(
        self,
        student_id: str,
        category: LedgerCategory,
        content: str,
        *,
        summary: str | None = None,
        importance: float = 0.7,
        triggers: Sequence[str] = (),
        trigger_entities: Sequence[str] = (),
        trigger_threshold: float = 0.7,
        expires_at: datetime | None = None,
    ) -> LedgerEntryResult:
        """Keep what must not be forgotten; an active equal entry stays as it is."""
        entry = {
            "category": category,
            "content": content,
            "summary": summary,
            "importance": importance,
            "triggers": list(triggers),
            "triggerEntities": list(trigger_entities),
            "triggerThreshold": trigger_threshold,
            "expiresAt": expires_at,
        }
        return await self._ask(_ADD, LedgerEntryResult, student_id, entry=entry)

    @Operation
    async def settle_ledger_entry(self, student_id: str, entry_id: str, note: str | None = None) -> LedgerEntryResult:
        """Settle a ledger entry; it stays, and comes up no more."""
        return await self._ask(_SETTLE, LedgerEntryResult, student_id, id=entry_id, note=note)

    @Operation
    async def questions(self, student_id: str) -> tuple[QuestionResult, ...]:
        """Questions that surprises left open and that were not answered, longest waiting first."""
        return await self._ask(_QUESTIONS, tuple[QuestionResult, ...], student_id)

    @Operation
    async def answer_question(self, student_id: str, question_id: str, text: str) -> bool:
        """Take the student's answer to a question."""
        return await self._ask(_ANSWER, bool, student_id, id=question_id, text=text)

    @Operation
    async def correct_surprise(
        self, student_id: str, memory_id: str, verdict: Verdict, note: str | None = None
    ) -> MemoryResult:
        """Say that a surprise was important, or was not."""
        return await self._ask(_CORRECT, MemoryResult, student_id, memoryId=memory_id, verdict=verdict, note=note)

    @Operation
    async def correct_concern(self, student_id: str, concern_id: str, note: str | None = None) -> bool:
        """Say that a message told of no danger."""
        return await self._ask(_CORRECT_CONCERN, bool, student_id, id=concern_id, note=note)

    @Operation
    async def correct_memory(self, student_id: str, memory_id: str, content: str) -> MemoryResult:
        """Put what the student says in the place of a memory; it can be undone as a resolution."""
        return await self._ask(_CORRECT_MEMORY, MemoryResult, student_id, id=memory_id, content=content)

    @Operation
    async def uncertainties(
        self,
        student_id: str,
        *,
        state: UncertaintyState | None = None,
        severity: Severity | None = None,
        topic: str | None = None,
        as_of: datetime | None = None,
    ) -> tuple[UncertaintyResult, ...]:
        """Uncertainties, newest first; of a topic where one is given."""
        found = tuple[UncertaintyResult, ...]
        wanted = {"state": state, "severity": severity, "topic": topic, "asOf": as_of}
        return await self._ask(_UNCERTAINTIES, found, student_id, **wanted)

    @Operation
    async def resolve_uncertainty(
        self,
        student_id: str,
        uncertainty_id: str,
        resolution: Resolution,
        *,
        winner_id: str | None = None,
        detail: str | None = None,
    ) -> UncertaintyResult:
        """Settle an uncertainty; `winner_id` where a person decides."""
        given = {"id": uncertainty_id, "resolution": resolution, "winnerId": winner_id, "detail": detail}
        return await self._ask(_RESOLVE, UncertaintyResult, student_id, **given)

    @Operation
    async def undo_resolution(self, student_id: str, uncertainty_id: str) -> UncertaintyResult:
        """Open a settled uncertainty again, its memories as they were before."""
        return await self._ask(_UNDO, UncertaintyResult, student_id, id=uncertainty_id)

    @Operation
    async def reconcile(self, student_id: str) -> tuple[UncertaintyResult, ...]:
        """Run a drift cycle now; the doubts it found."""
        return await self._ask(_RECONCILE, tuple[UncertaintyResult, ...], student_id)

    @Operation
    async def check_action(
        self, student_id: str, memory_ids: Sequence[str], action: str, confidence: float
    ) -> ActionCheckResult:
        """Ask, before an action, whether the memories it rests on can be relied on."""
        given = {"memoryIds": list(memory_ids), "action": action, "confidence": confidence}
        return await self._ask(_CHECK, ActionCheckResult, student_id, **given)

    @Operation
    async def jobs(
        self,
        student_id: str | None = None,
        *,
        state: JobState | None = None,
        first: int = 20,
        after: str | None = None,
    ) -> JobPageResult:
        """Background work, newest first: of the institution, or of one student."""
        return await self._ask(_JOBS, JobPageResult, student_id, state=state, first=first, after=after)

    @Operation
    async def retry_job(self, job_id: str) -> JobResult:
        """Start a dead job again; it runs when the student's session does."""
        return await self._ask(_RETRY, JobResult, None, id=job_id)

    @Operation
    async def compress(self, student_id: str, *, preview: bool = False, to: int | None = None) -> CompressionResult:
        """Make a student's memories fewer, or tell what that would do."""
        return await self._ask(_COMPRESS, CompressionResult, student_id, preview=preview, to=to)

    @Operation
    async def compressions(self, student_id: str, *, first: int = 20) -> tuple[CompressionResult, ...]:
        """Compressions of a student's memories, newest first."""
        return await self._ask(_COMPRESSIONS, tuple[CompressionResult, ...], student_id, first=first)

    @Operation
    async def verify_integrity(self, student_id: str) -> IntegrityResult:
        """What of a student was altered by hand in the database; needs no session."""
        return await self._ask(_VERIFY, IntegrityResult, student_id)

    @Operation
    async def delete_ledger_entry(self, student_id: str, entry_id: str) -> bool:
        """Delete a ledger entry for good; false where there is none."""
        return await self._ask(_DELETE_ENTRY, bool, student_id, id=entry_id)

    @Operation
    async def forget(self, student_id: str, memory_id: str) -> ErasedResult:
        """Forget a memory and what it fed, for good."""
        return await self._ask(_FORGET, ErasedResult, student_id, memoryId=memory_id)

    @Operation
    async def delete_fact(self, student_id: str, fact_id: str) -> bool:
        """Delete a fact for good; False where there is none."""
        return await self._ask(_DELETE_FACT, bool, student_id, id=fact_id)

    @Operation
    async def delete_observation(self, student_id: str, source_id: str) -> ErasedResult:
        """Delete what was observed, with the memories that come from it alone."""
        return await self._ask(_DELETE_OBSERVATION, ErasedResult, student_id, id=source_id)

    @Operation
    async def export_student(self, student_id: str) -> str:
        """All that is kept of a student, readable, as one JSON document."""
        return await self._ask(_EXPORT, str, student_id)

    @Operation
    async def import_student(
        self, student_id: str, password: str, document: str, *, skip_unknown: bool = False
    ) -> ImportedStudentResult:
        """Make an exported student anew, sealed with a new key that the new password opens. For admins."""
        return await self._ask(
            _IMPORT_STUDENT,
            ImportedStudentResult,
            None,
            id=student_id,
            password=password,
            document=document,
            skipUnknown=skip_unknown,
        )

    @Operation
    async def import_world(
        self,
        concepts: Sequence[Concept],
        edges: Sequence[WorldEdge] = (),
        *,
        world: str = MAIN_WORLD,
        replace: bool = False,
    ) -> ImportedResult:
        """Add concepts and edges to the institution's world, or change those of the same ids. For admins.

        With `replace` what the world of this name has beside them is removed.
        """
        given = [asdict(c) | {"aliases": list(c.aliases), "misconceptions": list(c.misconceptions)} for c in concepts]
        linked = [{"id": e.id, "fromId": e.from_id, "toId": e.to_id, "type": e.type} for e in edges]
        more = {"world": world, "replace": replace}
        return await self._ask(_IMPORT_WORLD, ImportedResult, None, concepts=given, edges=linked, **more)

    @Operation
    async def concept(self, concept_id: str) -> ConceptResult | None:
        """A concept of the institution's world, or None if there is none of this id."""
        return await self._ask(_CONCEPT, ConceptResult | None, None, id=concept_id)

    @Operation
    async def concepts(
        self,
        search: str | None = None,
        *,
        domain: str | None = None,
        first: int = 20,
        after: str | None = None,
    ) -> ConceptPageResult:
        """The concepts of the institution's world: by id, or what a search finds, the best first."""
        return await self._ask(
            _CONCEPTS, ConceptPageResult, None, search=search, domain=domain, first=first, after=after
        )

    @Operation
    async def reveal(
        self,
        student_id: str,
        concept_ids: Sequence[str] = (),
        edge_ids: Sequence[str] = (),
        *,
        through_grade: int | None = None,
    ) -> OverlayPageResult:
        """Put concepts, and edges between known ones, into what a student knows; all up to a grade as well."""
        given = {"conceptIds": list(concept_ids), "edgeIds": list(edge_ids), "throughGrade": through_grade}
        return await self._ask(_REVEAL, OverlayPageResult, student_id, **given)

    @Operation
    async def set_attitude(
        self,
        student_id: str,
        concept_id: str,
        *,
        attitude: float | None = None,
        familiarity: float | None = None,
        notes: str | None = None,
    ) -> KnownResult:
        """Set what a student thinks of a known concept and how well it is known; None leaves what is there."""
        given = {"attitude": attitude, "familiarity": familiarity, "notes": notes}
        return await self._ask(_SET_ATTITUDE, KnownResult, student_id, conceptId=concept_id, **given)

    @Operation
    async def overlay(self, student_id: str, *, first: int = 100, after: str | None = None) -> OverlayPageResult:
        """The concepts of the world that a student knows, by id."""
        return await self._ask(_OVERLAY, OverlayPageResult, student_id, first=first, after=after)

    @Operation
    async def progress(
        self, student_id: str, *, first: int = 200, after: str | None = None
    ) -> tuple[ProgressResult, ...]:
        """How the student is getting on with known concepts, what is due soonest first; after a certain concept."""
        return await self._ask(_PROGRESS, tuple[ProgressResult, ...], student_id, first=first, after=after)

    @Operation
    async def fading(
        self, student_id: str, *, days: int = 7, first: int = 20, after: str | None = None
    ) -> ProgressPageResult:
        """Known concepts about to be forgotten: their chance of recall falls below 0.7 within some days."""
        return await self._ask(_FADING, ProgressPageResult, student_id, days=days, first=first, after=after)

    @Operation
    async def frontier(self, student_id: str, *, limit: int = 10) -> tuple[ConceptResult, ...]:
        """Unknown concepts all of whose prerequisites are known; the companion may not name them yet."""
        return await self._ask(_FRONTIER, tuple[ConceptResult, ...], student_id, limit=limit)

    @Operation
    async def erase_student(self, student_id: str) -> ErasedResult:
        """Erase a student: all that is kept, the key first; an app needs the open session, an admin does not."""
        erased: ErasedResult = await self._ask(_ERASE, ErasedResult, student_id)
        self.sessions.pop(student_id, None)
        return erased

    @Operation
    async def service_tokens(self) -> list[ServiceTokenResult]:
        """The institution's service tokens, the newest first; revoked and expired ones too. For admins."""
        return await self._ask(_SERVICE_TOKENS, list[ServiceTokenResult], None)

    @Operation
    async def revoke_token(self, token_id: str) -> ServiceTokenResult:
        """Revoke a service token, for good: within seconds no server accepts it any more. For admins."""
        return await self._ask(_REVOKE_TOKEN, ServiceTokenResult, None, id=token_id)

    @Operation
    async def usage(self, student_id: str | None = None, since: datetime | None = None) -> UsageResult:
        """Usage and cost of language models, of the institution or of one student."""
        return await self._ask(_USAGE, UsageResult, student_id, since=since)

    @Operation
    async def analysis(self, name: str, params: Mapping[str, Any]) -> AnalysisResult:
        """Run a named query for analysts; `graphmem query` lists them."""
        return await self._ask(_ANALYSIS, AnalysisResult, None, name=name, params=dict(params))

    @Stream
    async def turn_stream(
        self,
        student_id: str,
        turn_id: str,
        text: str,
        *,
        at: datetime | None = None,
        reply: str | None = None,
        task: str | None = None,
        opener: str | None = None,
    ) -> AsyncGenerator[TurnEventResult, None]:
        """As `handle_turn`: the reply while it is written, then the turn."""
        given = {"turnId": turn_id, "text": text, "at": at, "reply": reply, "task": task, "opener": opener}
        async with aclosing(self._streamed(_TURN_STREAM, TurnEventResult, student_id, given)) as events:
            async for event in events:
                yield event

    @Stream
    async def memory_events(self, student_id: str) -> AsyncGenerator[MemoryEventResult, None]:
        """Stream what happens to a student's memories from now on; Locked as soon as the session has ended."""
        async with aclosing(self._streamed(_MEMORY_EVENTS, MemoryEventResult, student_id, {})) as events:
            async for event in events:
                yield event

    async def _streamed(
        self, query: str, type_: Any, student_id: str, variables: Mapping[str, Any]
    ) -> AsyncGenerator[Any, None]:
        """The values of a subscription, which is begun again until it has a first one."""
        backoff, begun = Backoff(self.patience), False
        while True:
            try:
                async with aclosing(self._streamed_once(query, type_, student_id, variables)) as events:
                    async for event in events:
                        begun = True
                        yield event
                return
            except Unavailable as error:
                if begun:
                    raise
                await backoff.wait(error)

    async def _streamed_once(
        self, query: str, type_: Any, student_id: str, variables: Mapping[str, Any]
    ) -> AsyncGenerator[Any, None]:
        """The values of a subscription (graphql-transport-ws)."""
        from websockets.asyncio.client import connect
        from websockets.exceptions import WebSocketException
        from websockets.typing import Subprotocol

        asked = {"studentId": student_id, "opened": student_id in self.sessions, **variables}
        given = {name: _json(value) for name, value in asked.items() if value is not None and f"${name}:" in query}
        address = str(self.http.base_url).replace("http", "ws", 1).rstrip("/") + "/graphql"
        try:
            async with connect(address, subprotocols=[Subprotocol("graphql-transport-ws")]) as socket:
                await socket.send(json.dumps({"type": "connection_init", "payload": self._headers(student_id)}))
                await socket.recv()
                operation = {"query": query, "variables": given}
                await socket.send(json.dumps({"id": "1", "type": "subscribe", "payload": operation}))
                async for message in socket:
                    received = json.loads(message)
                    if received["type"] == "complete":
                        return
                    if received["type"] in ("next", "error"):
                        yield _adapter(type_).validate_python(_event_of(received))
        except (WebSocketException, OSError) as e:
            raise Unavailable("The API does not answer.") from e
        raise Unavailable("The API has ended the stream.")

    def _headers(self, student_id: str | None) -> dict[str, str]:
        headers = {"Authorization": f"Bearer {self.token}"}
        if student_id in self.sessions:
            headers["X-Graphmem-Session"] = self.sessions[student_id]
        if self.bookmark:
            headers["X-Graphmem-Bookmark"] = self.bookmark
        return headers

    async def _executed(self, query: str, student_id: str | None, variables: Mapping[str, Any]) -> Any:
        """The value of an operation, which is sent again while it is Unavailable."""
        backoff = Backoff(self.patience)
        while True:
            try:
                return await self._executed_once(query, student_id, variables)
            except Unavailable as error:
                await backoff.wait(error)
            except GraphmemError as error:
                if backoff.tries:
                    error.add_note(f"Sent {backoff.tries + 1} times: an earlier try may have taken effect.")
                raise

    async def _executed_once(self, query: str, student_id: str | None, variables: Mapping[str, Any]) -> Any:
        given = {name: _json(value) for name, value in variables.items() if value is not None}
        try:
            response = await self.http.post(
                "/graphql", json={"query": query, "variables": given}, headers=self._headers(student_id)
            )
            answer = response.json()
            self.bookmark = response.headers.get("X-Graphmem-Bookmark", self.bookmark)
        except (httpx.HTTPError, ValueError) as e:
            raise Unavailable(f"The API at {self.http.base_url} does not answer.") from e
        if errors := answer.get("errors"):
            raise error_of(errors[0])
        (value,) = answer["data"].values()
        return value

    async def _ask(self, query: str, type_: Any, student_id: str | None, /, **variables: Any) -> Any:
        """The value of an operation, about a student or about the institution."""
        if "$opened" in query:
            variables["opened"] = student_id in self.sessions
        value = await self._executed(query, student_id, {"studentId": student_id, **variables})
        if _OF_STUDENT in query:
            if value is None:
                raise NotFound("There is no such student.")
            (value,) = value.values()
        return _adapter(type_).validate_python(value)


class AsyncClient(Operations):
    """The client for asyncio: `async with AsyncClient(address, token) as client`."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    def bound(self, call: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
        """Called by `Operation`: a method as this client has it."""
        return call

    def streaming(self, call: Callable[P, AsyncGenerator[T, None]]) -> Callable[P, AsyncGenerator[T, None]]:
        """Called by `Stream`: a method as this client has it."""
        return call


class Client(Operations):
    """The blocking client: `with Client(address, token) as client`, or without `with`. It runs `AsyncClient`'s code."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        _run(self.http.aclose())

    def bound(self, call: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
        """Called by `Operation`: a method as this client has it."""
        return lambda *args, **kwargs: _run(call(*args, **kwargs))

    def streaming(self, call: Callable[P, AsyncGenerator[T, None]]) -> Callable[P, Generator[T, None, None]]:
        """Called by `Stream`: a method as this client has it."""

        def blocking(*args: P.args, **kwargs: P.kwargs) -> Generator[T, None, None]:
            events = call(*args, **kwargs)

            async def following() -> T | None:
                return await anext(events, None)

            try:
                while (event := _run(following())) is not None:
                    yield event
            finally:
                _run(events.aclose())

        return blocking


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine of a blocking client, and wait for it."""
    with _STARTING:
        loop = _event_loop(os.getpid())
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return future.result()
    except BaseException:
        # Where Ctrl-C ends the waiting the work ends, too.
        future.cancel()
        raise


_STARTING = Lock()


@lru_cache
def _event_loop(_process: int) -> asyncio.AbstractEventLoop:
    """The event loop of all blocking clients of a process, in a thread that does not keep the process from ending."""
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="graphmem-client", daemon=True).start()
    return loop


@lru_cache
def _adapter(type_: Any) -> TypeAdapter[Any]:
    return TypeAdapter(type_)


_mutation, _query = partial(document, "mutation"), partial(document, "query")
_of_student = partial(document, "query", of_student=True)
_OF_STUDENT = "student(id: $studentId) { "

_ENROL = _mutation("enrolStudent", "id: ID!, password: String!, displayName: String, timeZone: String", StudentResult)
_OPEN = _mutation("openSession", "studentId: ID!, password: String!", SessionResult)
_RENEW = _mutation("renewSession", "studentId: ID!", SessionResult)
_CLOSE = _mutation("closeSession", "studentId: ID!", None)
_PASSWORD = _mutation("changePassword", "studentId: ID!, old: String!, new: String!, endSessions: Boolean", None)
_ROTATE = _mutation("rotateKey", "studentId: ID!, password: String!, endSessions: Boolean", None)
_RECOVER = _mutation("recoverStudent", "studentId: ID!, recoveryKey: String!, password: String!", StudentResult)
_COMPANION = _mutation(
    "setCompanion", "studentId: ID!, name: String, persona: String, expertise: [String!]", StudentResult
)
_DEFAULT_COMPANION = _mutation(
    "setDefaultCompanion", "name: String, persona: String, expertise: [String!]", CompanionResult
)
_TURN = _mutation(
    "handleTurn",
    "studentId: ID!, turnId: ID!, text: String!, at: DateTime, reply: String, task: String, opener: String, "
    "used: [ID!]",
    TurnResult,
)
_OBSERVE = _mutation("observe", "studentId: ID!, observations: [ObservationInput!]!", SourceResult)
_ADD = _mutation("addLedgerEntry", "studentId: ID!, entry: LedgerInput!", LedgerEntryResult)
_SETTLE = _mutation("settleLedgerEntry", "studentId: ID!, id: ID!, note: String", LedgerEntryResult)
_ANSWER = _mutation("answerQuestion", "studentId: ID!, id: ID!, text: String!", None)
_CORRECT = _mutation("correctSurprise", "studentId: ID!, memoryId: ID!, verdict: Verdict!, note: String", MemoryResult)
_CORRECT_CONCERN = _mutation("correctConcern", "studentId: ID!, id: ID!, note: String", None)
_CORRECT_MEMORY = _mutation("correctMemory", "studentId: ID!, id: ID!, content: String!", MemoryResult)
_RESOLVE = _mutation(
    "resolveUncertainty",
    "studentId: ID!, id: ID!, resolution: Resolution!, winnerId: ID, detail: String",
    UncertaintyResult,
)
_UNDO = _mutation("undoResolution", "studentId: ID!, id: ID!", UncertaintyResult)
_RECONCILE = _mutation("reconcile", "studentId: ID!", UncertaintyResult)
_CHECK = _mutation(
    "checkAction", "studentId: ID!, memoryIds: [ID!]!, action: String!, confidence: Float!", ActionCheckResult
)
_COMPRESS = _mutation("compress", "studentId: ID!, preview: Boolean, to: Int", CompressionResult)
_DELETE_ENTRY = _mutation("deleteLedgerEntry", "studentId: ID!, id: ID!", None)
_FORGET = _mutation("forget", "studentId: ID!, memoryId: ID!", ErasedResult)
_DELETE_FACT = _mutation("deleteFact", "studentId: ID!, id: ID!", None)
_DELETE_OBSERVATION = _mutation("deleteObservation", "studentId: ID!, id: ID!", ErasedResult)
_EXPORT = _mutation("exportStudent", "studentId: ID!", None)
_IMPORT_STUDENT = _mutation(
    "importStudent", "id: ID!, password: String!, document: String!, skipUnknown: Boolean", ImportedStudentResult
)
_IMPORT_WORLD = _mutation(
    "importWorld",
    "concepts: [ConceptInput!]!, edges: [WorldEdgeInput!]!, world: String, replace: Boolean",
    ImportedResult,
)
_CONCEPT = _query("concept", "id: ID!", ConceptResult)
_CONCEPTS = _query("concepts", "search: String, domain: String, first: Int, after: String", ConceptPageResult)
_SET_ATTITUDE = _mutation(
    "setAttitude",
    "studentId: ID!, conceptId: ID!, attitude: Float, familiarity: Float, notes: String",
    KnownResult,
)
_REVEAL = _mutation(
    "reveal", "studentId: ID!, conceptIds: [ID!]!, edgeIds: [ID!], throughGrade: Int", OverlayPageResult
)
_ANALYSIS = _query("analysis", "name: String!, params: JSON", AnalysisResult)
_TURN_STREAM = document(
    "subscription",
    "turnStream",
    "studentId: ID!, turnId: ID!, text: String!, at: DateTime, reply: String, task: String, opener: String",
    TurnEventResult,
)
_MEMORY_EVENTS = document("subscription", "memoryEvents", "studentId: ID!", MemoryEventResult)
_ERASE = _mutation("eraseStudent", "studentId: ID!", ErasedResult)
_SERVICE_TOKENS = _query("serviceTokens", "", ServiceTokenResult)
_REVOKE_TOKEN = _mutation("revokeToken", "id: ID!", ServiceTokenResult)
_RETRY = _mutation("retryJob", "id: ID!", JobResult)
_STUDENT = _query("student", "id: ID!", StudentResult)
_MEMORY = _query("memory", "studentId: ID!, id: ID!", MemoryResult)
_JOBS = _query("jobs", "studentId: ID, state: JobState, first: Int, after: String", JobPageResult)
_USAGE = _query("usage", "studentId: ID, since: DateTime", UsageResult)
_RECALL = _of_student("recall", "query: String!, limit: Int, asOf: DateTime, roles: [MemoryRole!]", RecalledResult)
_CONTEXT = _of_student("context", "query: String!, tokenBudget: Int, asOf: DateTime, history: Int", ContextResult)
_MEMORIES = _of_student(
    "memories",
    "modality: Modality, kind: MemoryKind, reliability: Reliability, minGravity: Float, asOf: DateTime, "
    "first: Int, after: String",
    MemoryPageResult,
)
_KEPT = _of_student("kept", "turnIds: [ID!]!", None)
_AROUND = _of_student("around", "memoryId: ID!, hops: Int, minWeight: Float, asOf: DateTime", NeighbourhoodResult)
_OVERLAY = _of_student("overlay", "first: Int, after: String", OverlayPageResult)
_PROGRESS = _of_student("progress", "first: Int, after: ID", ProgressResult)
_FADING = _of_student("fading", "days: Int, first: Int, after: String", ProgressPageResult)
_FRONTIER = _of_student("frontier", "limit: Int", ConceptResult)
_FACTS = _of_student("facts", "first: Int, asOf: DateTime", FactResult)
_LEDGER = _of_student("ledger", "category: LedgerCategory, active: Boolean, asOf: DateTime", LedgerEntryResult)
_UNCERTAINTIES = _of_student(
    "uncertainties", "state: UncertaintyState, severity: Severity, topic: String, asOf: DateTime", UncertaintyResult
)
_COMPRESSIONS = _of_student("compressions", "first: Int", CompressionResult)
_VERIFY = _of_student("verifyIntegrity", "", IntegrityResult)
_QUESTIONS = _of_student("questions", "", QuestionResult)
