"""The door: GraphQL over HTTP and WebSocket, roles, limits and error codes. No decision is taken here."""
