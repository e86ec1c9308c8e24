"""Checks of passwords give way to turns."""

import os
import sys
import threading

import pytest

from graphmem.passwords import NICENESS, PasswordChecks


def niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not rank threads one by one")
async def test_a_password_is_checked_by_a_thread_of_lower_priority() -> None:
    before = niceness()
    assert await PasswordChecks(1, 5.0, 60).computed(niceness) == NICENESS
    assert niceness() == before
