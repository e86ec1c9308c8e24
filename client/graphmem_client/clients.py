"""The clients: the generated operations."""

from typing import Any, Self

from graphmem_client.generated import AsyncOperations, Operations
from graphmem_client.transport import wait_for


class AsyncClient(AsyncOperations):
    """The client for asyncio: `async with AsyncClient(address, token) as client`."""

    async def execute(self, query: str, student_id: str | None = None, /, **variables: Any) -> Any:
        """Return the value of the one field of a document of your own, as JSON has it."""
        return await self._executed(query, student_id, variables)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()


class Client(Operations):
    """The blocking client: `with Client(address, token) as client`, or without `with`. It runs `AsyncClient`'s code."""

    def execute(self, query: str, student_id: str | None = None, /, **variables: Any) -> Any:
        """Return the value of the one field of a document of your own, as JSON has it."""
        return wait_for(self._executed(query, student_id, variables))

    def close(self) -> None:
        """Close the connections."""
        wait_for(self.http.aclose())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
