"""Webhooks of institutions: the secret of one, and a notice to try it."""

import httpx

from graphmem.app import server_secret
from graphmem.errors import SetupError
from graphmem.jobs.webhooks import post, webhook_secret
from graphmem.model import Who
from graphmem.settings import Settings


def secret_of(settings: Settings, institution: str) -> str:
    """The secret of an institution's webhook."""
    return webhook_secret(server_secret(settings), institution)


async def send_trial(settings: Settings, institution: str) -> None:
    """Send a notice of type `test`.

    Raises
    ------
    SetupError      the institution has no webhook, or it did not take the notice
    """
    if institution not in settings.webhooks:
        raise SetupError(f"{institution} has no webhook: set GRAPHMEM_WEBHOOKS.")
    told = {"type": "test", "data": {"institution": institution}}
    async with httpx.AsyncClient(timeout=settings.webhook_seconds, follow_redirects=False, trust_env=False) as http:
        error = await post(settings, server_secret(settings), http, Who(institution, ""), "test", told)
    if error:
        raise SetupError(error)
