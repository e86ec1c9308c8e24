"""Commands of service tokens: make one, list and revoke them."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from graphmem.app import Graphmem
from graphmem.flows.service_tokens import issue_token, list_tokens, revoke_token
from graphmem.model import Role, ServiceToken

DAY_SECONDS = 86_400.0


async def issued(gm: Graphmem, institution: str, role: Role, service: str, ttl: float | None) -> str:
    """Make a service token for some seconds, by default as long as the settings say."""
    text, _ = await issue_token(gm, institution, role, service, None if ttl is None else ttl / DAY_SECONDS)
    return text


async def listed(gm: Graphmem, institution: str) -> list[dict[str, Any]]:
    """The institution's service tokens, the newest first."""
    return [_plain(token) for token in await list_tokens(gm, institution)]


async def revoked(gm: Graphmem, institution: str, token_id: str) -> list[dict[str, Any]]:
    """Revoke a service token, and show it."""
    return [_plain(await revoke_token(gm, institution, token_id))]


def token_lines(found: list[dict[str, Any]]) -> list[str]:
    """A line for each token.

    Examples
    --------
    >>> token_lines([])
    ['There are no service tokens.']
    """
    if not found:
        return ["There are no service tokens."]
    return [
        f"{each['id']}  {each['role']:<8} {each['name']}  "
        f"made {each['created_at']:.10}, expires {each['expires_at']:.10}, "
        + ("never used" if each["used_at"] is None else f"used {each['used_at']:.16}")
        + ("" if each["revoked_at"] is None else f", revoked {each['revoked_at']:.16}")
        for each in found
    ]


def _plain(token: ServiceToken) -> dict[str, Any]:
    values = {name: v.isoformat() if isinstance(v, datetime) else v for name, v in asdict(token).items()}
    return values | {"role": token.role.value}
