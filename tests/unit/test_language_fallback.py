"""A turn is answered even when the language model is not there, and a dead model is left alone for a while."""

import subprocess
import sys
from datetime import UTC, datetime
from typing import Any, TypeVar, assert_type

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import MindError, SetupError
from graphmem.llm.fallback import Circuit, Fallback, make_mind
from graphmem.llm.mind import FORMS
from graphmem.model import (
    Answer,
    Author,
    Companion,
    Conversation,
    Heard,
    Message,
    MindQuestion,
    Notes,
    Predict,
    Prediction,
    Remember,
    Respond,
    Response,
    Usage,
)
from graphmem.offline.mind import RULES
from graphmem.ports import OnToken
from graphmem.settings import Settings
from tests.support.llm_server import Act, llm_server

T = TypeVar("T")

AT = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
TALK = Conversation(Companion("Ada", "patient", 0.5), (Message(Author.STUDENT, "Why is the sky blue?", AT),))
REMEMBER = Remember((Heard("I skate.", AT),))
SPENT = Usage(calls=1, input_tokens=10, output_tokens=2, cost=0.5)


class RuleMind:
    """A small mind that always says the same, piece by piece; after `pieces` of them it can fail."""

    failing: str | None = None

    def __init__(self, says: str) -> None:
        self.name = says
        self.seconds = 20.0 if "model" in says else 0.0
        self.together = 1
        self.links = "model" in says
        self.asked = 0
        self.closed = False
        self.error: MindError | None = None
        self.pieces = 0

    def _answer(self) -> None:
        self.asked += 1
        if self.error is not None:
            raise self.error

    async def ask(self, question: MindQuestion[T], on_token: OnToken | None = None) -> Answer[T]:
        if on_token is not None:
            for piece in self.name.split()[: self.pieces]:
                await on_token(piece)
        self._answer()
        values: dict[type[Any], Any] = {
            Predict: Prediction(self.name),
            Respond: Response(Message(Author.COMPANION, self.name, AT), Prediction(self.name)),
            Remember: Notes(((),)),
        }
        return Answer(values[type(question)], SPENT)

    async def aclose(self) -> None:
        self.closed = True


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def model() -> RuleMind:
    return RuleMind("the model says")


@pytest.fixture
def rules() -> RuleMind:
    return RuleMind("the rules say")


@pytest.fixture
def mind(model: RuleMind, rules: RuleMind, clock: Clock) -> Fallback:
    return Fallback(model, rules, failures=3, pause=30.0, clock=clock)


def away() -> MindError:
    return MindError("gone", usage=SPENT, away=True)


async def test_the_model_answers_when_it_can(mind: Fallback, rules: RuleMind) -> None:
    predicted = assert_type(await mind.ask(Predict(TALK)), Answer[Prediction])
    assert predicted == Answer(Prediction("the model says"), SPENT, degraded=False)
    assert rules.asked == 0


async def test_the_rules_stand_in_and_say_so_and_both_are_counted(mind: Fallback, model: RuleMind) -> None:
    model.error = away()
    predicted = await mind.ask(Predict(TALK))
    assert predicted == Answer(Prediction("the rules say"), SPENT + SPENT, degraded=True)
    response = await mind.ask(Respond(TALK))
    assert response.value.reply.text == "the rules say"
    assert response.usage == SPENT + SPENT
    assert response.degraded


async def test_a_failure_that_spent_nothing_adds_nothing(mind: Fallback, model: RuleMind) -> None:
    model.error = MindError()
    assert (await mind.ask(Predict(TALK))).usage == SPENT


async def test_a_message_waits_for_a_model_that_is_away_and_not_for_one_that_cannot_digest_it(
    mind: Fallback, model: RuleMind, rules: RuleMind
) -> None:
    question = REMEMBER
    model.error = away()
    with pytest.raises(MindError, match="gone"):
        await mind.ask(question)
    model.error = MindError("nonsense", usage=SPENT)
    assert await mind.ask(question) == Answer(Notes(((),)), SPENT + SPENT, degraded=True)
    assert rules.asked == 1


async def test_failures_are_logged_when_they_begin_change_and_end(
    model: RuleMind, rules: RuleMind, caplog: pytest.LogCaptureFixture
) -> None:
    mind = Fallback(model, rules, failures=10)
    failed = [MindError("SECRET", kind=kind, away=True) for kind in ("timeout", "http_401")]
    for error in [None, failed[0], failed[0], failed[1], None, None]:
        model.error = error
        await mind.ask(Predict(TALK))
        assert mind.failing == (error and error.kind)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", "the language model the model says fails: timeout"),
        ("WARNING", "the language model the model says fails: http_401"),
        ("WARNING", "the language model the model says answers again"),
    ]


async def test_a_dead_model_is_left_alone_and_tried_once_after_the_pause(
    mind: Fallback, model: RuleMind, clock: Clock
) -> None:
    model.error = away()
    for _ in range(5):
        assert (await mind.ask(Predict(TALK))).degraded
    assert model.asked == 3
    assert (await mind.ask(Predict(TALK))).usage == SPENT
    with pytest.raises(MindError, match="left alone"):
        await mind.ask(REMEMBER)

    clock.now += 30
    for _ in range(3):
        assert (await mind.ask(Predict(TALK))).degraded
    assert model.asked == 4

    clock.now += 30
    model.error = None
    assert not (await mind.ask(Predict(TALK))).degraded
    model.error = away()
    await mind.ask(Predict(TALK))
    model.error = None
    assert not (await mind.ask(Predict(TALK))).degraded


async def test_nonsense_does_not_close_the_model_for_others(mind: Fallback, model: RuleMind) -> None:
    model.error = MindError("nonsense", usage=SPENT)
    for _ in range(10):
        assert (await mind.ask(Predict(TALK))).degraded
    assert model.asked == 10


async def test_failures_count_only_in_a_row(mind: Fallback, model: RuleMind) -> None:
    for error in [away(), away(), None, away(), away(), None]:
        model.error = error
        await mind.ask(Predict(TALK))
    assert model.asked == 6


@pytest.mark.parametrize("pieces", [0, 2])
async def test_the_stand_in_streams_only_where_nothing_was_shown(
    mind: Fallback, model: RuleMind, rules: RuleMind, pieces: int
) -> None:
    shown: list[str] = []

    async def show(piece: str) -> None:
        shown.append(piece)

    model.error, model.pieces, rules.pieces = away(), pieces, 3
    response = await mind.ask(Respond(TALK), show)
    assert response.value.reply.text == "the rules say"
    assert shown == (["the", "model"] if pieces else ["the", "rules", "say"])


def test_what_a_model_links_no_network_is_asked_about(mind: Fallback, model: RuleMind, rules: RuleMind) -> None:
    assert (mind.links, model.links, rules.links) == (True, True, False)


async def test_closing_closes_both(mind: Fallback, model: RuleMind, rules: RuleMind) -> None:
    await mind.aclose()
    assert model.closed
    assert rules.closed


def test_every_kind_of_question_has_a_row_in_both_tables() -> None:
    kinds = set(MindQuestion.__subclasses__())
    assert set(FORMS) == set(RULES) == kinds


EVENTS = st.lists(st.tuples(st.floats(0, 20), st.sampled_from(["failed", "succeeded"])), max_size=40)


@given(EVENTS, st.integers(1, 5), st.floats(0.1, 60))
def test_a_circuit_lets_one_question_through_per_pause_once_it_is_open(
    events: list[tuple[float, str]], limit: int, pause: float
) -> None:
    circuit, now, in_a_row, last = Circuit(limit, pause), 0.0, 0, 0.0
    for seconds, outcome in events:
        now += seconds
        admitted = circuit.admits(now)
        assert admitted == (in_a_row < limit or now >= last + pause)
        if not admitted:
            continue
        circuit, last = circuit.asked(now), now
        assert circuit.admits(now) == (in_a_row < limit)
        circuit = circuit.succeeded() if outcome == "succeeded" else circuit.failed(now)
        in_a_row = 0 if outcome == "succeeded" else in_a_row + 1


async def test_make_mind_without_a_model_is_the_offline_mind(rules: RuleMind) -> None:
    assert make_mind(Settings(model="offline"), rules) is rules


async def test_make_mind_with_a_wrong_model_says_so(rules: RuleMind) -> None:
    with pytest.raises(SetupError, match="PROVIDER:NAME"):
        make_mind(Settings(model="online"), rules)


async def test_a_real_endpoint_that_dies_and_comes_back(rules: RuleMind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphmem.llm.fallback.MODEL_PAUSE", 0.0)
    monkeypatch.setattr("graphmem.llm.fallback.FAILURES", 2)
    with llm_server(Act(status=503), Act(status=503)) as server:
        settings = Settings(model="openai:stub", model_base_url=server.base_url)
        mind = make_mind(settings, rules)
        answers = [await mind.ask(Predict(TALK)) for _ in range(3)]
        await mind.aclose()
    assert [answer.degraded for answer in answers] == [True, True, False]
    assert "sky" in answers[2].value.text
    assert len(server.seen) == 3


def test_the_model_library_is_imported_only_where_a_model_is_configured() -> None:
    code = "import sys, graphmem.llm.fallback; sys.exit('pydantic_ai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
