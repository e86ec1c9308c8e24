"""Finishing the rotation of a student's key: all is sealed anew, then the next key takes its place (spec 14)."""

from dataclasses import dataclass, field, replace

from graphmem import sealing
from graphmem.app import Graphmem
from graphmem.errors import Conflict, Locked, Tampered
from graphmem.flows.integrity import keep_up
from graphmem.model import Keys, Who
from graphmem.sealing import StudentLock
from graphmem.store import rotation
from graphmem.store.rotation import Rekeying
from graphmem.store.tampering import report


@dataclass(frozen=True)
class Rekeyed:
    """The keys of a student after a rotation, their lock, and how many values were sealed anew."""

    keys: Keys = field(repr=False)
    lock: StudentLock
    values: int


async def finish_rotation(
    gm: Graphmem, who: Who, password: str, lock: StudentLock, keys: Keys, next_key: bytes
) -> Rekeyed:
    """Seal anew what the key before has sealed, and lock the next one with the password.

    Whoever has the password can do it, at any time after a rotation began, and as often as needed.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    password : str
    lock, keys : of before the rotation
    next_key : the next keys, sealed with those before

    Raises
    ------
    Conflict        the rotation was finished, or the password changed, by another request
    Locked          the next keys were altered in the database
    """
    try:
        following = sealing.opened_next_keys(keys, who, next_key)
    except Tampered as error:
        await report(gm.graph, who, [error])
        raise Locked(
            "The keys of this student were changed outside of graphmem while they were rotated: have an administrator "
            "put back what was changed."
        ) from error
    recovery = gm.settings.recovery_key_of(who.institution)
    after = await gm.passwords.computed(
        lambda: sealing.rotated_lock(who, lock, following, password, gm.argon2, recovery=recovery)
    )
    vouched = sealing.public_key_seal(gm.secret, who, after.public_key, clear=after.clear)
    both = Rekeying(keys, lock, following.keys(clear=lock.clear), replace(after, public_key_seal=vouched))
    values = await rotation.reseal(gm.graph, who, both, gm.clock())
    if not await rotation.replace_key(gm.graph, who, both, next_key, gm.clock()):
        raise Conflict("The student's key was rotated, or the password changed, by another request: try again.")
    # A write that another process had under way when the sessions ended may have come in meanwhile.
    values += await rotation.reseal(gm.graph, who, both, gm.clock())
    gm.lock_up(who)
    await keep_up(gm, who)
    return Rekeyed(both.after, both.lock_after, values)
