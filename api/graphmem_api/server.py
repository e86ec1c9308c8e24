"""Configuration of the HTTP server, and time and size limits of request heads, which no application sees."""

import asyncio
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from graphmem.settings import Settings

CONNECTIONS = 1000
"""Connections at once from which on requests are answered by 503."""

REQUEST_SECONDS = 30.0
"""Seconds a request's head may take to arrive, and its body."""

REQUEST_BYTES = 1_000_000
"""Bytes of a request."""

_HEAD_BYTES = 65_536
_UNAVAILABLE = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


def server_config(app: FastAPI, settings: Settings, **more: Any) -> uvicorn.Config:
    """The server's configuration with the limits of the settings; `more` is uvicorn's own."""
    return uvicorn.Config(
        app,
        access_log=False,
        http=_http_protocol(REQUEST_SECONDS),
        limit_concurrency=CONNECTIONS,
        ws_max_size=REQUEST_BYTES,
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
        **more,
    )


class LimitedHead(HttpToolsProtocol):
    """The library's protocol, which closes connections whose request head takes too long or too much.

    The library waits without end for the first head, and for a further one once a byte of it has come.
    """

    head_seconds: float
    _timer: asyncio.TimerHandle | None = None
    _head_bytes, _in_body = 0, False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Called by the event loop with a new connection."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Called by the event loop with what has come."""
        if self._timer is None and self.cycle is not None and self.cycle.response_complete:
            self._await_head()
        if not self._in_body:
            self._head_bytes += len(data)
        super().data_received(data)
        # Whatever came with the end of a head is no part of it.
        if self._timer is not None and self._head_bytes > _HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The request's head is too large.")

    def on_headers_complete(self) -> None:
        """Called by the parser at the end of a head."""
        self._cancel_timer()
        self._head_bytes, self._in_body = 0, True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Called by the parser at the end of a body."""
        # It may have been refused before, and the rest of it is bounded in time as a head is.
        self._cancel_timer()
        self._in_body = False
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        """Called by the library; it limits connections of HTTP only."""
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            self.transport.write(_UNAVAILABLE)
            self.transport.close()
        else:
            super().handle_websocket_upgrade()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the event loop at the end of a connection."""
        self._cancel_timer()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._timer = self.loop.call_later(self.head_seconds, self.transport.close)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _http_protocol(head_seconds: float) -> type[LimitedHead]:
    """The class of connections; the library makes them, without arguments of ours."""
    return type("LimitedHead", (LimitedHead,), {"head_seconds": head_seconds})
