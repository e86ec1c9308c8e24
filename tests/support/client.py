"""Documents of GraphQL as tests write them, and a client that runs them."""

from dataclasses import dataclass, field
from typing import Any

import httpx

from graphmem.errors import GraphmemError, Unavailable

TURN = """
mutation Turn($student: ID!, $turn: ID!, $text: String!, $at: DateTime, $reply: String) {
  handleTurn(studentId: $student, turnId: $turn, text: $text, at: $at, reply: $reply) {
    turnId reply degraded matched match parrotMatch surprise level importance threshold repeated
    learnedFact { id text tags }
    attention { feature value weight }
    recalled { weight why memory { id modality content } }
    ledger { category content }
    recalledFacts { text }
    recalledTurns { text similarity }
    nextPrediction { text neededInfo }
    usage { calls inputTokens outputTokens cost }
  }
}"""
ENROL = """
mutation Enrol($student: ID!, $password: String!, $name: String) {
  enrolStudent(id: $student, password: $password, displayName: $name) { id }
}"""
OPEN = """
mutation Open($student: ID!, $password: String!) {
  openSession(studentId: $student, password: $password) { token expiresAt }
}"""
REMEMBERED = """
query Remembered($student: ID!, $about: String!) {
  student(id: $student) {
    memoryCount
    context(query: $about, tokenBudget: 400) { prompt tokens memories { why weight memory { content } } }
  }
}"""
CLOSE = "mutation Close($student: ID!) { closeSession(studentId: $student) }"


class Refused(GraphmemError):
    """The API answered with an error; `code` is its code."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Client:
    """Calls the API of one server with one bearer token, and with a session token once a student is open."""

    http: httpx.AsyncClient
    token: str = field(repr=False)
    session: str | None = field(default=None, repr=False)

    async def call(self, query: str, **variables: Any) -> Any:
        """Run one operation and return the value of its one field.

        Raises
        ------
        Refused         the API answered with an error
        Unavailable     nobody answered
        """
        headers = {"Authorization": f"Bearer {self.token}"}
        if self.session is not None:
            headers["X-Graphmem-Session"] = self.session
        try:
            response = await self.http.post("/graphql", json={"query": query, "variables": variables}, headers=headers)
            answer = response.json()
        except (httpx.HTTPError, ValueError) as e:
            raise Unavailable("The API does not answer.") from e
        if answer.get("errors"):
            error = answer["errors"][0]
            raise Refused(error["message"], error["extensions"]["code"])
        (value,) = answer["data"].values()
        return value

    async def opened(self, student: str, password: str) -> "Client":
        """The same client with a session of this student."""
        session = await self.call(OPEN, student=student, password=password)
        return Client(self.http, self.token, session["token"])
