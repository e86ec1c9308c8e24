"""Client of the graphmem API: `AsyncClient`, and `Client`, which blocks; both typed, one method an operation.

Results, inputs and enums are in `graphmem_client.generated`, made from the API's schema; errors in
`graphmem_client.errors`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphmem_client.clients import AsyncClient as AsyncClient
    from graphmem_client.clients import Client as Client

__all__ = ["AsyncClient", "Client"]


def __getattr__(name: str) -> Any:
    """Load a client when it is first used: the server imports the errors of this package alone."""
    if name not in __all__:
        raise AttributeError(f"module 'graphmem_client' has no attribute {name!r}")
    return getattr(import_module("graphmem_client.clients"), name)
