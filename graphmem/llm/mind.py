"""The mind that asks a language model, through pydantic-ai (spec 17).

One question is at most two requests: the second asks the model to repair an answer that was not valid.
A time limit covers both, and the provider's own retries are off: where a model is away the offline mind
answers instead (`graphmem.llm.fallback`). Whatever goes wrong is a MindError that carries what was spent
and holds neither conversation nor key.

Importing this module takes seconds; `graphmem.llm.fallback.make_mind` does it only where a model is configured.
"""

import asyncio
import logging
from collections.abc import AsyncIterable, Sequence
from typing import Any, TypeVar

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
from graphmem.llm.extraction_prompt import extract_prompt
from graphmem.llm.outputs import Answered, Foreseen, Learned, Reading, extraction, foreseen
from graphmem.llm.prompts import Prompt, distil_prompt, predict_prompt, respond_prompt
from graphmem.llm.quotes import Passage
from graphmem.llm.surprise_outputs import Analyses, Asking, Episodes, Reflected, analyses, reflected
from graphmem.llm.surprise_prompts import analyse_prompt, ask_prompt, reflect_prompt
from graphmem.model import (
    Analysis,
    Answer,
    Author,
    Conversation,
    Extraction,
    Heard,
    Lesson,
    Message,
    Mismatch,
    Prediction,
    Reflection,
    Remembered,
    Response,
    Surprising,
    Usage,
)
from graphmem.ports import OnToken
from graphmem.settings import Settings
from graphmem.text.quoting import cleaned

__all__ = ["LanguageMind"]

_log = logging.getLogger(__name__)
# At lower levels some of these log whole requests, and so what students said, others the address they go to.
_TALKATIVE = (
    *("openai", "anthropic", "groq", "cohere", "mistralai", "google_genai", "botocore", "boto3", "urllib3"),
    *("httpx2", "httpcore2"),
)
_MODEL_FORM = (
    "GRAPHMEM_MODEL must be `offline` or `PROVIDER:NAME`, such as `openai:gpt-5` or `anthropic:claude-sonnet-4-5`"
)


Output = TypeVar("Output", bound=BaseModel)


class _ListenerFailed(Exception):
    """What was raised by the one who listens to a reply: no fault of the model."""


class LanguageMind:
    """Answers typed questions with a language model.

    Parameters
    ----------
    settings : Settings             `model` PROVIDER:NAME; `model_base_url` of an OpenAI-compatible or other server;
                                    `model_timeout`, seconds of one question with its repair.
                                    The key comes from the provider's usual environment variable, e.g.
                                    `OPENAI_API_KEY`; OpenAI-compatible servers can do without one.

    Raises
    ------
    SetupError                      the model string, the provider's package or its key is missing or wrong

    Notes
    -----
    The debug logs of the providers' own packages hold whole requests; they are raised to level warning here.
    Tokens are counted as the provider reports them: an answer that breaks off or comes too late reports none.
    A model whose price is not known costs 0.0.

    Source: spec 17.

    Examples
    --------
    >>> LanguageMind(Settings(model="openai:NAME", model_base_url="http://127.0.0.1:8080/v1")).name
    'openai:NAME'
    """

    def __init__(self, settings: Settings) -> None:
        self.name = settings.model
        self._timeout = settings.model_timeout
        self._model = _model(settings.model, settings.model_base_url)
        self._foreseen = _agent(self._model, Foreseen)
        self._answered = _agent(self._model, Answered)
        self._learned = _agent(self._model, Learned)
        self._reading = _agent(self._model, Reading)
        self._analyses = _agent(self._model, Analyses)
        self._asking = _agent(self._model, Asking)
        self._reflected = _agent(self._model, Reflected)
        for name in _TALKATIVE:
            logging.getLogger(name).setLevel(logging.WARNING)

    async def predict(self, talk: Conversation) -> Answer[Prediction]:
        """See `Mind.predict`."""
        answer, usage = await self._ask(self._foreseen, predict_prompt(talk))
        return Answer(foreseen(answer), usage)

    async def respond(
        self, talk: Conversation, remembered: Remembered, reply: Message | None, on_token: OnToken | None = None
    ) -> Answer[Response]:
        """See `Mind.respond`; the pieces given to `on_token` make up the reply, unless it had to be repaired."""
        prompt = respond_prompt(talk, remembered, reply)
        if reply is not None:
            answer, usage = await self._ask(self._foreseen, prompt)
            return Answer(Response(reply, foreseen(answer)), usage)
        stream = None if on_token is None else _ReplyStream(on_token)
        answered, usage = await self._ask(self._answered, prompt, stream)
        if stream is not None:
            await stream.finish(answered.reply)
        at = talk.messages[-1].at
        return Answer(Response(Message(Author.COMPANION, answered.reply, at), foreseen(answered)), usage)

    async def distil(self, mismatch: Mismatch) -> Answer[Lesson]:
        """See `Mind.distil`."""
        learned, usage = await self._ask(self._learned, distil_prompt(mismatch))
        return Answer(Lesson(learned.fact, tuple(learned.tags)), usage)

    async def extract(self, heard: Heard) -> Answer[Extraction]:
        """See `Mind.extract`; what has no words of the message behind it is dropped and counted in the log.

        An answer of which nothing is left is asked for once more, and then is a MindError; an empty one is an answer.
        """
        reading, usage = await self._ask(self._reading, extract_prompt(heard), context=Passage(heard.text))
        if reading.refused:
            _log.info("refused %d of %d things read in a message", len(reading.refused), reading.offered)
        return Answer(extraction(reading), usage)

    async def analyse(self, surprising: Sequence[Surprising]) -> Answer[tuple[Analysis, ...]]:
        """See `Mind.analyse`; updates and facts without words of the student behind them are dropped and counted."""
        if not surprising:
            return Answer(())
        asked = tuple(surprising)
        answer, usage = await self._ask(self._analyses, analyse_prompt(asked), context=Episodes(asked))
        if answer.refused:
            _log.info("refused %d of %d things read in surprises", len(answer.refused), answer.offered)
        return Answer(analyses(answer, asked), usage)

    async def ask(self, surprising: Surprising, analysis: Analysis) -> Answer[tuple[str, ...]]:
        """See `Mind.ask`."""
        prompt = ask_prompt(surprising, analysis)
        answer, usage = await self._ask(self._asking, prompt, context=Episodes((surprising,)))
        return Answer(tuple(answer.questions), usage)

    async def reflect(self, surprising: Surprising, analysis: Analysis) -> Answer[Reflection]:
        """See `Mind.reflect`."""
        answer, usage = await self._ask(self._reflected, reflect_prompt(surprising, analysis))
        return Answer(reflected(answer), usage)

    async def aclose(self) -> None:
        """Close the connections to the provider."""
        # A provider closes the client it made on leaving its context.
        async with self._model:
            pass

    async def _ask(
        self,
        agent: Agent["_Asked", Output],
        prompt: Prompt,
        stream: "_ReplyStream | None" = None,
        context: Passage | Episodes | None = None,
    ) -> tuple[Output, Usage]:
        asked = _Asked(context)
        try:
            async with asyncio.timeout(self._timeout):
                result = await agent.run(
                    prompt.question,
                    instructions=prompt.instructions,
                    deps=asked,
                    usage=asked.tokens,
                    event_stream_handler=None if stream is None else stream.listen,
                )
                return result.output, asked.usage()
        except _ListenerFailed as failed:
            listener_error = failed.__cause__
        except Exception as error:
            listener_error = None
            message, away = _explained(error, self._timeout)
        # Raised out here, so that no traceback of ours shows the provider's error, which may quote the conversation.
        if listener_error is not None:
            raise listener_error
        raise MindError(message, usage=asked.usage(), away=away)


class _Asked:
    """One question: what its answer is held against, and what it costs.

    Requests are counted as they are sent, tokens as they are reported.
    """

    def __init__(self, context: Passage | Episodes | None) -> None:
        self.context = context
        self.calls = 0
        self.tokens = RunUsage()

    def usage(self) -> Usage:
        tokens = self.tokens
        return Usage(self.calls, tokens.input_tokens, tokens.output_tokens, float(tokens.cost or 0))


class _ReplyStream:
    """Passes on the reply's growth while the answer, a JSON object, is being written."""

    def __init__(self, on_token: OnToken) -> None:
        self._on_token = on_token
        self._passed_on = ""

    async def listen(self, _: RunContext["_Asked"], events: AsyncIterable[AgentStreamEvent]) -> None:
        """Follow one request, a first or a repair; a repair that begins otherwise passes nothing on."""
        written = ""
        async for event in events:
            written = _written(written, event)
            try:
                await self._pass_on(_reply_in(written))
            except Exception as error:
                raise _ListenerFailed from error

    async def finish(self, reply: str) -> None:
        """Pass on what is still missing, where what was passed on is how the reply begins."""
        await self._pass_on(reply)

    async def _pass_on(self, reply: str) -> None:
        if len(reply) > len(self._passed_on) and reply.startswith(self._passed_on):
            piece, self._passed_on = reply[len(self._passed_on) :], reply
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


def _reply_in(written: str) -> str:
    try:
        answer = from_json(written, allow_partial="trailing-strings")
    except ValueError:
        return ""
    reply = answer.get("reply") if isinstance(answer, dict) else None
    return cleaned(reply) if isinstance(reply, str) else ""


def _explained(error: Exception, timeout: float) -> tuple[str, bool]:
    """What to say of a failure without quoting it, and whether the model was away."""
    match error:
        case TimeoutError():
            return f"The language model did not answer within {timeout:g} seconds.", True
        case ModelHTTPError(status_code=status):
            # These say that this one question was not to its liking: too long, or not allowed.
            return f"The language model's server refused with HTTP status {status}.", status not in {400, 413, 422}
        case ModelAPIError():
            return "The language model's server could not be reached or broke off.", True
        case ContentFilterError():
            return "The language model's content filter withheld the answer.", False
        case UnexpectedModelBehavior():
            return "The language model gave no valid answer.", False
        case _:
            return f"The language model failed: {type(error).__name__}.", False


async def _count(context: RunContext[_Asked], request: ModelRequestContext) -> ModelRequestContext:
    context.deps.calls += 1
    return request


def _agent(model: Model[Any], output: type[Output]) -> Agent[_Asked, Output]:
    # Where a provider can hold the answer to a schema, small models keep it, too; elsewhere it is a tool's argument.
    native = model.profile.get("supports_json_schema_output", False)
    settings = ModelSettings() if "max_retries" in model.unsupported_settings else ModelSettings(max_retries=0)
    agent = Agent(
        model,
        output_type=NativeOutput(output) if native else output,
        deps_type=_Asked,
        validation_context=lambda context: context.deps.context,
        retries=1,
        model_settings=settings,
        capabilities=[Hooks(before_model_request=_count)],
    )
    agent.instrument = False  # traces would hold the conversation
    return agent


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
            f"The model {name!r} needs a package that is not installed: pip install 'graphmem[models]'."
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
