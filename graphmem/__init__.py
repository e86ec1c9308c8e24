"""graphmem: an AI tutor's lasting memory of each student, kept as a graph in Neo4j.

In this process: `open_memory`, then its `add`, `context` and `search`; or, for all there is, `open_graphmem`, then
`enrol`, `open_session`, `handle_turn`, `recall`, `context`, `observe`, `close_session`. From anywhere else: `Client` or
`AsyncClient`, over HTTP. Everything that can be raised is in `graphmem.errors`.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphmem.app import Graphmem as Graphmem
    from graphmem.errors import GraphmemError as GraphmemError
    from graphmem.errors import Locked as Locked
    from graphmem.errors import Unavailable as Unavailable
    from graphmem.flows.context import context as context
    from graphmem.flows.context import recall as recall
    from graphmem.flows.observation import observe as observe
    from graphmem.flows.students import enrol as enrol
    from graphmem.flows.students import open_session as open_session
    from graphmem.flows.turn import Incoming as Incoming
    from graphmem.flows.turn import handle_turn as handle_turn
    from graphmem.jobs.sessions import close_session as close_session
    from graphmem.model import Observation as Observation
    from graphmem.model import Who as Who
    from graphmem.runtime import open_graphmem as open_graphmem
    from graphmem.settings import Settings as Settings
    from graphmem.student_memory import open_memory as open_memory
    from graphmem_client import AsyncClient as AsyncClient
    from graphmem_client import Client as Client

__version__ = version("graphmem")

# Importing a submodule of `graphmem` must not load the drivers and models of the others.
_MODULES = {
    "AsyncClient": "graphmem_client.clients",
    "Client": "graphmem_client.clients",
    "Graphmem": "graphmem.app",
    "GraphmemError": "graphmem.errors",
    "Incoming": "graphmem.flows.findings",
    "Locked": "graphmem.errors",
    "Observation": "graphmem.model",
    "Settings": "graphmem.settings",
    "Unavailable": "graphmem.errors",
    "Who": "graphmem.model",
    "close_session": "graphmem.jobs.sessions",
    "context": "graphmem.flows.context",
    "enrol": "graphmem.flows.students",
    "handle_turn": "graphmem.flows.turn",
    "observe": "graphmem.flows.observation",
    "open_graphmem": "graphmem.runtime",
    "open_memory": "graphmem.student_memory",
    "open_session": "graphmem.flows.students",
    "recall": "graphmem.flows.context",
}
__all__ = sorted([*_MODULES, "__version__"])


def __getattr__(name: str) -> Any:
    """A public name, loaded when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module 'graphmem' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
