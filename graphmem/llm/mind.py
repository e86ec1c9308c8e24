"""The mind that asks a language model, through pydantic-ai (spec 17).

One question is at most two answers: the second request asks the model to repair one that was not valid. A time limit
covers both, and the provider's own retries are off: where a model is away the turn is answered offline and jobs wait
(`graphmem.llm.fallback`). Whatever goes wrong is a MindError that carries what was spent and holds neither conversation
nor key.

Importing this module takes seconds; `graphmem.llm.fallback.make_mind` does it only where a model is configured.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import ContentFilterError, ModelAPIError, ModelHTTPError, UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from graphmem.errors import MindError
from graphmem.llm import modes
from graphmem.llm.memory import MemoryOutput, Noted, NotedTalk, memory_prompt, noted, notes_of_answer
from graphmem.llm.modes import make_model
from graphmem.llm.prompts import (
    REPLY_CHARACTERS,
    ForeseeOutput,
    Prompt,
    ReplyOutput,
    predict_prompt,
    predicted,
    reply_prompt,
    response,
)
from graphmem.llm.summary import SummariseOutput, digests, summarise_prompt, summary_items
from graphmem.metrics import model_notes
from graphmem.model import (
    MESSAGES_AT_ONCE,
    Answer,
    MindQuestion,
    Predict,
    PromptUsage,
    Remember,
    Respond,
    Summarise,
    Usage,
)
from graphmem.ports import OnToken
from graphmem.settings import Settings
from graphmem.text.normalize import cleaned_quote

_log = logging.getLogger(__name__)
# At lower levels some of these log whole requests, and so what students said, others the address they go to.
_TALKATIVE = (
    *("openai", "anthropic", "groq", "cohere", "mistralai", "google_genai", "botocore", "boto3", "urllib3"),
    *("httpx2", "httpcore2"),
)
REPLY_TEMPERATURE = 0.7
"""Temperature of replies, which need not be the same each time."""
JOB_PATIENCE = 3
"""Times the time limit that a job's question may take: nobody waits for it, and some models think long."""
REFUSES_MODE = frozenset({400, 422, 501})
"""HTTP statuses of a server that cannot answer in a mode."""

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
    count : counts in the log what of an answer was mended or refused
    streamed : field of the answer that is passed on while it grows
    temperature : 0 for questions of jobs
    """

    prompt: Callable[[Q], Prompt]
    output: type[Output]
    read: Callable[[Output, Q], T]
    tokens: int
    context: Callable[[Q], object] = lambda _: None
    leaner: Callable[[Q], type[BaseModel] | None] = lambda _: None
    count: Callable[[Output, Q], None] = lambda *_: None
    streamed: str | None = None
    temperature: float = 0.0


def _count_notes(output: MemoryOutput, question: Remember) -> None:
    found = noted(output, NotedTalk(question))
    refused = sum(isinstance(each, str) for each in found)
    replaced = sum(isinstance(each, Noted) and each.statement is None for each in found)
    results = {"stored": len(found) - refused - replaced, "replaced": replaced, "refused": refused}
    for result, count in results.items():
        model_notes.labels(result).inc(count)
    if refused or replaced:
        _log.info("of %d notes %d were refused, of %d the quote was kept", len(found), refused, replaced)


def _count_summaries(output: SummariseOutput, question: Summarise) -> None:
    if refused := sum(isinstance(each, str) for each in summary_items(output, question)):
        _log.info("refused %d of %d summaries", refused, len(question.groups))


FORMS: Mapping[type[MindQuestion[Any]], Form[Any, Any, Any]] = {
    Predict: Form(predict_prompt, ForeseeOutput, lambda output, _: predicted(output.expected), 600),
    Respond: Form(
        reply_prompt,
        ReplyOutput,
        response,
        2_000,
        leaner=lambda question: None if question.written is None else ForeseeOutput,
        streamed="reply",
        temperature=REPLY_TEMPERATURE,
    ),
    Remember: Form(memory_prompt, MemoryOutput, notes_of_answer, 2_500, NotedTalk, count=_count_notes),
    Summarise: Form(summarise_prompt, SummariseOutput, digests, 2_000, lambda asked: asked, count=_count_summaries),
}
"""Form of each kind of question that the model is asked."""


class _ListenerFailed(Exception):
    """Wrapper of an exception raised by the listener to a reply: no fault of the model."""


class LanguageMind:
    """Answers typed questions with a language model.

    Parameters
    ----------
    settings : Settings             `model` PROVIDER:NAME; `model_base_url` of an OpenAI-compatible or other server;
                                    `model_timeout`, seconds of one question with its repair; `model_output`, the output
                                    mode; `model_price_in` and `model_price_out`, US dollars per million tokens.
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

    together = MESSAGES_AT_ONCE
    links = True
    failing: str | None = None

    def __init__(self, settings: Settings) -> None:
        self.name = settings.model
        self._timeout = settings.model_timeout
        self.prices = settings.model_price_in, settings.model_price_out
        self.model = make_model(settings.model, settings.model_base_url)
        # A model behind an address may think first, nobody knows how long.
        self.roomy = settings.model_base_url is not None or bool(self.model.profile.get("thinking_always_enabled"))
        native = self.model.profile.get("supports_json_schema_output", False)
        self.mode: str = settings.model_output if settings.model_output != "auto" else "schema" if native else "tool"
        self.settled = settings.model_output != "auto"
        for name in _TALKATIVE:
            logging.getLogger(name).setLevel(logging.WARNING)

    @property
    def seconds(self) -> float:
        """See `Mind.seconds`."""
        return JOB_PATIENCE * self._timeout

    async def ask(self, question: MindQuestion[T], on_token: OnToken | None = None) -> Answer[T]:
        """See `Mind.ask`; the pieces given to `on_token` make up the reply, unless it had to be repaired.

        Notes without words of a message behind them are dropped and counted in the log. An answer of which nothing
        is left is asked for once more, and then is a MindError; an empty one is an answer.
        """
        patience = self._timeout * (JOB_PATIENCE if question.can_wait else 1)
        form = FORMS[type(question)]
        call = _Call(self, question, form, on_token, monotonic() + patience)
        try:
            async with asyncio.timeout(patience):
                output = await call.answer()
        except _ListenerFailed as error:
            failed = error.__cause__ or error
        except Exception as error:
            failed = _explained(error, patience, call.usage)
        else:
            if call.stream is not None:
                await call.stream.finish(output)
            form.count(output, question)
            return Answer(form.read(output, question), call.usage)
        # Raised out here, so that no traceback of ours shows the provider's error, which may quote the conversation.
        raise failed

    async def aclose(self) -> None:
        """Close the connections to the provider."""
        # A provider closes the client it made on leaving its context.
        async with self.model:
            pass


class _Call:
    """One question under way, with its usage: requests are counted when sent, tokens as they are reported."""

    def __init__(
        self, mind: LanguageMind, question: Any, form: Form[Any, Any, Any], on_token: OnToken | None, end: float
    ) -> None:
        self._mind, self._form, self._end = mind, form, end
        self._output = form.leaner(question) or form.output
        self._prompt, self._context, self._name = form.prompt(question), form.context(question), question.prompt
        streams = on_token is not None and form.streamed is not None and form.leaner(question) is None
        self.stream = _FieldStream(form.streamed, on_token) if streams else None  # type: ignore[arg-type]
        self._calls = self._tokens_in = self._tokens_out = 0
        self._cost = 0.0

    @property
    def usage(self) -> Usage:
        """Return the usage so far."""
        return Usage.of(PromptUsage(self._name, self._calls, self._tokens_in, self._tokens_out, self._cost))

    async def answer(self) -> Any:
        """The validated answer, after one repair at most."""
        mind, messages = self._mind, list[ModelMessage]([_asks(self._prompt.question)])
        for repaired in (False, True):
            answer = await self._sent(messages)
            text = modes.json_text(modes.written(answer))
            try:
                found = self._output.model_validate_json(text or "null", context=self._context)
            except ValidationError as error:
                if repaired:
                    raise UnexpectedModelBehavior("invalid") from None
                if not text and not mind.settled and mind.mode not in modes.IN_WORDS:
                    # It wrote no JSON at all: from now on it is shown the schema in words.
                    mind.mode = "object"
                messages += [answer, _asks(_repair(error))]
            else:
                mind.settled = True
                return found
        raise AssertionError("unreachable")

    async def _sent(self, messages: list[ModelMessage]) -> ModelResponse:
        """One answer: in the first mode that the server takes, and after the pause that it asks for, once."""
        mind, waited = self._mind, False
        while True:
            mode = mind.mode
            try:
                return await self._request(messages, mode)
            except ModelHTTPError as error:
                pause = _pause(error)
                if pause is not None and not waited and monotonic() + pause < self._end:
                    waited = True
                    await asyncio.sleep(pause)
                elif error.status_code in REFUSES_MODE and not mind.settled and mode != modes.MODES[-1]:
                    mind.mode = modes.MODES[modes.MODES.index(mode) + 1]
                else:
                    raise

    async def _request(self, messages: list[ModelMessage], mode: str) -> ModelResponse:
        instructions = self._prompt.instructions + modes.shown_schema(mode, self._output)
        first = ModelRequest(parts=[UserPromptPart(self._prompt.question)], instructions=instructions)
        self._calls += 1
        request: dict[str, Any] = {
            "messages": [first, *messages[1:]],
            "model_settings": request_settings(self._mind.model, self._form, roomy=self._mind.roomy),
            "model_request_parameters": modes.parameters(mode, self._output),
            "instrument": False,  # traces would hold the conversation
        }
        if self.stream is None:
            answer = await model_request(self._mind.model, **request)
        else:
            async with model_request_stream(self._mind.model, **request) as events:
                text = ""
                async for event in events:
                    text += modes.piece_of(event)
                    await self.stream.listen(text)
                answer = events.get()
        self._add(answer)
        if answer.finish_reason == "content_filter":
            raise ContentFilterError("withheld")
        return answer

    def _add(self, answer: ModelResponse) -> None:
        tokens_in, tokens_out = answer.usage.input_tokens, answer.usage.output_tokens
        self._tokens_in += tokens_in
        self._tokens_out += tokens_out
        try:
            self._cost += float(answer.cost().total_price)
        except (LookupError, ValueError, AssertionError):
            price_in, price_out = self._mind.prices
            self._cost += (tokens_in * price_in + tokens_out * price_out) / 1e6


def _asks(text: str) -> ModelRequest:
    return ModelRequest(parts=[UserPromptPart(text)])


def _repair(error: ValidationError) -> str:
    wrong = {f"{'.'.join(map(str, each['loc'])) or 'answer'}: {each['msg']}" for each in error.errors()[:5]}
    return f"That answer cannot be used ({'; '.join(sorted(wrong))}). Answer again with one JSON object as asked for."


class _FieldStream:
    """Passes on a field's growth while the answer, a JSON object, is being written."""

    def __init__(self, name: str, on_token: OnToken) -> None:
        self._name = name
        self._on_token = on_token
        self._passed_on = ""

    async def listen(self, written: str) -> None:
        """Pass on the new text of one request, a first or a repair; one that begins otherwise passes nothing on."""
        if len(self._passed_on) >= REPLY_CHARACTERS:
            return  # What follows is cut off in the end, and reading all of it at each piece would take minutes.
        try:
            await self._pass_on(cleaned_quote(modes.partial_field(written, self._name)))
        except Exception as error:
            raise _ListenerFailed from error

    async def finish(self, output: BaseModel) -> None:
        """Pass on the rest of the field, where the text passed on is its beginning."""
        await self._pass_on(getattr(output, self._name))

    async def _pass_on(self, text: str) -> None:
        if len(text) > len(self._passed_on) and text.startswith(self._passed_on):
            piece, self._passed_on = text[len(self._passed_on) :], text
            await self._on_token(piece)


def _pause(error: ModelHTTPError) -> float | None:
    """Seconds after which a server asks to be asked again (Retry-After); None where it does not."""
    try:
        return max(0.0, float((error.headers or {}).get("retry-after", "")))
    except ValueError:
        return None


def _explained(error: Exception, timeout: float, usage: Usage) -> MindError:
    """A failure in words that quote nothing."""
    kind, said, away = "error", f"failed: {type(error).__name__}", False
    match error:
        case TimeoutError():
            kind, said, away = "timeout", f"did not answer within {timeout:g} seconds", True
        case ModelHTTPError(status_code=status):
            # The codes named say that this one question was not to its liking: too long, or not allowed.
            kind, said, away = f"http_{status}", f"refused with HTTP status {status}", status not in {400, 413, 422}
        case ModelAPIError():
            kind, said, away = "unreachable", "could not be reached or broke off", True
        case ContentFilterError():
            kind, said = "content_filter", "has a content filter that withheld the answer"
        case UnexpectedModelBehavior():
            kind, said = "invalid", "gave no valid answer"
    return MindError(f"The language model {said}.", kind=kind, usage=usage, away=away)


def request_settings(model: Model[Any], form: Form[Any, Any, Any], *, roomy: bool) -> ModelSettings:
    """Return the settings of a request; the answer of a model that may think first is not cut."""
    settings = ModelSettings() if "max_retries" in model.unsupported_settings else ModelSettings(max_retries=0)
    if model.profile.get("thinking_always_enabled"):
        return settings
    settings |= ModelSettings(temperature=form.temperature)
    return settings if roomy else settings | ModelSettings(max_tokens=form.tokens)
