"""The mind that asks a language model, through pydantic-ai (spec 17).

One question is at most two requests: the second asks the model to repair an answer that was not valid.
A time limit covers both, and the provider's own retries are off: where a model is away the offline mind
answers instead (`graphmem.llm.fallback`). Whatever goes wrong is a MindError that carries what was spent
and holds neither conversation nor key.

Importing this module takes seconds; `graphmem.llm.fallback.make_mind` does it only where a model is configured.
"""

import asyncio
import logging
import sys
from collections.abc import AsyncIterable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Generic, TypeVar

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput, RunContext
from pydantic_ai.capabilities import Hooks
from pydantic_ai.exceptions import ContentFilterError, ModelAPIError, ModelHTTPError, UnexpectedModelBehavior, UserError
from pydantic_ai.messages import (
    AgentStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.models import Model, ModelRequestContext, infer_model
from pydantic_ai.providers import Provider, infer_provider_class
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage
from pydantic_core import from_json

from graphmem.errors import MindError, SetupError
from graphmem.llm.contradiction_prompt import ClassifyOutput, classify_prompt, pair_verdicts
from graphmem.llm.formation_outputs import NotedTalk, NotesOutput, extractions, found_notes
from graphmem.llm.formation_prompt import formation_prompt
from graphmem.llm.outputs import DistilOutput, PredictOutput, RespondOutput, danger_told, lessons, predicted
from graphmem.llm.prompts import Prompt, distil_prompt, predict_prompt, respond_prompt
from graphmem.llm.summary_outputs import AskedGroups, SummariseOutput, digests, summary_items
from graphmem.llm.summary_prompt import summarise_prompt
from graphmem.llm.surprise_outputs import (
    AnalyseOutput,
    AskedEpisodes,
    analysed_items,
    analyses,
    lean_analyses,
)
from graphmem.llm.surprise_prompts import analyse_prompt
from graphmem.model import (
    Analyse,
    Analysis,
    Answer,
    Author,
    Classify,
    Distil,
    ExtractMemories,
    Lesson,
    Message,
    MindQuestion,
    Predict,
    Prediction,
    PromptUsage,
    Respond,
    Response,
    Summarise,
    Usage,
)
from graphmem.ports import OnToken
from graphmem.settings import Settings
from graphmem.text.quoting import cleaned_quote

__all__ = ["FORMS", "LanguageMind"]

_log = logging.getLogger(__name__)
# At lower levels some of these log whole requests, and so what students said, others the address they go to.
_TALKATIVE = (
    *("openai", "anthropic", "groq", "cohere", "mistralai", "google_genai", "botocore", "boto3", "urllib3"),
    *("httpx2", "httpcore2"),
)
_EXTRAS = "anthropic,bedrock,cohere,google,groq,mistral"
_MODEL_FORM = (
    "GRAPHMEM_MODEL must be `offline` or `PROVIDER:NAME`, such as `openai:gpt-5` or `anthropic:claude-sonnet-4-5`"
)


REPLY_TEMPERATURE = 0.7
"""Temperature of replies, which need not be the same each time."""

T = TypeVar("T")
Q = TypeVar("Q")
Output = TypeVar("Output", bound=BaseModel)


@dataclass(frozen=True)
class Form(Generic[Q, Output, T]):
    """Request form for one kind of question: its prompt, its answer schema and its parser.

    output : schema of the answer
    read : the answer as our values
    tokens : most tokens of an answer
    context : what the answer is validated against
    leaner : another schema where a question asks for less
    items : what the answer lists; a text in place of an item says why it is refused
    streamed : field of the answer that is passed on while it grows
    temperature : 0 for what a job asks
    """

    prompt: Callable[[Q], Prompt]
    output: type[Output]
    read: Callable[[Output, Q], T]
    tokens: int
    context: Callable[[Q], object] = lambda _: None
    leaner: Callable[[Q], type[Output] | None] = lambda _: None
    items: Callable[[Output, Q], Sequence[object]] = lambda *_: ()
    streamed: str | None = None
    temperature: float = 0.0


def _prediction(output: PredictOutput, _: Predict) -> Prediction:
    return predicted(output)


def _response(output: RespondOutput, question: Respond) -> Response:
    at = question.talk.messages[-1].at
    return Response(Message(Author.COMPANION, output.reply, at), predicted(output), danger_told(output))


def _lessons(output: DistilOutput, question: Distil) -> tuple[Lesson | None, ...]:
    return lessons(output, len(question.mismatches))


def _analyses(output: AnalyseOutput, question: Analyse) -> tuple[Analysis, ...]:
    return analyses(output, question.episodes)


FORMS: Mapping[type[MindQuestion[Any]], Form[Any, Any, Any]] = {
    Predict: Form(predict_prompt, PredictOutput, _prediction, 600),
    Respond: Form(respond_prompt, RespondOutput, _response, 2_000, streamed="reply", temperature=REPLY_TEMPERATURE),
    Distil: Form(distil_prompt, DistilOutput, _lessons, 800),
    ExtractMemories: Form(
        formation_prompt,
        NotesOutput,
        extractions,
        2_000,
        NotedTalk.of,
        items=lambda o, q: found_notes(o, NotedTalk.of(q)),
    ),
    Analyse: Form(
        analyse_prompt,
        AnalyseOutput,
        _analyses,
        3_000,
        lambda question: AskedEpisodes(question.episodes),
        leaner=lambda question: lean_analyses(question.episodes),
        items=lambda output, _: analysed_items(output),
    ),
    Summarise: Form(summarise_prompt, SummariseOutput, digests, 2_000, AskedGroups, items=summary_items),
    Classify: Form(classify_prompt, ClassifyOutput, pair_verdicts, 1_200),
}
"""Form of each kind of question."""


class _ListenerFailed(Exception):
    """Wrapper of an exception raised by the listener to a reply: no fault of the model."""


class LanguageMind:
    """Answers typed questions with a language model.

    Parameters
    ----------
    settings : Settings             `model` PROVIDER:NAME; `model_base_url` of an OpenAI-compatible or other server;
                                    `model_timeout`, seconds of one question with its repair; `model_price_in` and
                                    `model_price_out`, US dollars per million tokens.
                                    The key comes from the provider's usual environment variable, e.g.
                                    `OPENAI_API_KEY`; OpenAI-compatible servers can do without one.

    Raises
    ------
    SetupError                      the model string, the provider's package or its key is missing or wrong

    Notes
    -----
    The debug logs of the providers' own packages hold whole requests; they are raised to level warning here.
    Tokens are counted as the provider reports them: an answer that breaks off or comes too late reports none.
    A model whose price the library does not know costs `model_price_in` and `model_price_out`.

    Source: spec 17.

    Examples
    --------
    >>> LanguageMind(Settings(model="openai:NAME", model_base_url="http://127.0.0.1:8080/v1")).name
    'openai:NAME'
    """

    is_model = True
    failing: str | None = None

    def __init__(self, settings: Settings) -> None:
        self.name = settings.model
        self._timeout = settings.model_timeout
        self._prices = settings.model_price_in, settings.model_price_out
        self._model = _model(settings.model, settings.model_base_url)
        self._agents: dict[type[BaseModel], Agent[_Asked, Any]] = {}
        for name in _TALKATIVE:
            logging.getLogger(name).setLevel(logging.WARNING)

    async def ask(self, question: MindQuestion[T], on_token: OnToken | None = None) -> Answer[T]:
        """See `Mind.ask`; the pieces given to `on_token` make up the reply, unless it had to be repaired.

        Items without words of the message behind them are dropped and counted in the log. An answer of which nothing
        is left is asked for once more, and then is a MindError; an empty one is an answer.
        """
        form = FORMS[type(question)]
        stream = None if on_token is None or form.streamed is None else _FieldStream(form.streamed, on_token)
        output, usage = await self._ask(question, form, stream)
        if stream is not None:
            await stream.finish(output)
        items = form.items(output, question)
        if refused := sum(isinstance(item, str) for item in items):
            _log.info("refused %d of %d items of an answer to %s", refused, len(items), type(question).__name__)
        return Answer(form.read(output, question), usage)

    async def aclose(self) -> None:
        """Close the connections to the provider."""
        # A provider closes the client it made on leaving its context.
        async with self._model:
            pass

    def _agent(self, output: type[Output]) -> "Agent[_Asked, Output]":
        agent = self._agents.get(output)
        if agent is None:
            agent = self._agents[output] = _agent(self._model, output)
        return agent

    async def _ask(
        self, question: MindQuestion[T], form: Form[Any, Output, T], stream: "_FieldStream | None"
    ) -> tuple[Output, Usage]:
        prompt, asked = form.prompt(question), _Asked(question.prompt, form.context(question), self._prices)
        try:
            async with asyncio.timeout(self._timeout):
                result = await self._agent(form.leaner(question) or form.output).run(
                    prompt.question,
                    instructions=prompt.instructions,
                    model_settings=_settings(self._model, form),
                    deps=asked,
                    usage=asked.tokens,
                    event_stream_handler=None if stream is None else stream.listen,
                )
                return result.output, asked.usage()
        except _ListenerFailed as failed:
            listener_error = failed.__cause__
        except Exception as error:
            listener_error = None
            failure = _explained(error, self._timeout)
        # Raised out here, so that no traceback of ours shows the provider's error, which may quote the conversation.
        if listener_error is not None:
            raise listener_error
        raise MindError(failure.message, kind=failure.kind, usage=asked.usage(), away=failure.away)


class _Asked:
    """One question: what its answer is held against, and what it costs.

    Requests are counted as they are sent, tokens as they are reported.
    """

    def __init__(self, prompt: str, context: object, prices: tuple[float, float]) -> None:
        self._prompt = prompt
        self.context = context
        self._prices = prices
        self.calls = 0
        self.tokens = RunUsage()

    def usage(self) -> Usage:
        tokens, (price_in, price_out) = self.tokens, self._prices
        cost = (tokens.input_tokens * price_in + tokens.output_tokens * price_out) / 1e6
        if tokens.cost is not None:
            cost = float(tokens.cost)
        return Usage.of(PromptUsage(self._prompt, self.calls, tokens.input_tokens, tokens.output_tokens, cost))


class _FieldStream:
    """Passes on a field's growth while the answer, a JSON object, is being written."""

    def __init__(self, name: str, on_token: OnToken) -> None:
        self._name = name
        self._on_token = on_token
        self._passed_on = ""

    async def listen(self, _: RunContext["_Asked"], events: AsyncIterable[AgentStreamEvent]) -> None:
        """Follow one request, a first or a repair; a repair that begins otherwise passes nothing on."""
        written = ""
        async for event in events:
            written = _written(written, event)
            try:
                await self._pass_on(_field_in(written, self._name))
            except Exception as error:
                raise _ListenerFailed from error

    async def finish(self, output: BaseModel) -> None:
        """Pass on what is still missing, where what was passed on is how the field begins."""
        await self._pass_on(getattr(output, self._name))

    async def _pass_on(self, text: str) -> None:
        if len(text) > len(self._passed_on) and text.startswith(self._passed_on):
            piece, self._passed_on = text[len(self._passed_on) :], text
            await self._on_token(piece)


def _written(so_far: str, event: AgentStreamEvent) -> str:
    match event:
        case PartStartEvent(part=TextPart(content=text)) | PartStartEvent(part=ToolCallPart(args=str(text))):
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return so_far + text
        case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=str(text))):
            return so_far + text
        case _:
            return so_far


def _field_in(written: str, name: str) -> str:
    try:
        answer = from_json(written, allow_partial="trailing-strings")
    except ValueError:
        return ""
    text = answer.get(name) if isinstance(answer, dict) else None
    return cleaned_quote(text) if isinstance(text, str) else ""


@dataclass(frozen=True)
class _Failure:
    """A failure in words that quote nothing; `kind` as in MindError."""

    kind: str
    message: str
    away: bool = False


def _explained(error: Exception, timeout: float) -> _Failure:
    match error:
        case TimeoutError():
            return _Failure("timeout", f"The language model did not answer within {timeout:g} seconds.", True)
        case ModelHTTPError(status_code=status):
            # These say that this one question was not to its liking: too long, or not allowed.
            away = status not in {400, 413, 422}
            return _Failure(f"http_{status}", f"The language model's server refused with HTTP status {status}.", away)
        case ModelAPIError():
            return _Failure("unreachable", "The language model's server could not be reached or broke off.", True)
        case ContentFilterError():
            return _Failure("content_filter", "The language model's content filter withheld the answer.")
        case UnexpectedModelBehavior():
            return _Failure("invalid", "The language model gave no valid answer.")
        case _:
            return _Failure("error", f"The language model failed: {type(error).__name__}.")


async def _count(context: RunContext[_Asked], request: ModelRequestContext) -> ModelRequestContext:
    context.deps.calls += 1
    return request


def _agent(model: Model[Any], output: type[Output]) -> Agent[_Asked, Output]:
    # Where a provider can hold the answer to a schema, small models keep it, too; elsewhere it is a tool's argument.
    native = model.profile.get("supports_json_schema_output", False)
    agent = Agent(
        model,
        output_type=NativeOutput(output) if native else output,
        deps_type=_Asked,
        validation_context=lambda context: context.deps.context,
        retries=1,
        capabilities=[Hooks(before_model_request=_count)],
    )
    agent.instrument = False  # traces would hold the conversation
    return agent


def _settings(model: Model[Any], form: Form[Any, Any, Any]) -> ModelSettings:
    """What is sent with a request. Of a model that thinks first, nobody knows how long, the answer is not cut."""
    settings = ModelSettings() if "max_retries" in model.unsupported_settings else ModelSettings(max_retries=0)
    if model.profile.get("thinking_always_enabled"):
        return settings
    return settings | ModelSettings(temperature=form.temperature, max_tokens=form.tokens)


def _model(name: str, base_url: str | None) -> Model[Any]:
    provider, _, model = name.partition(":")
    if not provider or not model:
        raise SetupError(f"{_MODEL_FORM}; it is {name!r}.")
    if base_url and provider == "openai":
        # Chat completions is what OpenAI-compatible servers speak; `openai-responses:NAME` asks for the other one.
        name = f"openai-chat:{model}"
    try:
        if not base_url:
            return infer_model(name)
        return infer_model(name, lambda provider: _provider(provider, base_url))
    except ImportError:
        raise SetupError(
            f"The model {name!r} needs a package that is not installed: run `{sys.executable} -m pip install "
            f"'pydantic-ai-slim[{_EXTRAS}]=={version('pydantic-ai-slim')}'`."
        ) from None
    except (UserError, ValueError) as error:
        reason = str(error).partition(" To try ")[0].rstrip(".")
        raise SetupError(f"The model {name!r} cannot be used: {reason}. {_MODEL_FORM}.") from None


def _provider(name: str, base_url: str) -> Provider[Any]:
    maker: Any = infer_provider_class(name)
    try:
        provider: Provider[Any] = maker(base_url=base_url)
    except TypeError:
        raise SetupError(
            f"The provider {name!r} takes no address: unset GRAPHMEM_MODEL_BASE_URL, or use `openai:NAME` with it."
        ) from None
    return provider
