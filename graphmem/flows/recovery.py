"""Setting a new password with the recovery key of an institution that has chosen one (spec 14)."""

import logging
from base64 import b64decode
from hmac import compare_digest

from graphmem import sealing
from graphmem.app import Graphmem
from graphmem.errors import Conflict, Forbidden, InvalidInput, NotFound, Tampered
from graphmem.flows.integrity import keep_up
from graphmem.flows.students import check_lock_written, find_student
from graphmem.model import Student, Who
from graphmem.store import students
from graphmem.store.tampering import report
from graphmem.validation import PASSWORD_MIN, checked_id, checked_password

log = logging.getLogger(__name__)


def decoded_recovery_key(text: str) -> bytes:
    """The secret half of a recovery key, 32 bytes.

    Raises
    ------
    InvalidInput    it is none

    Examples
    --------
    >>> decoded_recovery_key("no key")
    Traceback (most recent call last):
    graphmem_client.errors.InvalidInput: This is no recovery key: send it as `graphmem recovery-key` wrote it.
    """
    try:
        key = b64decode(text, altchars=b"-_", validate=True)
    except ValueError:
        key = b""
    if len(key) != sealing.KEY_BYTES:
        raise InvalidInput("This is no recovery key: send it as `graphmem recovery-key` wrote it.")
    return key


async def recover_student(gm: Graphmem, who: Who, recovery_key: bytes, password: str) -> Student:
    """Set a new password of a student whose old one is lost; what is remembered stays.

    All sessions end. When it was done stays with the student (`recoveries`), covered by the integrity hash.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    recovery_key : bytes of length 32, the secret half of the institution's recovery key
    password : str, the new one

    Raises
    ------
    Forbidden       the institution has chosen no recovery key, or this is not it
    InvalidInput    the new password will not do
    NotFound        there is no such student
    Conflict        the student's key was never wrapped for this recovery key, or changed meanwhile
    Locked          the keys of this student were changed outside of graphmem

    Source: spec 14.
    """
    checked_id("studentId", who.student_id)
    public = gm.settings.recovery_key_of(who.institution)
    if public is None:
        raise Forbidden("This institution has chosen no recovery key.")
    if not compare_digest(sealing.public_recovery_key(recovery_key), public):
        raise Forbidden("This is not the recovery key of this institution.")
    checked_password("password", password, PASSWORD_MIN)
    enrolled = await students.find_enrolled(gm.graph, who, gm.clock())
    if enrolled is None:
        raise NotFound("There is no such student.")
    if not enrolled.lock.recovery_copy:
        raise Conflict(
            "The key of this student was never wrapped for the recovery key: that is done at enrolment and when the "
            "password is changed."
        )
    await check_lock_written(gm, who, enrolled.lock)
    try:
        lock = await gm.passwords.computed(
            lambda: sealing.recovered_lock(who, enrolled.lock, recovery_key, password, gm.argon2)
        )
    except Tampered as error:
        await report(gm.graph, who, [error])
        raise Conflict("The copy of the student's key for the recovery key does not open: it was altered.") from error
    if not await students.save_recovered(gm.graph, who, enrolled.lock, lock, gm.clock()):
        raise Conflict("The student's key was wrapped anew meanwhile: try again.")
    log.warning("a new password was set with the recovery key")
    gm.lock_up(who)
    await keep_up(gm, who)
    student = await find_student(gm, who)
    if student is None:
        raise NotFound("The student was erased meanwhile.")
    return student
