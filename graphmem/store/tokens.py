"""Service tokens in the graph: what is known of each, never the token itself (spec 15)."""

from datetime import datetime

from graphmem.model import Role, ServiceToken
from graphmem.store.graph import Graph, Row
from graphmem.store.rows import moment


async def create_token(graph: Graph, institution: str, token: ServiceToken) -> None:
    """Keep that a service token was made; `token/create`."""
    await graph.run(
        "token/create",
        institution=institution,
        id=token.id,
        called=token.name,
        role=token.role.value,
        created_at=token.created_at,
        expires_at=token.expires_at,
    )


async def find_use(graph: Graph, institution: str, token_id: str) -> tuple[datetime | None] | None:
    """When a service token that was not revoked was last noted as used, if ever; `token/find`. None without one."""
    rows = await graph.run("token/find", institution=institution, id=token_id)
    return (_maybe(rows[0]["used_at"]),) if rows else None


async def touch_token(graph: Graph, institution: str, token_id: str, now: datetime) -> None:
    """Note that a service token is used; `token/touch`."""
    await graph.run("token/touch", institution=institution, id=token_id, now=now)


async def revoke(graph: Graph, institution: str, token_id: str, now: datetime) -> ServiceToken | None:
    """Revoke a service token; `token/revoke`. None where the institution has none of this id."""
    rows = await graph.run("token/revoke", institution=institution, id=token_id, now=now)
    return _token(rows[0]) if rows else None


async def list_all(graph: Graph, institution: str, limit: int) -> list[ServiceToken]:
    """An institution's service tokens, the newest first; `token/list`."""
    return [_token(row) for row in await graph.run("token/list", institution=institution, limit=limit)]


def _token(row: Row) -> ServiceToken:
    return ServiceToken(
        id=row["id"],
        name=row["name"],
        role=Role(row["role"]),
        created_at=moment(row["created_at"]),
        expires_at=moment(row["expires_at"]),
        used_at=_maybe(row["used_at"]),
        revoked_at=_maybe(row["revoked_at"]),
    )


def _maybe(at: object) -> datetime | None:
    return None if at is None else moment(at)
