"""Concerns over HTTP: the app is told in the same answer, an auditor sees without a key, and nobody else does."""

from collections.abc import Callable

import httpx
import pytest

from graphmem.app import Graphmem
from graphmem.model import Role
from tests.conftest import Pupil
from tests.support.client import Client, Refused

CRY = "I don't want to live anymore."
TURN = """mutation T($s: ID!, $text: String!) { handleTurn(studentId: $s, turnId: "t1", text: $text) {
  reply level concern { id kind urgency about at help personShouldLook correctedAt } } }"""
WELLBEING = """query W($s: ID!) { wellbeing(studentId: $s) {
  studentId openThreats flag weeks { week turns threats } concerns { id kind urgency correctedAt } } }"""
CORRECT = 'mutation C($s: ID!, $id: ID!) { correctConcern(studentId: $s, id: $id, note: "a song") }'


async def refused(client: Client, query: str, **variables: str) -> str:
    with pytest.raises(Refused) as caught:
        await client.call(query, **variables)
    return caught.value.code


async def test_the_app_is_told_and_an_auditor_sees_the_flag_without_a_key(
    gm: Graphmem, app_client: Client, http: httpx.AsyncClient, bearer: Callable[[Role], str], ann: Pupil
) -> None:
    turn = await app_client.call(TURN, s="ann", text=CRY)
    told = turn["concern"]
    assert (told["kind"], told["about"], told["personShouldLook"]) == ("SELF_HARM", "self", True)
    assert told["help"] == gm.settings.help
    assert told["help"] in turn["reply"]
    auditor = Client(http, bearer(Role.AUDITOR))
    seen = await auditor.call(WELLBEING, s="ann")
    assert (seen["openThreats"], seen["flag"], len(seen["weeks"])) == (1, True, 12)
    assert [each["id"] for each in seen["concerns"]] == [told["id"]]
    for role in (Role.TEACHER, Role.ANALYST, Role.ADMIN):
        assert await refused(Client(http, bearer(role)), WELLBEING, s="ann") == "FORBIDDEN"
    assert await refused(auditor, CORRECT, s="ann", id=told["id"]) == "FORBIDDEN"
    assert await app_client.call(CORRECT, s="ann", id=told["id"]) is True
    assert await refused(app_client, CORRECT, s="ann", id="concern-77") == "NOT_FOUND"
    seen = await auditor.call(WELLBEING, s="ann")
    assert (seen["openThreats"], seen["flag"]) == (0, False)
