"""From our errors to GraphQL errors with a code, in one place; what is not ours is masked (spec 19)."""

import logging

from graphql import GraphQLError

from graphmem.errors import GraphmemError, InvalidInput, QueryError, SetupError, Tampered

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
    elif error.path is None and not isinstance(original, GraphmemError):
        error.extensions = {"code": InvalidInput.code}
    else:
        # The message of an unknown error may quote what a student wrote: only its kind and place are logged.
        log.error("unexpected %s at %s", type(original).__name__, _place(original))
        error.message, error.extensions = INTERNAL, {"code": "INTERNAL"}


def _place(error: BaseException | None) -> str:
    """Files and lines of a traceback, without any value."""
    frames = []
    traceback = error.__traceback__ if error else None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        frames.append(f"{code.co_filename.rsplit('/', 1)[-1]}:{traceback.tb_lineno}")
        traceback = traceback.tb_next
    return " > ".join(frames[-8:])
