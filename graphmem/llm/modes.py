"""Output modes: the ways to make a model answer in JSON, and to find the JSON in its answer (spec 17).

`schema` holds the answer to a JSON schema, `tool` makes it the argument of a tool, `object` asks for any JSON object,
`text` for plain text with JSON in it; the last two show the schema in the instructions. Which one a server can do is
found by trial, from the first to the last, and kept.
"""

import json
import re
import sys
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    AgentStreamEvent,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers import Provider, infer_provider_class
from pydantic_ai.tools import ToolDefinition
from pydantic_core import from_json

from graphmem.errors import SetupError

MODES = ("schema", "tool", "object", "text")
"""Modes in the order in which they are tried."""
IN_WORDS = frozenset({"object", "text"})
"""Modes in which the instructions show the schema."""
_TOOL = "answer"
_THOUGHT = re.compile(r"<(think|thinking|thought)>.*?(?:</\1>|\Z)\s*", re.DOTALL)


EXTRAS = "anthropic,bedrock,cohere,google,groq,mistral,xai"
MODEL_FORM = (
    "GRAPHMEM_MODEL must be `offline` or `PROVIDER:NAME`, such as `openai:gpt-5` or `anthropic:claude-sonnet-4-5`"
)
LOCAL_SERVERS = {"lmstudio": "http://127.0.0.1:1234/v1", "llamacpp": "http://127.0.0.1:8080/v1"}
"""Servers on this machine that speak OpenAI's protocol, with their usual addresses."""
RENAMED = {"grok": "xai", "google-gla": "google", "gemini": "google"}
REMEDIES = {
    "azure": "set AZURE_OPENAI_API_KEY, OPENAI_API_VERSION, and GRAPHMEM_MODEL_BASE_URL or AZURE_OPENAI_ENDPOINT",
    "vllm": "set GRAPHMEM_MODEL_BASE_URL to its address, such as http://127.0.0.1:8000/v1",
    "xai": "set XAI_API_KEY",
}


def lean_schema(output: type[BaseModel]) -> dict[str, Any]:
    """JSON schema of an answer without titles and descriptions, which cost tokens and say nothing new."""
    return _lean(output.model_json_schema())  # type: ignore[no-any-return]


def _lean(value: Any) -> Any:
    if isinstance(value, list):
        return [_lean(each) for each in value]
    if not isinstance(value, dict):
        return value
    lean = {key: _lean(each) for key, each in value.items() if key not in {"title", "description"}}
    if "properties" in value:
        names = value["properties"]
        lean |= {"properties": {name: _lean(part) for name, part in names.items()}}
        lean |= {"required": list(names), "additionalProperties": False}
    return lean


def parameters(mode: str, output: type[BaseModel]) -> ModelRequestParameters:
    """Parameters of a request for an answer in a mode."""
    schema = lean_schema(output)
    if mode == "tool":
        tool = ToolDefinition(name=_TOOL, parameters_json_schema=schema, strict=True, kind="output")
        return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)
    if mode == "text":
        return ModelRequestParameters(output_mode="text")
    if mode == "schema":
        held = OutputObjectDefinition(json_schema=schema, name=output.__name__, strict=True)
        return ModelRequestParameters(output_mode="native", output_object=held)
    held = OutputObjectDefinition(json_schema=schema)
    return ModelRequestParameters(output_mode="prompted", output_object=held, prompted_output_template=False)


def shown_schema(mode: str, output: type[BaseModel]) -> str:
    """Return the instructions on the form of an answer; empty where the request enforces a schema."""
    if mode not in IN_WORDS:
        return ""
    schema = json.dumps(lean_schema(output), separators=(",", ":"))
    return f"\n\nAnswer with one JSON object of this schema and nothing else:\n{schema}"


def written(response: ModelResponse) -> str:
    """Return a model's answer: the argument of a tool, else its text."""
    for part in response.parts:
        if isinstance(part, ToolCallPart):
            return part.args_as_json_str()
    # What thinks in plain text is taken for thought as a whole where its end comes within a piece of the stream.
    thought = (part.content.partition("</think>")[2] for part in response.parts if isinstance(part, ThinkingPart))
    return "".join(part.content for part in response.parts if isinstance(part, TextPart)) or "".join(thought)


def piece_of(event: AgentStreamEvent | ModelResponseStreamEvent) -> str:
    """Return the text that a stream event adds to the answer."""
    match event:
        case PartStartEvent(part=ThinkingPart(content=piece)):
            return f"<think>{piece}"
        case PartStartEvent(part=TextPart(content=piece)) | PartStartEvent(part=ToolCallPart(args=str(piece))):
            return piece
        case PartDeltaEvent(delta=TextPartDelta(content_delta=piece)):
            return piece
        case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(piece))):
            return piece
        case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=str(piece))):
            return piece
        case _:
            return ""


def json_text(text: str) -> str:
    """Return the JSON object in a model's answer: without its thoughts, and without prose and fences around it.

    Examples
    --------
    >>> json_text('<think>{no}</think> Here it is: ```json\\n{"reply": "Hi {you}"}\\n``` Good?')
    '{"reply": "Hi {you}"}'
    >>> json_text('<think>still think')
    ''
    """
    bare = _THOUGHT.sub("", text)
    start = bare.find("{")
    if start < 0:
        return ""
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(bare[start:])
    except ValueError:
        return bare[start:]
    return bare[start : start + end]


def partial_field(text: str, name: str) -> str:
    """A text field of an answer that is still being written; empty before it begins."""
    try:
        answer = from_json(json_text(text) or "{}", allow_partial="trailing-strings")
    except ValueError:
        return ""
    value = answer.get(name) if isinstance(answer, Mapping) else None
    return value if isinstance(value, str) else ""


def make_model(name: str, base_url: str | None) -> Model[Any]:
    """A model of pydantic-ai.

    Parameters
    ----------
    name : str                      PROVIDER:NAME
    base_url : str                  address of the server; None: the provider's own

    Raises
    ------
    SetupError                      the name, its package or its key is missing or wrong; it says what to do

    Examples
    --------
    >>> make_model("lmstudio:qwen3", None).model_name
    'qwen3'
    """
    provider, _, model = name.partition(":")
    if not provider or not model:
        raise SetupError(f"{MODEL_FORM}; it is {name!r}.")
    provider = RENAMED.get(provider, provider)
    if provider in LOCAL_SERVERS:
        provider, base_url = "openai", base_url or LOCAL_SERVERS[provider]
    if base_url and provider == "openai":
        # Chat completions is what OpenAI-compatible servers speak; `openai-responses:NAME` asks for the other one.
        provider = "openai-chat"
    try:
        if not base_url:
            return infer_model(f"{provider}:{model}")
        return infer_model(f"{provider}:{model}", lambda provider: _provider(provider, base_url))
    except ImportError:
        raise SetupError(
            f"The model {name!r} needs a package that is not installed: run `{sys.executable} -m pip install "
            f"'pydantic-ai-slim[{EXTRAS}]=={version('pydantic-ai-slim')}'`."
        ) from None
    except (UserError, ValueError) as error:
        reason = str(error).partition(" To try ")[0].rstrip(".")
        remedy = REMEDIES.get(provider)
        said = f"{remedy[:1].upper()}{remedy[1:]}" if remedy else MODEL_FORM
        raise SetupError(f"The model {name!r} cannot be used: {reason}. {said}.") from None


def _provider(name: str, base_url: str) -> Provider[Any]:
    maker: Any = infer_provider_class(name)
    address = {"azure_endpoint": base_url} if name.startswith("azure") else {"base_url": base_url}
    try:
        provider: Provider[Any] = maker(**address)
    except TypeError:
        raise SetupError(
            f"The provider {name!r} takes no address: unset GRAPHMEM_MODEL_BASE_URL, or use `openai:NAME` with it."
        ) from None
    return provider
