"""Language models by their model string, and what to do where one cannot be made (spec 17)."""

import sys
from importlib.metadata import version
from typing import Any

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, infer_provider_class

from graphmem.errors import SetupError

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
