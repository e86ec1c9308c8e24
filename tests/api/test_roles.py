"""Every operation for every role in every state of student and tokens, compared with the table of docs/roles.md.

`pytest -s tests/api/test_roles.py` prints the matrix.
"""

import asyncio
import json
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import jwt
import pytest
from graphql import (
    GraphQLArgument,
    GraphQLField,
    build_schema,
    get_named_type,
    is_leaf_type,
    is_required_argument,
)
from jwt.api_jws import PyJWS

from graphmem.app import Graphmem
from graphmem.bearer import make_token
from graphmem.flows import students
from graphmem.flows.ledger import list_entries, wellbeing
from graphmem.flows.students import issue_token, revoke_token
from graphmem.flows.surprise import list_questions
from graphmem.flows.transfer import export_text
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import MemoryRole, Role
from graphmem.sealing import bearer_key, session_token
from tests.api.websocket import connected, first_answer
from tests.conftest import PASSWORD, Enrol, Pupil, say
from tests.support.client import Client, Refused
from tests.support.doubting import doubted
from tests.support.dumping import dump
from tests.support.remembering import held, nodes
from tests.support.whole_life import lives

ROOT = Path(__file__).parents[2]
SCHEMA = build_schema((ROOT / "api" / "schema.graphql").read_text("utf-8"))
ROLES = (Role.APP, Role.TEACHER, Role.AUDITOR, Role.ANALYST, Role.ADMIN)
REFUSALS = {"FORBIDDEN", "LOCKED", "UNAUTHENTICATED"}
SEALED = {"content", "surpriseResponse"}
"""Fields of a memory that are LOCKED without the session; each has a row of its own."""


def declared() -> dict[str, dict[Role, str]]:
    """The table of the docs: cells by operation and role."""
    text = (ROOT / "docs" / "roles.md").read_text("utf-8")
    rows = re.findall(r"^\| `([^`]+)` \|((?: \w+ \|){5})$", text, re.MULTILINE)
    return {name: dict(zip(ROLES, re.findall(r"\w+", cells), strict=True)) for name, cells in rows}


TABLE = declared()


@dataclass(frozen=True)
class State:
    """A state: whose data is asked for, and with which tokens.

    target : name of the student
    session : name of the student whose session token is sent, or one that will not do; None: none
    bearer : `own`, `other` (another institution's), `forged`, `expired`, or `ann` (an app's that reaches her only)
    """

    name: str
    target: str
    session: str | None
    bearer: str = "own"


STATES = (
    State("unlocked", "ann", "ann"),
    State("no session", "ann", None),
    State("locked", "eve", None),
    State("closed session", "eve", "eve"),
    State("expired session", "ann", "expired"),
    State("garbled session", "ann", "garbled"),
    State("other's session", "bob", "ann"),
    State("nobody", "nobody", None),
    State("nobody, session", "nobody", "ann"),
    State("other school", "ann", "ann", "other"),
    State("forged token", "ann", "ann", "forged"),
    State("expired token", "ann", "ann", "expired"),
)
STATE = {state.name: state for state in STATES}
DEAD_SESSIONS = {"expired session", "garbled session", "other's session", "nobody, session", "other school"}
"""States in which an app sends a session that is not the student's, or is none."""
LAST = (
    "deleteFact",
    "forget",
    "deleteObservation",
    "deleteLedgerEntry",
    "changePassword",
    "openSession",
    "rotateKey",
    "closeSession",
    "eraseStudent",
    "enrolStudent",
    "importStudent",
)
"""Operations after which others would find something else; the last five get a student of their own each time."""
OWN_STUDENT = ("rotateKey", "closeSession", "eraseStudent", "enrolStudent", "importStudent")


@dataclass(frozen=True)
class Cell:
    """What one call answered: the code of its first error, or `ok`, with the message and the value."""

    code: str
    message: str = ""
    value: Any = None


@dataclass
class School:
    """An institution with students in every state, and what is needed to call each operation."""

    gm: Graphmem
    http: httpx.AsyncClient
    api: str
    pupils: dict[str, Pupil]
    sessions: dict[str, str]
    given: dict[str, Any]

    @property
    def institution(self) -> str:
        return self.pupils["ann"].who.institution

    async def dump(self) -> list[str]:
        """All that is kept of this institution and of the one that tokens of another name."""
        return await dump(self.gm, self.institution, f"other-{self.institution}")

    def bearer(self, role: Role, kind: str) -> str:
        now = self.gm.clock()
        if kind == "forged":
            return make_token(b"f" * 32, self.institution, role, 3600, now)
        if kind == "expired":
            return make_token(self.gm.secret, self.institution, role, 60, now - timedelta(hours=1))
        institution = f"other-{self.institution}" if kind == "other" else self.institution
        return make_token(self.gm.secret, institution, role, 3600, now, student_id="ann" if kind == "ann" else None)

    async def call(self, operation: str, role: Role, state: State, *, refused: bool) -> Cell:
        """Call an operation and take what it answers; `refused` says what is expected of a subscription."""
        document, variables = self.request(operation, state.target)
        headers = {"Authorization": f"Bearer {self.bearer(role, state.bearer)}"}
        if state.session is not None:
            headers["X-Graphmem-Session"] = self.sessions[state.session]
        if document.startswith("subscription"):
            return await self._subscribed(document, variables, headers, 30.0 if refused else 1.0)
        response = await self.http.post(
            "/graphql", json={"query": document, "variables": variables}, headers=headers, timeout=60
        )
        return cell_of(response.json())

    async def _subscribed(
        self, document: str, variables: dict[str, Any], headers: dict[str, str], patience: float
    ) -> Cell:
        async with connected(self.api, **headers) as socket:
            try:
                async with asyncio.timeout(patience):
                    answer = await first_answer(socket, {"query": document, "variables": variables})
            except TimeoutError:
                # Nothing has happened yet that it could tell.
                return Cell("ok")
            payload = answer["payload"]
            return cell_of({"errors": payload} if answer["type"] == "error" else payload)

    def request(self, operation: str, target: str) -> tuple[str, dict[str, Any]]:
        """Document and variables of an operation about a student."""
        path = re.sub(r"\(.*\)", "", operation).split(".")
        kind, field = root_field(path[0])
        given = self.values(operation, target)
        if path[0] == "student" and len(path) > 1:
            inner = SCHEMA.type_map["Student"].fields[path[1]]  # type: ignore[attr-defined]
            call, variables, declared_ = called(path[1], inner, given)
            declared_["id"], variables["id"] = "ID!", target
            body = f"student(id: $id) {{ {call} }}"
        elif path[0] == "memory" and len(path) > 1:
            call, variables, declared_ = called("memory", field, given, only=path[1])
            body = call
        else:
            call, variables, declared_ = called(path[0], field, given)
            body = call
        head = ", ".join(f"${name}: {type_}" for name, type_ in declared_.items())
        return f"{kind}({head}) {{ {body} }}" if head else f"{kind} {{ {body} }}", variables

    def values(self, operation: str, target: str) -> dict[str, Any]:
        """Arguments of an operation; those of another student have the same form."""
        own: dict[str, Any] = self.given | {"studentId": target}
        if operation == "student":
            own |= {"id": target}
        if operation in ("memory", "memory.content", "memory.surpriseResponse"):
            own |= {"id": self.given["episode" if operation == "memory.surpriseResponse" else "memoryId"]}
        if operation.startswith("observe"):
            kind = re.findall(r"kind: (\w+)", operation)[0]
            own |= {"observations": [{"kind": kind, "text": "We did fractions.", "ref": uuid4().hex}]}
        if operation in ("enrolStudent", "importStudent"):
            own |= {"id": target}
        if operation in ("changePassword", "rotateKey"):
            own |= {"old": PASSWORD, "new": PASSWORD, "endSessions": operation == "rotateKey"}
        if operation == "analysis":
            own |= {"name": "edges_by_type", "params": {"student_id": target}}
        if operation == "correctSurprise":
            own |= {"memoryId": self.given["episode"]}
        if operation == "retryJob":
            own |= {"id": f"{target}/dead-1"}
        if operation in ("handleTurn", "turnStream"):
            own |= {"turnId": uuid4().hex, "text": "I like trains."}
        names = {
            "concept": "conceptId",
            "revokeToken": "nothing",
            "settleLedgerEntry": "promise",
            "deleteLedgerEntry": "instruction",
            "deleteFact": "nothing",
            "deleteObservation": "source",
            "correctConcern": "concern",
            "correctMemory": "memoryId",
            "resolveUncertainty": "doubt",
            "undoResolution": "doubt",
            "answerQuestion": "question",
        }
        return own | ({"id": self.given[names[operation]]} if operation in names else {})


def root_field(name: str) -> tuple[str, GraphQLField]:
    for kind in ("query", "mutation", "subscription"):
        root = getattr(SCHEMA, f"{kind}_type")
        if name in root.fields:
            return kind, root.fields[name]
    raise KeyError(name)


def called(
    name: str, field: GraphQLField, given: dict[str, Any], only: str | None = None
) -> tuple[str, dict[str, Any], dict[str, str]]:
    """A field with its arguments as variables: as text, with their values and types."""
    wanted: dict[str, GraphQLArgument] = {
        each: arg
        for each, arg in field.args.items()
        if is_required_argument(arg)
        or each == "studentId"
        or (each in ("winnerId", "preview", "params", "endSessions") and each in given)
    }
    types = {each: f"{arg.type}".removesuffix("!") + "!" for each, arg in wanted.items()}
    if only is None:
        chosen = selection(get_named_type(field.type), 3)
    else:
        inner = get_named_type(field.type).fields[only]  # type: ignore[attr-defined]
        chosen = f" {{ {only}{selection(get_named_type(inner.type), 2)} }}"
    arguments = ", ".join(f"{each}: ${each}" for each in wanted)
    call = f"{name}({arguments}){chosen}" if wanted else f"{name}{chosen}"
    return call, {each: given[each] for each in wanted}, types


def selection(type_: Any, depth: int) -> str:
    """Every field without arguments that need a value, some levels deep; of memories what is clear."""
    if is_leaf_type(type_):
        return ""
    names = []
    for name, field in type_.fields.items():
        inner = get_named_type(field.type)
        if any(is_required_argument(arg) for arg in field.args.values()) or name in SEALED:
            continue
        # What needs the session has rows of its own.
        if type_.name == "Student" and TABLE[f"student.{name}"][Role.APP] == "session":
            continue
        if is_leaf_type(inner):
            names.append(name)
        elif depth > 1 and (type_.name, name) != ("Student", "questions"):
            names.append(name + selection(inner, depth - 1))
    return f" {{ {' '.join(names)} }}"


def cell_of(answer: dict[str, Any]) -> Cell:
    errors = answer.get("errors")
    if errors:
        return Cell(errors[0]["extensions"]["code"], errors[0]["message"], answer.get("data"))
    return Cell("ok", value=answer["data"])


@pytest.fixture
async def school(gm: Graphmem, http: httpx.AsyncClient, api: str, enrol: Enrol) -> School:
    """Ann's session is open and Bob's too, Eve's is closed; another institution has nobody of these names."""
    pupils = {name: await enrol(name) for name in ("ann", "bob", "eve")}
    ann = pupils["ann"]
    await lives(gm, ann, "marmalade")
    for name in ("bob", "eve"):
        await say(gm, pupils[name], "My dog Rex is brown.", "t0")
    await say(gm, ann, "I want to kill myself.", "danger")
    await kill_jobs(gm, ann.who.institution, [*pupils])
    await run_jobs(gm, ann.session)
    # Not of memories that others of these operations correct or forget.
    *_, doubtful, other = await held(gm, ann.session)
    await doubted(gm, ann.session, doubtful, other, id="doubt-2")
    await close_session(gm, pupils["eve"].session, wait=True)
    await asyncio.gather(*gm.background.tasks)
    expired = session_token(gm.secret, replace(ann.session, expires_at=gm.clock() - timedelta(seconds=1)))
    sessions = {name: pupil.token for name, pupil in pupils.items()} | {"expired": expired, "garbled": "bm9uZQ"}
    given = await values_of(gm, ann) | {"document": await export_text(gm, pupils["bob"].session)}
    return School(gm, http, api, pupils, sessions, given)


async def kill_jobs(gm: Graphmem, institution: str, names: list[str]) -> None:
    """A dead job of each of these students."""
    kill = """UNWIND $names AS name
              MERGE (job:Job {institution: $i, student_id: name, id: 'dead-1'})
              SET job += {kind: 'form', state: 'dead', attempts: 5, created_at: $now, run_after: $now,
                          payload: $payload, error: 'It is too late.'}"""
    values = {"i": institution, "names": names, "now": gm.clock(), "payload": b"x"}
    await gm.graph.execute(kill, values, reads=False)


async def values_of(gm: Graphmem, ann: Pupil) -> dict[str, Any]:
    """Arguments with which every operation succeeds for Ann's app."""
    memory, *_, winner = [each.id for each in await held(gm, ann.session)]
    entries = {entry.category.name: entry.id for entry in await list_entries(gm, ann.session)}
    (question, *_) = await list_questions(gm, ann.session)
    (concern, *_) = (await wellbeing(gm, ann.who)).concerns
    found = await nodes(gm, ann.who, "Memory")
    (episode, *_) = [node["id"] for node in found if node["role"] == MemoryRole.EPISODE]
    (source, *_) = [node for node in await nodes(gm, ann.who, "Source") if node["kind"] == "lesson"]
    return {
        "memoryId": memory,
        "winnerId": winner,
        "episode": episode,
        "promise": entries["PROMISE"],
        "instruction": entries["INSTRUCTION"],
        "entry": {"category": "FACT", "content": "Rex is brown."},
        "question": question.id,
        "concern": concern.id,
        "doubt": "doubt-2",
        "nothing": "nothing",
        "source": source["id"],
        "conceptId": "marmalade-racing",
        "conceptIds": ["marmalade-racing"],
        "query": "Who hides a marmalade?",
        "password": PASSWORD,
        "recoveryKey": "A" * 43 + "=",
        "text": "Because I like it.",
        "content": "My dog is black.",
        "action": "Send a letter.",
        "confidence": 0.5,
        "memoryIds": [memory],
        "turnIds": ["t0"],
        "verdict": "WAS_IMPORTANT",
        "resolution": "USER_CLARIFIED",
        "preview": True,
        "concepts": [{"id": "sum", "name": "Sum"}],
        "edges": [],
    }


def expected(operation: str, role: Role, state: State) -> set[str]:
    """Codes that a cell of the table allows in a state."""
    cell = TABLE[operation][role]
    if state.bearer in ("forged", "expired"):
        return {"UNAUTHENTICATED"}
    if operation.startswith("student.") and TABLE["student"][role] == "yes" and is_nobody(state):
        return {"ok"}  # null
    if cell == "no":
        return {"FORBIDDEN"}
    if cell == "sealed":
        return {"LOCKED"} if state.target == "ann" and state.bearer == "own" else {"ok", "LOCKED"}
    if cell == "session":
        return {"ok"} if state.name == "unlocked" else {"LOCKED"}
    if operation == "recoverStudent":
        # This institution has no recovery key.
        return {"FORBIDDEN"}
    if operation.startswith("observe") and role is Role.APP and state.name in DEAD_SESSIONS:
        return {"LOCKED"}
    if operation in ("openSession", "changePassword", "rotateKey"):
        # Nobody learns whether there is such a student.
        return {"LOCKED"} if is_nobody(state) else {"ok"}
    may_lack = (
        is_nobody(state) or operation == "revokeToken" or (operation == "student.around" and state.target != "ann")
    )
    return {"ok", "NOT_FOUND"} if may_lack else {"ok"}


def is_nobody(state: State) -> bool:
    return state.target == "nobody" or state.bearer == "other"


def operations() -> list[str]:
    """All rows of the table; those after which others would find something else come last."""
    return sorted(TABLE, key=lambda name: LAST.index(name) if name in LAST else -1)


TOLD_APART = (("no session", "nobody"), ("locked", "nobody"), ("other's session", "nobody, session"))
"""States that a refusal must not tell apart: the second has no such student."""


Matrix = dict[tuple[str, Role], dict[str, Cell]]


async def test_the_matrix_is_the_table(gm: Graphmem, school: School, enrol: Enrol) -> None:
    matrix: Matrix = {(operation, role): {} for operation in operations() for role in ROLES}
    # First what is refused, of all that there is: nothing may have changed by it.
    before = await school.dump()
    for operation in operations():
        await fill(matrix, school, enrol, operation, refused=True)
    assert await school.dump() == before
    for operation in operations():
        await fill(matrix, school, enrol, operation, refused=False)
        await asyncio.gather(*gm.background.tasks)
    show(matrix)
    wrong = [
        (operation, role.value, name, cell.code, cell.message)
        for (operation, role), cells in matrix.items()
        for name, cell in cells.items()
        if cell.code not in expected(operation, role, STATE[name])
    ]
    telling = [
        (operation, role.value, known)
        for (operation, role), cells in matrix.items()
        for known, unknown in TOLD_APART
        # Whoever may ask for students or memories is told that there is none.
        if not operation.startswith("student.") or TABLE["student"][role] == "no"
        if TABLE[operation][role] != "sealed"
        if cells[known].code in REFUSALS and cells[known] != cells[unknown]
    ]
    refusals = sum(cell.code in REFUSALS for cells in matrix.values() for cell in cells.values())
    calls = sum(map(len, matrix.values()))
    print(
        f"{calls} calls, {refusals} refused; not as declared {len(wrong)}, telling who exists {len(telling)}, written 0"
    )
    print(*wrong, *telling, sep="\n")
    assert wrong == []
    assert telling == []
    for (operation, role), cells in matrix.items():
        if operation in ("student.displayName", "student.companion"):
            check_nulls(operation.partition(".")[2], cells, app=role is Role.APP)


async def fill(matrix: Matrix, school: School, enrol: Enrol, operation: str, *, refused: bool) -> None:
    """Call an operation for the roles and states in which it is refused, or in those in which it is not."""
    gm = school.gm
    # Passwords are wrong here more often than anybody may be.
    await gm.graph.execute("MATCH (n:PasswordTry) DETACH DELETE n", {}, reads=False)
    cells = [(r, s) for r in ROLES for s in STATES if (expected(operation, r, s) <= REFUSALS) is refused]
    if root_field(re.sub(r"\(.*\)", "", operation).split(".")[0])[0] == "subscription":
        # Each waits a while for what happens.
        answers = await asyncio.gather(*(school.call(operation, role, state, refused=refused) for role, state in cells))
        for (role, state), answer in zip(cells, answers, strict=True):
            matrix[operation, role][state.name] = answer
        return
    for role, state in cells:
        used = state
        if not refused and operation == "retryJob":
            await kill_jobs(gm, school.institution, [*school.pupils])
        elif not refused and operation in OWN_STUDENT:
            used = await with_student_of_its_own(school, enrol, operation, state)
        matrix[operation, role][state.name] = await school.call(operation, role, used, refused=refused)


def check_nulls(field: str, cells: dict[str, Cell], *, app: bool) -> None:
    """What is null without the session is there with it."""
    for name, cell in cells.items():
        if cell.code == "ok" and (cell.value or {}).get("student"):
            assert (cell.value["student"][field] is not None) == (app and name == "unlocked"), (field, name)


async def with_student_of_its_own(school: School, enrol: Enrol, operation: str, state: State) -> State:
    """The same state of a student whom nobody else needs."""
    name = f"own-{uuid4().hex}"
    if operation in ("enrolStudent", "importStudent") or state.target == "nobody" or state.bearer == "other":
        return replace(state, target=name)
    pupil = await enrol(name)
    school.sessions[name] = pupil.token
    if state.target == "eve":
        await close_session(school.gm, pupil.session, wait=True)
    return replace(state, target=name, session=name if state.session == state.target else state.session)


def show(matrix: dict[tuple[str, Role], dict[str, Cell]]) -> None:
    """Print the matrix: a line an operation and role, a column a state."""
    short = {"FORBIDDEN": "forb", "LOCKED": "lock", "UNAUTHENTICATED": "auth", "NOT_FOUND": "none"}
    print("\n" + " " * 38 + " ".join(f"{state.name[:9]:9}" for state in STATES))
    for (operation, role), cells in matrix.items():
        row = " ".join(f"{short.get(cells[s.name].code, cells[s.name].code)[:9]:9}" for s in STATES)
        print(f"{operation:30}{role.value:8}{row}")


WORLD = {"concept", "concepts"}
"""Operations of an app that are about no student."""


async def test_a_token_of_one_student_reaches_nobody_else(school: School) -> None:
    apps = [each for each in operations() if TABLE[each][Role.APP] != "no"]
    others, nobody = State("", "bob", "bob", "ann"), State("", "nobody", "bob", "ann")
    before = await school.dump()
    answers = {
        (operation, state.target): (await school.call(operation, Role.APP, state, refused=True)).code
        for operation in apps
        for state in (others, nobody)
        if operation not in WORLD
    }
    assert set(answers.values()) == {"FORBIDDEN"}, answers
    assert await school.dump() == before
    for operation in ("student.memories", "memory.content", "openSession", *WORLD):
        assert (await school.call(operation, Role.APP, State("", "ann", "ann", "ann"), refused=False)).code == "ok"


async def test_an_app_makes_a_token_of_one_student_that_ends_with_its_own(
    gm: Graphmem, http: httpx.AsyncClient, institution: str, ann: Pupil
) -> None:
    own, service = await issue_token(gm, institution, Role.APP, "school app", days=0.01)
    document = 'mutation($s: Float) { makeStudentToken(studentId: "ann", seconds: $s) }'
    for seconds, lasts in ((60, 60.0), (10**6, 864.0)):
        token = await Client(http, own, ann.token).call(document, s=seconds)
        made = gm.caller_of(token)
        assert (made.role, made.student_id, made.token_id) == (Role.APP, "ann", service.id)
        assert 0.0 <= lasts - (made.expires_at - gm.clock()).total_seconds() < 30.0
    with pytest.raises(Refused, match="more than 0") as refused:
        await Client(http, own, ann.token).call(document, s=0)
    assert refused.value.code == "INVALID_INPUT"
    await revoke_token(gm, institution, service.id)
    with pytest.raises(Refused) as refused:
        await Client(http, token, ann.token).call("{ concepts { total } }")
    assert refused.value.code == "UNAUTHENTICATED"


@pytest.mark.parametrize("header", ["", "Basic YTpi", "Bearer", "Bearer x.y.z", "Bearer " + "a" * 5000])
async def test_a_header_that_is_no_token(http: httpx.AsyncClient, header: str) -> None:
    answer = await http.post(
        "/graphql", json={"query": "{ students { total } }"}, headers={"Authorization": header} if header else {}
    )
    assert answer.json()["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"


@pytest.mark.parametrize("change", ["none", "HS512", "no exp", "no issuer", "other role", "raw key"])
async def test_a_token_that_is_nearly_one(gm: Graphmem, http: httpx.AsyncClient, institution: str, change: str) -> None:
    now = gm.clock()
    claims: dict[str, Any] = {"iss": "graphmem", "institution": institution, "role": "admin", "iat": now}
    claims |= {"exp": now + timedelta(hours=1)}
    key: Any = bearer_key(gm.secret)  # None is no key of the types, and of `none`
    algorithm = "HS256"
    if change == "none":
        key, algorithm = None, "none"
    elif change == "HS512":
        algorithm = "HS512"
    elif change == "raw key":
        key = gm.secret
    elif change == "other role":
        claims["role"] = "superuser"
    else:
        del claims["exp" if change == "no exp" else "iss"]
    with warnings.catch_warnings(action="ignore"):
        token = jwt.encode(claims, key, algorithm)
    answer = await http.post(
        "/graphql", json={"query": "{ students { total } }"}, headers={"Authorization": f"Bearer {token}"}
    )
    assert answer.json()["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"


ODD: dict[str, tuple[Any, ...]] = {
    "exp": (10**18, 10**400, -(10**18), float("inf"), float("nan"), [], {}, "soon", True, None),
    "nbf": (10**18, 10**400, [], "soon", float("inf")),
    "iat": (10**18, 10**400, [], "soon", float("inf")),
    "role": (["admin"], 7, None, {}, "ADMIN", "admin\n"),
    "institution": (None, "", "a\nb", 7),
    "student": ("", "a\nb", 7, [], {}, True),
    "jti": ([], 7, {"a": 1}, "unknown"),
}
ODD_CLAIMS = [{name: value} for name, values in ODD.items() for value in values]


@pytest.mark.parametrize("odd", ODD_CLAIMS, ids=lambda odd: str(odd)[:40])
async def test_a_signed_token_of_odd_claims(
    gm: Graphmem, http: httpx.AsyncClient, institution: str, odd: dict[str, Any]
) -> None:
    claims: dict[str, Any] = {"iss": "graphmem", "institution": institution, "role": "admin", "exp": 9_999_999_999}
    # The library would check some of them before it signs.
    token = PyJWS().encode(json.dumps(claims | odd).encode(), bearer_key(gm.secret), "HS256")
    answer = await http.post(
        "/graphql", json={"query": "{ students { total } }"}, headers={"Authorization": f"Bearer {token}"}
    )
    assert answer.status_code == 200
    assert [error["extensions"]["code"] for error in answer.json()["errors"]] == ["UNAUTHENTICATED"]


async def test_an_app_sees_the_work_of_its_own_student_only(
    gm: Graphmem, http: httpx.AsyncClient, bearer: Callable[[Role], str], enrol: Enrol
) -> None:
    """Without `studentId` it is that of the student whose session is sent."""
    ann, bob = await enrol("ann"), await enrol("bob")
    for pupil in (ann, bob):
        await say(gm, pupil, "My dog Rex is brown.")
    jobs, usage = "{ jobs(first: 200) { items { studentId } } }", "{ usage { calls } }"
    with_session = Client(http, bearer(Role.APP), ann.token)
    assert {job["studentId"] for job in (await with_session.call(jobs))["items"]} == {"ann"}
    assert (await with_session.call(usage))["calls"] == 0
    for query in (jobs, usage):
        with pytest.raises(Refused) as refused:
            await Client(http, bearer(Role.APP)).call(query)
        assert refused.value.code == "LOCKED"


async def test_one_forbidden_kind_refuses_all_observations(
    gm: Graphmem, http: httpx.AsyncClient, bearer: Callable[[Role], str], ann: Pupil
) -> None:
    before = await dump(gm, ann.who.institution)
    observations = [{"kind": kind, "text": "We did fractions."} for kind in ("LESSON", "SYSTEM")]
    document = """mutation($o: [ObservationInput!]!) { observe(studentId: "ann", observations: $o) { id } }"""
    with pytest.raises(Refused, match="SYSTEM") as refused:
        await Client(http, bearer(Role.TEACHER)).call(document, o=observations)
    assert refused.value.code == "FORBIDDEN"
    assert await dump(gm, ann.who.institution) == before


async def test_who_is_nobody_is_nobody_to_the_store(gm: Graphmem, ann: Pupil) -> None:
    assert await students.find_student(gm, replace(ann.who, institution=f"other-{ann.who.institution}")) is None
