"""The doctor asks the configured model, and says what to do where it does not answer."""

import pytest

from graphmem.commands import doctor
from graphmem.commands.doctor import check_mind
from graphmem.errors import SetupError
from graphmem.settings import Settings
from tests.support.llm_server import Act, llm_server

REMEDIES = {
    "key": (Act(status=401, body='{"error": {"message": "Incorrect API key provided: sk-1"}}'), "OPENAI_API_KEY"),
    "name": (Act(status=404), "GRAPHMEM_MODEL and"),
    "limit": (Act(status=429), "balance"),
    "silent": (Act(hang=True), "GRAPHMEM_MODEL_BASE_URL"),
    "nonsense": (Act(content="nonsense"), "JSON schemas"),
}


async def test_a_model_that_answers_is_well() -> None:
    with llm_server() as server:
        found = await check_mind(Settings(model="openai:stub", model_base_url=server.base_url))
    assert found.startswith("openai:stub, answers in ")
    assert "<student>Hello!</student>" in found
    assert "answered: You said: Hello!" in found
    assert len(server.seen) == 1


async def test_without_a_model_nobody_is_asked() -> None:
    assert await check_mind(Settings(model="offline")) == "offline"


@pytest.mark.parametrize("trouble", REMEDIES)
async def test_a_model_that_fails_is_reported_with_its_remedy(trouble: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "MODEL_SECONDS", 1.0 if trouble == "silent" else 10.0)
    act, remedy = REMEDIES[trouble]
    with llm_server(then=act) as server, pytest.raises(SetupError, match=remedy) as found:
        await check_mind(Settings(model="openai:stub", model_base_url=server.base_url))
    assert "sk-1" not in str(found.value)


async def test_a_dead_server_is_reported() -> None:
    with pytest.raises(SetupError, match="could not be reached"):
        await check_mind(Settings(model="openai:stub", model_base_url="http://127.0.0.1:1/v1"))
