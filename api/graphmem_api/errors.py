"""From our errors to GraphQL errors with a code, in one place; what is not ours is masked (spec 19)."""

import logging

from graphql import GraphQLError
from starlette.requests import ClientDisconnect

from graphmem.errors import GraphmemError, InvalidInput, QueryError, RateLimited, SetupError, Tampered, place

log = logging.getLogger("graphmem.api")

INTERNAL = "Something went wrong inside graphmem; it is in the server's log under this time."
_OURS_ALONE = (QueryError, SetupError, Tampered)


def code(error: GraphQLError) -> None:
    """Give an error its code, and a message that a client may see.

    Errors without a path were found before anything ran: the request itself was wrong.
    """
    original = error.original_error
    if isinstance(original, GraphmemError) and not isinstance(original, _OURS_ALONE):
        error.message, error.extensions = str(original), {"code": original.code}
        if isinstance(original, RateLimited) and original.retry_after is not None:
            error.extensions["retryAfter"] = original.retry_after
    elif error.path is None and not isinstance(original, GraphmemError):
        error.extensions = {"code": InvalidInput.code}
    else:
        # The message of an unknown error may quote what a student wrote: only its kind and place are logged.
        log_unexpected(original)
        error.message, error.extensions = INTERNAL, {"code": "INTERNAL"}


def log_unexpected(error: BaseException | None) -> None:
    """Log kind and place of an error."""
    log.error("unexpected %s at %s", type(error).__name__, place(error))


class WithoutValues(logging.Filter):
    """Filter of the logs of libraries: of an error its kind and place, of the rest what is not for debugging.

    Tracebacks quote values and lines of source; a document's line is what a student wrote. Debug records of the
    WebSocket library quote frames.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Take the values out of a record; False when nothing is left of it."""
        if record.levelno <= logging.DEBUG:
            return False
        # `exc_info` may be an empty triple: an error was to be logged where there was none.
        if record.exc_info is not None and isinstance(record.exc_info, tuple):
            error = record.exc_info[1]
            if isinstance(error, ClientDisconnect):
                # Who goes away while sending is no defect.
                return False
            record.msg, record.args = "unexpected %s at %s", (type(error).__name__, place(error))
        record.exc_info = record.exc_text = None
        return True


_WITHOUT_VALUES = WithoutValues()
_LIBRARIES = (
    "asyncio",
    "graphql",
    "strawberry.execution",
    "strawberry.ws",
    "strawberry.ws.task",
    "uvicorn.asgi",
    "uvicorn.error",
)


def keep_values_out_of_logs() -> None:
    """Let the libraries that see requests log no text of them; a second call changes nothing."""
    for name in _LIBRARIES:
        logging.getLogger(name).addFilter(_WITHOUT_VALUES)
