"""The schema, put together of the operations and types of the contract, with its limits and codes of errors."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from copy import copy
from functools import partial
from typing import Any

import strawberry
from graphql import GraphQLError
from strawberry.extensions import MaxAliasesLimiter, MaxTokensLimiter, QueryDepthLimiter
from strawberry.types import ExecutionContext, ExecutionResult, has_object_definition
from strawberry.types.graphql import OperationType

from graphmem.errors import GraphmemError, InvalidInput, RateLimited
from graphmem.flows.students import renew_if_due
from graphmem.store.graph import bookmarked
from graphmem_api import student, types
from graphmem_api.access import RequestContext, check_request
from graphmem_api.errors import code
from graphmem_api.institution_operations import InstitutionMutation, InstitutionQuery
from graphmem_api.limits import CachedParsing, LimitedValidation, MarkingExecution, veil
from graphmem_api.mapper import describe
from graphmem_api.memory_operations import MemoryMutation
from graphmem_api.student_operations import StudentMutation, StudentQuery
from graphmem_api.turn_operations import Subscription, TurnMutation

QUERY_NODES = 2000
"""Fields of a GraphQL query once its fragments are expanded."""

QUERY_TOKENS = 2000
"""Tokens of a GraphQL query."""

QUERY_ALIASES = 30
"""Aliases in a GraphQL query."""

QUERY_DEPTH = 12
"""Levels of a GraphQL query."""


# The order of bases is the order of fields in the schema.
@strawberry.type
class Query(StudentQuery, InstitutionQuery):
    """Queries: operations that read data."""


@strawberry.type
class Mutation(StudentMutation, TurnMutation, MemoryMutation, InstitutionMutation):
    """Mutations: operations that change data."""


class Schema(strawberry.Schema):
    """The library's schema, where every error gets its code; its own log would quote what students wrote."""

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Called by the library with the errors of every operation, before they are sent."""
        for error in errors:
            code(error)

    async def execute(self, query: str | None, *args: Any, **kwargs: Any) -> ExecutionResult:
        """See the library's; it would let in subscriptions, which have no single result."""
        allowed_types = set(kwargs.get("allowed_operation_types") or OperationType)
        kwargs["allowed_operation_types"] = allowed_types - {OperationType.SUBSCRIPTION}
        context: RequestContext | None = kwargs.get("context_value")
        if context is not None:
            await context.look_up_caller()
        try:
            if context is not None:
                check_request(context)
            with bookmarked("" if context is None else context.bookmark) as trail:
                result = await super().execute(query, *args, **kwargs)
                await self._veil(context, result)
        except (InvalidInput, RateLimited) as error:
            return self._refused(error)
        if context is not None:
            context.wrote(trail.text)
        if context is not None and context.used_session is not None:
            await renew_if_due(context.gm, context.used_session)
        return result

    async def stream(self, query: str | None, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        """See the library's."""
        context: RequestContext | None = kwargs.get("context_value")
        if context is not None:
            await context.look_up_caller()
        results = await super().stream(query, *args, **kwargs)

        async def veiled() -> AsyncGenerator[Any, None]:
            async with aclosing(results):
                async for result in results:
                    if isinstance(result, ExecutionResult):
                        if context is not None and (refusal := await context.ended()):
                            yield self._refused(refusal)
                            return
                        await self._veil(context, result)
                    yield result

        return veiled()

    def _refused(self, error: GraphmemError) -> ExecutionResult:
        """The answer to a request that is refused as a whole."""
        errors = [GraphQLError(str(error), original_error=error)]
        self.process_errors(errors)
        return ExecutionResult(None, errors)

    async def _veil(self, context: RequestContext | None, result: ExecutionResult) -> None:
        """Take out of a result what its student has not met; without a session nothing of a student is in it."""
        if context is None or context.used_session is None:
            return
        try:
            await veil(context.gm, context.used_session, result)
        except GraphmemError as error:
            result.data, result.errors = None, self._refused(error).errors


def make_schema() -> Schema:
    """Make the schema, with limits on what a document may ask."""
    extensions = [
        QueryDepthLimiter(max_depth=QUERY_DEPTH),
        MaxAliasesLimiter(max_alias_count=QUERY_ALIASES),
        MaxTokensLimiter(max_token_count=QUERY_TOKENS),
        CachedParsing(maxsize=500),
        LimitedValidation(QUERY_NODES, maxsize=500),
    ]
    for each in (Query, Mutation, Subscription, *vars(types).values(), *vars(student).values()):
        if has_object_definition(each):
            describe(each)
    # Each operation gets copies: their caches and rules are shared, what they hold of the operation is not.
    own = [partial(copy, each) for each in extensions]
    return Schema(Query, Mutation, Subscription, extensions=own, execution_context_class=MarkingExecution)
