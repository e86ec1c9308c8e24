"""A TCP proxy in front of Neo4j that can stop forwarding, as a network that is cut or a server that hangs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit


class Proxy:
    """Forwards connections of a free port of 127.0.0.1 while `forwarding` is set; they stay open while it is not."""

    def __init__(self, uri: str) -> None:
        target = urlsplit(uri)
        assert target.hostname
        self._host, self._port = target.hostname, target.port or 7687
        self.forwarding = asyncio.Event()
        self.forwarding.set()
        self.port = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def uri(self) -> str:
        """The address to give to a driver."""
        return f"bolt://127.0.0.1:{self.port}"

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(self._host, self._port)
        for source, sink in ((reader, back), (there, writer)):
            task = asyncio.create_task(self._forward(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _forward(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            try:
                while data := await source.read(65536):
                    await self.forwarding.wait()
                    sink.write(data)
                    await sink.drain()
            finally:
                sink.transport.abort()
                await sink.wait_closed()

    async def stop(self) -> None:
        """End every connection."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def proxied(uri: str) -> AsyncIterator[Proxy]:
    """A proxy in front of a Neo4j."""
    proxy = Proxy(uri)
    listening = await asyncio.start_server(proxy._connected, "127.0.0.1", 0)
    proxy.port = listening.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listening.close()
        await proxy.stop()
