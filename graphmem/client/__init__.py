"""Client of the API over HTTP, typed: `AsyncClient`, and `Client`, which runs the same code in a thread of its own.

Each operation of the contract is a method with the contract's name. What is asked for follows from the fields of the
result's class, so that a field is listed once; a test holds classes and documents against `api/schema.graphql`.
Not generated: ariadne-codegen makes types anew for each operation, and a client either with asyncio or without.
"""

from graphmem.client.operations import AsyncClient as AsyncClient
from graphmem.client.operations import Client as Client
