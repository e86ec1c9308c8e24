"""Webhooks: signed notices of concerns and dead jobs to an institution, without message text (spec 15, 20).

The form is that of Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature`, an HMAC-SHA256.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import logging
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from graphmem.app import Graphmem
from graphmem.jobs.runner import failure, trouble_logged
from graphmem.model import Concern, JobState, Who
from graphmem.sealing import webhook_key
from graphmem.settings import Settings
from graphmem.store import jobs
from graphmem.store.jobs import Failure, Notice

if TYPE_CHECKING:
    # It takes a third of a second to import, which a command that sends nothing should not wait for.
    import httpx

WEBHOOK_SECONDS = 10.0
"""Seconds a webhook may take to answer."""

log = logging.getLogger(__name__)

NOTICE_SPAN = timedelta(hours=24)
"""Greatest age of an event that a webhook is still notified of."""
NOTICES_KEPT = NOTICE_SPAN + timedelta(hours=2)
"""How long finished notices are kept, so that no notice is sent twice."""
MOST_TRIES = 10
"""Failures after which a notice is dead: about three hours."""
NOTICES_AT_ONCE = 20
"""Notices that are sent side by side."""
SECRET_PREFIX = "whsec_"  # noqa: S105


def webhook_secret(secret: bytes, institution: str) -> str:
    """The secret by which an institution's webhook checks signatures, as libraries of Standard Webhooks take it."""
    return SECRET_PREFIX + base64.b64encode(webhook_key(secret, institution)).decode()


def signature(key: bytes, notice_id: str, timestamp: int, body: bytes) -> str:
    """The signature of a notice.

    Parameters
    ----------
    key : bytes
    notice_id : str
    timestamp : int, seconds since 1970
    body : bytes, as it is sent

    Examples
    --------
    >>> signature(b"k" * 32, "concern-1", 1768435200, b"{}")
    'v1,Fb+cZepY/Hzw6LRSH97YQjCl/WeMOrTeQYoNzcc99XU='
    """
    signed = f"{notice_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def notice_body(notice: Notice) -> dict[str, Any]:
    """Return the body of a notice: ids, kinds, numbers and times."""
    data: dict[str, Any] = {"institution": notice.who.institution, "studentId": notice.who.student_id}
    if isinstance(notice.about, Concern):
        concern = notice.about
        data |= {"id": concern.id, "kind": concern.kind.name, "urgency": concern.urgency}
        data |= {"about": concern.about.value, "at": concern.at.isoformat()}
        return {"type": "concern", "data": data}
    if notice.about is not None:
        data |= notice.about | {"id": f"{notice.who.student_id}/{notice.about['id']}"}
    return {"type": "deadJob", "data": data}


def start_notices(gm: Graphmem, institution: str) -> None:
    """Tell an institution's webhook soon, without waiting for the next sweep; nothing without a webhook."""
    if institution not in gm.settings.webhooks:
        return

    async def send() -> None:
        with trouble_logged():
            await send_notices(gm)

    gm.background.keep(asyncio.create_task(send()))


async def send_notices(gm: Graphmem) -> int:
    """Send all webhooks the notices of recent events not sent yet; return how many notices were taken.

    What fails is tried again after 30 s, then after twice as long each time, up to an hour; after ten failures its
    job is dead.
    """
    if not (institutions := sorted(gm.settings.webhooks)):
        return 0
    import httpx

    await jobs.enqueue_notices(gm.graph, institutions, gm.clock() - NOTICE_SPAN, gm.clock())
    taken = 0
    async with httpx.AsyncClient(timeout=WEBHOOK_SECONDS, follow_redirects=False, trust_env=False) as http:
        while True:
            now = gm.clock()
            until = now + timedelta(seconds=2 * WEBHOOK_SECONDS + gm.settings.jobs_lease)
            claimed = await jobs.claim_notices(gm.graph, institutions, until, now, NOTICES_AT_ONCE)
            done = await asyncio.gather(*(_send(gm, http, notice) for notice in claimed))
            taken += sum(done)
            # Where nothing is taken there is no sense in going on now.
            if len(claimed) < NOTICES_AT_ONCE or not any(done):
                return taken


async def _send(gm: Graphmem, http: "httpx.AsyncClient", notice: Notice) -> bool:
    error = ""
    if notice.about is not None:
        error = await post(gm.settings, gm.secret, http, notice.who, notice.id, notice_body(notice))
    if error:
        log.warning("a notice was not taken: %s", error)
    await jobs.finish_notice(gm.graph, notice, notice_outcome(notice, error, gm.clock()), gm.clock())
    return not error


def notice_outcome(notice: Notice, error: str, now: datetime) -> Failure:
    """Outcome of a notice that was sent: done, for later, or dead."""
    if not error:
        return Failure(JobState.DONE, notice.attempts, now, None)
    return failure(notice.attempts, error, now, MOST_TRIES)


async def post(
    settings: Settings, secret: bytes, http: "httpx.AsyncClient", who: Who, notice_id: str, told: dict[str, Any]
) -> str:
    """Send one notice to the webhook of its institution; return the error, empty where it was accepted.

    Of the answer only the status counts, and no redirection is followed.
    """
    import httpx

    now = datetime.now(UTC)
    # The same notice has the same id each time it is sent, so that a webhook can tell it is no new one.
    sent_id = hashlib.sha256(json.dumps([who.institution, who.student_id, notice_id]).encode()).hexdigest()[:32]
    body, seconds = json.dumps(told | {"timestamp": now.isoformat()}).encode(), int(now.timestamp())
    headers = {
        "content-type": "application/json",
        "webhook-id": sent_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": signature(webhook_key(secret, who.institution), sent_id, seconds, body),
    }
    try:
        async with http.stream("POST", settings.webhooks[who.institution], content=body, headers=headers) as response:
            return "" if response.is_success else f"The webhook answered {response.status_code}."
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        return f"The webhook does not answer ({type(error).__name__})."
