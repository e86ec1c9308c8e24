"""A companion of one's own, and the context as a framework's messages."""

from collections.abc import Callable
from dataclasses import replace

import httpx
import pytest

from graphmem.app import Graphmem
from graphmem.model import Role
from tests.conftest import PASSWORD, Pupil
from tests.support.client import ENROL, OPEN, TURN, Client, Refused

Bearer = Callable[[Role], str]
COMPANION = "{ companion { name persona expertise } }"
SET = f"""mutation($id: ID!, $name: String, $persona: String, $expertise: [String!]) {{
  setCompanion(studentId: $id, name: $name, persona: $persona, expertise: $expertise) {COMPANION} }}"""
SET_DEFAULT = """mutation($name: String, $persona: String, $expertise: [String!]) {
  setDefaultCompanion(name: $name, persona: $persona, expertise: $expertise) { name persona expertise } }"""
CONTEXT = """query($id: ID!, $text: String!, $history: Int) { student(id: $id) {
  context(query: $text, history: $history) {
    prompt messages { role content } memories { memory { id } } ledger { content why } facts { text why } } } }"""


async def test_a_companion_is_set_bit_by_bit(app_client: Client, gm: Graphmem, ann: Pupil) -> None:
    first = await app_client.call(SET, id="ann", name="Ada", expertise=["fractions", "optics"])
    assert first["companion"]["name"] == "Ada"
    second = await app_client.call(SET, id="ann", persona="Speaks like a pirate.")
    assert second["companion"] == {
        "name": "Ada",
        "persona": "Speaks like a pirate.",
        "expertise": ["fractions", "optics"],
    }
    await app_client.call(TURN, student="ann", turn="t1", text="Hello!")
    held = gm.turn_state(ann.session)
    assert held is not None
    assert (held.state.companion.name, held.state.companion.expertise) == ("Ada", ("fractions", "optics"))


@pytest.mark.parametrize("wrong", [{"name": ""}, {"persona": "x" * 2001}, {"expertise": ["x"] * 51}])
async def test_a_companion_that_will_not_do_is_refused(app_client: Client, wrong: dict[str, object]) -> None:
    with pytest.raises(Refused) as refused:
        await app_client.call(SET, id="ann", **wrong)
    assert refused.value.code == "INVALID_INPUT"
    locked = replace(app_client, session=None)
    with pytest.raises(Refused) as refused:
        await locked.call(SET, id="ann", name="Eve")
    assert refused.value.code == "LOCKED"


async def test_new_students_get_the_companion_of_the_institution(http: httpx.AsyncClient, bearer: Bearer) -> None:
    admin, app = Client(http, bearer(Role.ADMIN)), Client(http, bearer(Role.APP))
    assert (await admin.call(SET_DEFAULT, name="Grace", expertise=["algebra"]))["name"] == "Grace"
    await admin.call(ENROL, student="bo", password=PASSWORD, name="Bo")
    opened = replace(app, session=(await app.call(OPEN, student="bo", password=PASSWORD))["token"])
    seen = await opened.call(f'{{ student(id: "bo") {COMPANION} }}')
    assert (seen["companion"]["name"], seen["companion"]["expertise"]) == ("Grace", ["algebra"])
    with pytest.raises(Refused) as refused:
        await app.call(SET_DEFAULT, name="Eve")
    assert refused.value.code == "FORBIDDEN"


async def test_messages_hold_the_latest_turns_and_then_the_block(app_client: Client) -> None:
    for number, text in enumerate(["I love watching otters at the river.", "Please never use red ink."]):
        await app_client.call(TURN, student="ann", turn=f"turn-{number}", text=text)
    asked = {"id": "ann", "text": "What do I love watching at the river?"}
    alone = (await app_client.call(CONTEXT, **asked))["context"]
    assert alone["messages"] == [{"role": "system", "content": alone["prompt"]}]
    assert "otters" in alone["prompt"]
    both = (await app_client.call(CONTEXT, **asked, history=2))["context"]
    roles = [message["role"] for message in both["messages"]]
    assert roles[:4] == ["user", "assistant"] * 2
    assert both["messages"][0]["content"] == "I love watching otters at the river."
    assert "otters" not in both["prompt"]
    assert all(each["why"] for each in (*both["ledger"], *both["facts"]))
    with pytest.raises(Refused):
        await app_client.call(CONTEXT, **asked, history=51)
