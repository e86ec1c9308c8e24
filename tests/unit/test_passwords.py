"""Checks of passwords give way to turns."""

import os
import sys
import threading
import time
from time import monotonic

import pytest

from graphmem import limits
from graphmem.errors import RateLimited
from graphmem.limits import NICENESS, PasswordChecks


def niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not rank threads one by one")
async def test_a_password_is_checked_by_a_thread_of_lower_priority() -> None:
    before = niceness()
    assert await PasswordChecks(1, 5.0, 60).computed(niceness) == NICENESS
    assert niceness() == before


async def checked(checks: PasswordChecks, caller: str) -> float:
    """Seconds until a password of a caller was checked, which takes a hundredth of a second."""
    began = monotonic()
    await checks.computed(lambda: time.sleep(0.01), caller)
    return monotonic() - began


async def test_a_caller_rests_longer_the_more_passwords_were_wrong_and_others_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "REST", 100.0)
    checks = PasswordChecks(1, 10.0, 8)
    await checked(checks, "guesser")
    checks.wrong("guesser")
    once = checks.resting("guesser")
    checks.wrong("guesser")
    twice = checks.resting("guesser")
    assert 0.0 < once < twice
    # More than several is as bad as several.
    checks.wrong("guesser")
    assert checks.resting("guesser") == pytest.approx(twice, rel=0.2)
    assert checks.resting("other") <= 0.0
    assert await checked(checks, "guesser") >= 0.3


async def test_who_would_rest_longer_than_passwords_may_wait_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REST", 1e6)
    checks = PasswordChecks(1, 5.0, 1)
    await checked(checks, "guesser")
    for _ in range(2):
        checks.wrong("guesser")
    with pytest.raises(RateLimited):
        await checked(checks, "guesser")
    await checked(checks, "other")
