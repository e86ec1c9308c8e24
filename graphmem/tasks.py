"""Tasks of one piece of work: none outlives it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def task_group() -> AsyncIterator[asyncio.TaskGroup]:
    """An `asyncio.TaskGroup` that raises its first error as it is, so that callers see their own kinds of errors.

    Examples
    --------
    >>> async def fail() -> None:
    ...     raise ValueError("as it is")
    >>> async def work() -> None:
    ...     async with task_group() as group:
    ...         group.create_task(fail())
    >>> asyncio.run(work())
    Traceback (most recent call last):
    ValueError: as it is
    """
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as errors:
        error = _first_error(errors)
        raise error from error.__cause__


def _first_error(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    error = errors.exceptions[0]
    return _first_error(error) if isinstance(error, BaseExceptionGroup) else error
