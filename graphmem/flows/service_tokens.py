"""Service tokens: bearer tokens that live long, are listed and can be revoked (spec 15)."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import uuid4

from graphmem.app import Graphmem
from graphmem.bearer import Caller, make_token
from graphmem.errors import NotFound, Unauthenticated
from graphmem.model import Role, ServiceToken
from graphmem.store import students
from graphmem.validation import checked_id, checked_text

SERVICE_TOKEN_DAYS = 365.0
"""Days after which a service token expires."""

MOST_TOKENS = 1_000
"""Most service tokens of an institution that are listed."""
USE_STEP = timedelta(hours=1)
"""Longest time for which the use of a token is not noted anew."""
REVOKED = "This token was revoked: make a new one with `graphmem token --service NAME`."


async def issue_token(
    gm: Graphmem, institution: str, role: Role, name: str, days: float | None = None
) -> tuple[str, ServiceToken]:
    """Make a service token; it is shown this once and kept nowhere.

    Parameters
    ----------
    gm : Graphmem
    institution, role : whom it speaks for
    name : str, 1 to 200 characters: the service that uses it
    days : float > 0, until it expires; `service_token_days` by default

    Raises
    ------
    InvalidInput    institution, name or days will not do
    """
    checked_text("name", name, 200)
    seconds = 86_400.0 * (SERVICE_TOKEN_DAYS if days is None else days)
    now, token_id = gm.clock(), uuid4().hex
    text = make_token(gm.secret, institution, role, seconds, now, token_id)
    token = ServiceToken(token_id, name, role, now, now + timedelta(seconds=seconds))
    await students.create_token(gm.graph, institution, token)
    return text, token


async def list_tokens(gm: Graphmem, institution: str) -> Sequence[ServiceToken]:
    """Return an institution's service tokens, the newest first, at most 1,000; revoked and expired ones too."""
    return await students.list_stored_tokens(gm.graph, institution, MOST_TOKENS)


async def revoke_token(gm: Graphmem, institution: str, token_id: str) -> ServiceToken:
    """Revoke a service token, for good: within `service_token_seconds` no replica accepts it any more.

    Raises
    ------
    NotFound        the institution has none of this id
    """
    revoked = await students.save_revocation(gm.graph, institution, checked_id("id", token_id), gm.clock())
    if revoked is None:
        raise NotFound("There is no such service token: `graphmem token --list` shows them.")
    gm.valid_tokens.pop(token_id, None)
    return revoked


async def check_not_revoked(gm: Graphmem, caller: Caller) -> None:
    """Raise Unauthenticated where a caller's token is a service token that was revoked, or is unknown here.

    What was looked up is trusted for `service_token_seconds`.

    Raises
    ------
    Unauthenticated     it was revoked
    Unavailable         Neo4j does not answer
    """
    if caller.token_id is None or caller.token_id in gm.valid_tokens:
        return
    found, now = await students.find_token_use(gm.graph, caller.institution, caller.token_id), gm.clock()
    if found is None:
        raise Unauthenticated(REVOKED)
    (used_at,) = found
    if used_at is None or now - used_at >= USE_STEP:
        await students.touch_token(gm.graph, caller.institution, caller.token_id, now)
    gm.valid_tokens[caller.token_id] = True
