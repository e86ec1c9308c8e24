"""Requests made from the schema, sent by every role: none may fail inside, or write where it is refused."""

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import graphql
import httpx
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis_graphql import Mode, mutations, queries

from graphmem.app import Graphmem
from graphmem.bearer import make_token
from graphmem.flows import students
from graphmem.flows.ledger import Draft, add_entry
from graphmem.flows.observation import observe
from graphmem.flows.world import WorldDraft, import_world
from graphmem.jobs.runner import run_jobs
from graphmem.model import Concept, LedgerCategory, Observation, Role, Session, SourceKind, Who
from graphmem_api.schema import make_schema
from tests.support.dumping import dump

PASSWORD = "a password of a fuzzed student"
NAMES = ("ann", "ben")
CHUNK = 20
"""Documents of one operation that are made at a time."""
IDS = (*NAMES, "question-1-1", "doubt-1", "sum", "half", "ann/form-1", "t-1")
"""Ids that arguments have besides those of what the students remember."""
STUDENT = re.compile(r'(studentId: |student\(\s*id: )"(?:[^"\\]|\\.)*"')
WORLD = WorldDraft([(name, Concept(name, name.title())) for name in ("sum", "half")], [])
CALLERS = (
    "session",
    "session",
    "session",
    "session",
    "session",
    "other",
    "none",
    "teacher",
    "auditor",
    "analyst",
    "admin",
    "stranger",
)
"""Who sends a request: an app with the student's session, another's or none, another role, or without any token."""
TEXTS = ("My dog Rex is brown.", "I promise to bring the book on Monday.", "My favourite colour is teal.")


BEHIND_SECONDS = 2.0
"""Seconds in which what is done behind a close has ended."""


@dataclass
class Fuzzed:
    """What came of the requests: how many, codes, and what must not be there."""

    requests: int = 0
    refused: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    internal: list[str] = field(default_factory=list)
    stored: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        codes = ", ".join(f"{code} {n}" for code, n in self.codes.most_common())
        told = f"{self.requests} requests, {self.refused} refused mutations: INTERNAL {len(self.internal)}"
        return f"{told}, stored by refused {len(self.stored)} ({codes})"


def changed(before: list[str], after: list[str]) -> list[str]:
    """What two dumps differ in: of a node that both have, its properties and edges; else the whole of it.

    Examples
    --------
    >>> node = '{"labels": ["A"], "properties": {"id": 1, "n": %d}}'
    >>> changed([node % 1], [node % 2])
    ["['A'] 1: n"]
    """
    gone, new = (list(map(json.loads, set(one) - set(other))) for one, other in ((before, after), (after, before)))
    found: list[str] = []
    for node in new:
        own = next((each for each in gone if _named(each) == _named(node)), None)
        if own is None:
            found.append(f"new: {str(node)[:600]}")
            continue
        gone.remove(own)
        names = own["properties"].keys() | node["properties"].keys()
        differ = sorted(name for name in names if own["properties"].get(name) != node["properties"].get(name))
        edges = [] if own.get("edges") == node.get("edges") else ["edges"]
        found.append(f"{_named(node)}: {', '.join([*differ, *edges])}")
    return [*found, *(f"gone: {str(node)[:600]}" for node in gone)]


def _named(node: dict[str, Any]) -> str:
    return f"{node['labels']} {node['properties'].get('id')}"


def documents(schema: graphql.GraphQLSchema, ids: list[str], rng: random.Random) -> Iterator[tuple[str, str]]:
    """Documents without end, each with its operation; a tenth of them breaks the schema in one place.

    Most speak of the first student, so that they come as far as possible.
    """
    roots = ((queries, schema.query_type), (mutations, schema.mutation_type))
    made = [(make, name) for make, root in roots if root is not None for name in root.fields]
    while True:
        rng.shuffle(made)
        for make, name in made:
            mode = Mode.NEGATIVE if rng.random() < 0.1 and takes_anything(schema, name) else Mode.POSITIVE
            for text in chunk(schema, make, name, mode, tuple(ids), rng.randrange(2**32)):
                meant = mode is Mode.POSITIVE and rng.random() < 0.8
                yield name, STUDENT.sub(rf'\1"{NAMES[0]}"', text) if meant else text


def takes_anything(schema: graphql.GraphQLSchema, name: str) -> bool:
    """True if an operation has arguments: others cannot be asked wrongly."""
    roots = (root for root in (schema.query_type, schema.mutation_type) if root is not None)
    return any(root.fields[name].args for root in roots if name in root.fields)


def chunk(
    schema: graphql.GraphQLSchema, make: Callable[..., Any], name: str, mode: Mode, ids: tuple[str, ...], start: int
) -> list[str]:
    """Some documents of one operation."""
    known = st.sampled_from(ids).map(lambda value: graphql.StringValueNode(value=value))
    text = st.text(max_size=30).map(lambda value: graphql.StringValueNode(value=value))
    times = ("2026-01-15T00:00:00Z", "2026-01-15T00:00:00", "2999-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "now", "")
    moments = st.sampled_from(times).map(lambda value: graphql.StringValueNode(value=value))
    json_ = st.sampled_from(['{student_id: "ann"}', "{limit: 1}", "{limit: -1}", "[]", "1", "{}"]).map(
        graphql.parse_value
    )
    scalars = {"JSON": json_, "ID": st.one_of(known, known, known, known, text), "DateTime": moments}
    found: list[str] = []

    @seed(start)
    @settings(
        max_examples=CHUNK,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(make(schema, fields=[name], custom_scalars=scalars, mode=mode))
    def collect(document: str) -> None:
        found.append(document)

    collect()
    return found


@dataclass
class Fuzzer:
    """An institution whose students are at everybody's mercy."""

    gm: Graphmem
    http: httpx.AsyncClient
    institution: str
    rng: random.Random
    tokens: dict[str, str] = field(default_factory=dict)
    ids: list[str] = field(default_factory=lambda: [*IDS])
    found: Fuzzed = field(default_factory=Fuzzed)

    async def run(self, count: int, say: Callable[[str], None] = lambda text: None) -> Fuzzed:
        """Send so many requests."""
        await self.prepared()
        schema = graphql.build_schema(make_schema().as_str())
        before: list[str] | None = None
        for name, document in documents(schema, self.ids, self.rng):
            if self.found.requests == count:
                break
            is_mutation = not document.lstrip().startswith(("{", "query"))
            if is_mutation and before is None:
                before = await dump(self.gm, self.institution, manifest=False)
            caller = self.rng.choice(CALLERS)
            refused = await self.sent(document, caller)
            if not is_mutation:
                continue
            after = await dump(self.gm, self.institution, manifest=False)
            if refused:
                self.found.refused += 1
                if after != before:
                    self.found.stored.append(f"{caller}: {document}: {changed(before or [], after)}")
            before = after
            if name in ("eraseStudent", "closeSession") and not refused:
                # What follows a close is done behind it, and must not be seen as written by what is refused next.
                # Tasks that run jobs wait for a quiet that never comes here.
                if tasks := self.gm.background.tasks:
                    await asyncio.wait(tasks, timeout=BEHIND_SECONDS)
                await self.prepared()
                before = None
            if self.found.requests % 500 == 0:
                say(str(self.found))
        return self.found

    async def sent(self, document: str, caller: str) -> bool:
        """Send a request; whether it was refused as a whole."""
        response = await self.http.post("/graphql", json={"query": document}, headers=self.headers(caller), timeout=120)
        self.found.requests += 1
        try:
            answer = response.json()
        except ValueError:
            answer = {"errors": [{"extensions": {"code": f"status {response.status_code}"}}]}
        errors = answer.get("errors") or []
        codes = {error.get("extensions", {}).get("code", "none") for error in errors}
        self.found.codes.update(codes or {"ok"})
        if response.status_code >= 500 or codes & {"INTERNAL", "none"}:
            self.found.internal.append(f"{caller}: {document}: {sorted(codes)}")
        # What is refused further in was asked of a mutation that had been done.
        return any(len(error.get("path") or ()) <= 1 for error in errors)

    def headers(self, caller: str) -> dict[str, str]:
        """The tokens of a caller."""
        if caller == "stranger":
            return {}
        if caller not in ("session", "other", "none"):
            return {"Authorization": f"Bearer {self.bearer(Role(caller))}"}
        own = {"session": NAMES[0], "other": NAMES[1]}.get(caller)
        return {"Authorization": f"Bearer {self.bearer(Role.APP)}"} | (
            {} if own is None else {"X-Graphmem-Session": self.tokens[own]}
        )

    def bearer(self, role: Role) -> str:
        """A bearer token of the institution."""
        return make_token(self.gm.secret, self.institution, role, 36_000, datetime.now(UTC))

    async def prepared(self) -> None:
        """Enrol the students who are not there, and open their sessions."""
        for name in NAMES:
            who = Who(self.institution, name)
            is_new = await students.find_student(self.gm, who) is None
            if is_new:
                await students.enrol(self.gm, who, PASSWORD, name.title())
            self.tokens[name], session = await students.open_session(self.gm, who, PASSWORD)
            if is_new:
                await self._lived(session)

    async def _lived(self, session: Session) -> None:
        at = datetime(2026, 1, 5, tzinfo=UTC)
        told = [Observation(SourceKind.CHAT, f"r{i}", text, at) for i, text in enumerate(TEXTS)]
        await observe(self.gm, session, told)
        await run_jobs(self.gm, session)
        await add_entry(self.gm, session, Draft(LedgerCategory.PROMISE, "Bring the book."))
        await import_world(self.gm, self.institution, WORLD)
        for label in ("Memory", "LedgerEntry", "Source"):
            query = f"MATCH (n:{label} {{institution: $i}}) RETURN DISTINCT n.id AS id"
            rows = await self.gm.graph.execute(query, {"i": self.institution}, reads=True)
            self.ids += [row["id"] for row in rows if row["id"] not in self.ids]


async def fuzz(
    gm: Graphmem,
    http: httpx.AsyncClient,
    institution: str,
    count: int,
    start: int,
    say: Callable[[str], None] = lambda text: None,
) -> Fuzzed:
    """Send `count` requests made from the schema; the same `start` makes the same documents.

    `jobs_patience` of the API has to be longer than it takes.
    """
    # As if a turn was under way all the time, so that no job is begun behind a request's back.
    with gm.background.gate.turn():
        return await Fuzzer(gm, http, institution, random.Random(start)).run(count, say)
