"""GraphQL over a WebSocket (graphql-transport-ws): operations that cannot be read are errors of the client."""

import asyncio
import math
from datetime import UTC, datetime
from typing import Any, cast

from graphql import GraphQLError
from strawberry.asgi import ASGIWebSocketAdapter
from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import BaseGraphQLTransportWSHandler
from strawberry.subscriptions.protocols.graphql_transport_ws.types import (
    ConnectionInitMessage,
    Message,
    SubscribeMessage,
)

from graphmem.app import SERVICE_TOKEN_SECONDS
from graphmem.errors import InvalidInput, Unauthenticated, Unavailable
from graphmem.flows.students import check_not_revoked
from graphmem_api.access import RequestContext
from graphmem_api.errors import log_unexpected

_CLOSE_REASON_BYTES = 123
_UNAUTHORIZED = 4401


class Socket(ASGIWebSocketAdapter):
    """The library's socket, whose close reasons fit into a frame (RFC 6455, 5.5)."""

    async def close(self, code: int, reason: str) -> None:
        """Close with a reason, cut where it is too long: it may quote what the client sent."""
        await super().close(code, reason.encode("utf-8", "replace")[:_CLOSE_REASON_BYTES].decode("utf-8", "ignore"))


class Connection(BaseGraphQLTransportWSHandler[RequestContext, None]):
    """The library's connection, which answers every operation, also one that cannot be read.

    It ends when the caller's token does.
    """

    _expiry: asyncio.Task[None] | None = None

    async def handle_connection_init(self, message: ConnectionInitMessage) -> None:
        """Called by the library with the first message, which may carry the caller's token."""
        await super().handle_connection_init(message)
        if self.connection_acknowledged and self._expiry is None:
            self._expiry = asyncio.create_task(self.close_at_expiry())
            self._expiry.add_done_callback(self._task_done)

    async def close_at_expiry(self) -> None:
        """Close the connection when the caller's token ends; each operation looks at the token besides."""
        try:
            caller = self.context.claimed_caller
        except Unauthenticated:
            # Without a token the operations that need one are refused.
            return
        step = SERVICE_TOKEN_SECONDS if caller.token_id else math.inf
        reason = "the token has expired"
        while (left := (caller.expires_at - datetime.now(UTC)).total_seconds()) > 0:
            try:
                await check_not_revoked(self.context.gm, caller)
            except Unauthenticated:
                reason = "the token was revoked"
                break
            except Unavailable:
                # The next look will tell; no operation is answered meanwhile.
                pass
            await asyncio.sleep(min(left, step))
        await self.websocket.close(_UNAUTHORIZED, f"{Unauthenticated.code}: {reason}")

    async def shutdown(self) -> None:
        """Called by the library when the connection ends."""
        if self._expiry is not None:
            self._expiry.cancel()
        await super().shutdown()

    async def handle_task_exception(self, error: Exception) -> None:
        """Called by the library with what it did not expect; the library's own log would quote the document."""
        log_unexpected(error)

    async def handle_message(self, message: Message) -> None:
        """Called by the library with each message."""
        # What is typed as a message is any JSON value.
        received = cast(Any, message)
        if not isinstance(received, dict):
            await self.handle_invalid_message("A message must be a JSON object")
        elif not isinstance(received.get("id"), str | None):
            await self.handle_invalid_message("The id of an operation must be a string")
        else:
            await super().handle_message(message)

    async def handle_subscribe(self, message: SubscribeMessage) -> None:
        """Called by the library with each operation; the library takes its values as they come."""
        if self.connection_acknowledged and (reason := _malformed(message["payload"])):
            error = GraphQLError(reason, extensions={"code": InvalidInput.code})
            await self.send_message({"id": message["id"], "type": "error", "payload": [error.formatted]})
        else:
            await super().handle_subscribe(message)

    @staticmethod
    def _get_pre_execution_close_reason(error: GraphQLError) -> str | None:
        """No reason: a document that cannot be parsed ends its operation, and the connection stays open."""
        return None


def _malformed(payload: Any) -> str | None:
    """The reason why a payload is no operation, if it is none."""
    if not isinstance(payload, dict):
        return "The payload of an operation must be an object."
    if not isinstance(payload.get("query"), str):
        return "The operation's `query` must be a string."
    if not isinstance(payload.get("variables"), dict | None):
        return "The operation's `variables` must be an object or null, if provided."
    if not isinstance(payload.get("operationName"), str | None):
        return "The operation's `operationName` must be a string or null, if provided."
    return None
