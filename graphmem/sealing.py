"""Keys, sealed values and tokens: what only the student's password opens (spec 14).

::

    password --Argon2id--> key-encryption key --opens--> student key --derives--> Keys(seal, mark)
                                                              |
                                                              +--opens--> private key of the sealed box

A rotated student key derives `seal` alone; `mark`, which keyed hashes are made with, stays and is wrapped beside it.

A sealed value is bound to its place: institution, student, label, node and field. Moved to another place, or cut
short, it does not open. Texts are padded before, so that a length tells little: 64, 96, 128, 192, 256 ... bytes.
All of it is PyNaCl (libsodium): XChaCha20-Poly1305, Argon2id, BLAKE2b, sealed boxes.
"""

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from json.encoder import encode_basestring

from nacl import pwhash
from nacl.encoding import HexEncoder, RawEncoder, URLSafeBase64Encoder
from nacl.exceptions import CryptoError
from nacl.hash import blake2b
from nacl.public import PrivateKey, PublicKey, SealedBox
from nacl.secret import Aead, SecretBox
from nacl.utils import random

from graphmem.errors import Locked, Tampered
from graphmem.model import Keys, Session, Who

Stored = bytes | str
"""A content as it is stored: sealed, or readable where nothing is sealed."""

SEALING_OFF = "off"
"""Recorded of students of whom nothing is sealed."""
KEY_BYTES = 32
PAD = b"\0"
"""Fills texts up; none that was checked ends with it."""
SHORTEST_PADDED = 64
"""Bytes of the shortest padded text."""
SALT_BYTES = pwhash.argon2id.SALTBYTES
PRIVATE_KEY = ("Student", "student", "private_key")
"""Place of the private key of sealed boxes."""


@dataclass(frozen=True)
class Argon2:
    """Argon2 cost parameters: passes over memory, and memory in bytes."""

    ops: int
    memory: int


@dataclass(frozen=True)
class NextKeys:
    """Keys that those of a student are replaced by.

    wrapped : bytes, as the password is to wrap it: a random student key, and the mark as it was
    private_key : bytes, of sealed boxes
    """

    wrapped: bytes = field(repr=False)
    private_key: bytes = field(repr=False)

    def keys(self, *, clear: bool) -> Keys:
        """Keys that seal and open as of the rotation."""
        return replace(_derived(self.wrapped), clear=clear)


@dataclass(frozen=True)
class StudentLock:
    """Stored key material of a student: nothing in it decrypts without the password.

    public_key_seal : made by `public_key_seal`; empty where the server has not vouched for the public key
    clear : nothing else of the student is sealed
    recovery_copy : the student key, wrapped for the institution's recovery key; empty where it has none
    """

    salt: bytes
    argon2: Argon2
    wrapped_key: bytes
    sealed_private_key: bytes
    public_key: bytes
    public_key_seal: bytes = b""
    clear: bool = False
    recovery_copy: bytes = b""


def new_lock(
    who: Who, password: str, argon2: Argon2, *, clear: bool = False, recovery: bytes | None = None
) -> tuple[StudentLock, Keys]:
    """Make the keys of a new student and lock them with a password; with `clear` they seal nothing.

    Where the institution has a public `recovery` key, the student key is wrapped for it, too.

    Examples
    --------
    >>> ann = Who("school", "ann")
    >>> lock, keys = new_lock(ann, "a password", Argon2(1, 8 * 2**20))
    >>> unlock(ann, lock, "a password") == keys
    True
    """
    student_key = random(KEY_BYTES)
    private = PrivateKey.generate()
    salt = random(SALT_BYTES)
    keys = _derived(student_key)
    lock = StudentLock(
        salt=salt,
        argon2=argon2,
        wrapped_key=_wrap(who, student_key, password, salt, argon2, clear=clear),
        sealed_private_key=seal_bytes(keys, who, PRIVATE_KEY, bytes(private)),
        public_key=bytes(private.public_key),
        clear=clear,
        recovery_copy=_recovery_copy(who, student_key, recovery),
    )
    return lock, replace(keys, clear=clear)


def unlock(who: Who, lock: StudentLock, password: str) -> Keys:
    """Open a student's keys. Slow by design; run it off the event loop.

    Raises
    ------
    Locked      the password is wrong, or the lock belongs to another student
    """
    return replace(_derived(_student_key(who, lock, password)), clear=lock.clear)


def relocked(
    who: Who, lock: StudentLock, old: str, new: str, argon2: Argon2, *, recovery: bytes | None = None
) -> StudentLock:
    """Wrap the same student key with a new password, and for a recovery key; nothing else has to be sealed again.

    Raises
    ------
    Locked      the old password is wrong

    Examples
    --------
    >>> ann, weak = Who("school", "ann"), Argon2(1, 8 * 2**20)
    >>> lock, keys = new_lock(ann, "old password", weak)
    >>> unlock(ann, relocked(ann, lock, "old password", "new password", weak), "new password") == keys
    True
    """
    return _locked_anew(who, lock, _student_key(who, lock, old), new, argon2, recovery)


def new_recovery_key() -> tuple[bytes, bytes]:
    """Make a recovery key: what the institution keeps secret, and what its setting names."""
    private = PrivateKey.generate()
    return bytes(private), bytes(private.public_key)


def public_recovery_key(recovery_key: bytes) -> bytes:
    """The public half of a recovery key.

    Examples
    --------
    >>> secret, public = new_recovery_key()
    >>> public_recovery_key(secret) == public
    True
    """
    return bytes(PrivateKey(recovery_key).public_key)


def recovered_lock(who: Who, lock: StudentLock, recovery_key: bytes, new: str, argon2: Argon2) -> StudentLock:
    """Wrap the student key that a recovery key opens with a new password, and for the same recovery key again.

    Raises
    ------
    Tampered    the copy does not open, or is not that of this student's key

    Examples
    --------
    >>> ann, weak = Who("school", "ann"), Argon2(1, 8 * 2**20)
    >>> secret, public = new_recovery_key()
    >>> lock, keys = new_lock(ann, "forgotten", weak, recovery=public)
    >>> unlock(ann, recovered_lock(ann, lock, secret, "new password", weak), "new password") == keys
    True
    """
    place = ("Student", "student", "recovery_copy")
    try:
        told = json.loads(SealedBox(PrivateKey(recovery_key)).decrypt(lock.recovery_copy))
        wrapped = bytes.fromhex(told["student_key"])
    except (CryptoError, ValueError, TypeError, KeyError) as e:
        raise Tampered.at(*place) from e
    own = (told["institution"], told["student_id"]) == (who.institution, who.student_id)
    if not own or own_public_key(_derived(wrapped), who, lock) != lock.public_key:
        raise Tampered.at(*place)
    return _locked_anew(who, lock, wrapped, new, argon2, public_recovery_key(recovery_key))


def new_next_keys(keys: Keys) -> NextKeys:
    """Make the keys that those of a student are to be replaced by; keyed hashes stay as they are.

    Examples
    --------
    >>> ann, weak = Who("school", "ann"), Argon2(1, 8 * 2**20)
    >>> lock, keys = new_lock(ann, "a password", weak)
    >>> following = new_next_keys(keys)
    >>> rotated = unlock(ann, rotated_lock(ann, lock, following, "a password", weak), "a password")
    >>> rotated == following.keys(clear=False), rotated.seal == keys.seal, rotated.mark == keys.mark
    (True, False, True)
    """
    return NextKeys(random(KEY_BYTES) + keys.mark, bytes(PrivateKey.generate()))


def rotated_lock(
    who: Who,
    lock: StudentLock,
    following: NextKeys,
    password: str,
    argon2: Argon2,
    *,
    recovery: bytes | None = None,
) -> StudentLock:
    """Lock the next keys with the password, and for a recovery key."""
    private = PrivateKey(following.private_key)
    return replace(
        _locked_anew(who, lock, following.wrapped, password, argon2, recovery),
        sealed_private_key=seal_bytes(following.keys(clear=lock.clear), who, PRIVATE_KEY, following.private_key),
        public_key=bytes(private.public_key),
    )


def seal(keys: Keys, who: Who, place: tuple[str, str, str], value: str) -> Stored:
    """Seal a value for its place in the graph; where nothing is sealed it is the value itself.

    Parameters
    ----------
    keys : Keys
    who : Who
    place : label, id and field of its node; the value opens nowhere else
    value : str

    Returns
    -------
    bytes, 40 longer than the padded value; or the value itself

    Examples
    --------
    >>> ann = Who("school", "ann")
    >>> lock, keys = new_lock(ann, "a password", Argon2(1, 8 * 2**20))
    >>> sealed = seal(keys, ann, ("Turn", "turn-1", "text"), "I have a dog")
    >>> opened = opened_value(keys, ann, ("Turn", "turn-1", "text"), sealed)
    >>> len(sealed), len(opened), opened.rstrip(PAD)
    (104, 64, b'I have a dog')
    >>> seal(replace(keys, clear=True), ann, ("Turn", "turn-1", "text"), "I have a dog")
    'I have a dog'
    >>> opened_value(keys, ann, ("Fact", "turn-1", "text"), sealed)
    Traceback (most recent call last):
    graphmem.errors.Tampered: The sealed field text of Fact turn-1 does not open: it was altered, moved or cut short.
    """
    return value if keys.clear else seal_bytes(keys, who, place, padded(value.encode()))


def padded(text: bytes, fill: bytes = PAD) -> bytes:
    """A text filled up to a power of two or three quarters of one, at least 64 bytes; a padded one stays as it is.

    Examples
    --------
    >>> [len(padded(bytes(n))) for n in (0, 64, 65, 96, 97, 1_000, 1_600)]
    [64, 64, 96, 96, 128, 1024, 2048]
    """
    power = max(SHORTEST_PADDED, 1 << (len(text) - 1).bit_length())
    fits = len(text) <= 3 * power // 4 and power > SHORTEST_PADDED
    return text.ljust(3 * power // 4 if fits else power, fill)


def seal_bytes(keys: Keys, who: Who, place: tuple[str, str, str], value: bytes) -> bytes:
    """Seal bytes for their place in the graph, as `seal` does, whether other values are sealed or not."""
    return bytes(Aead(keys.seal).encrypt(value, _sealed_place(who, *place)))


def opened_value(keys: Keys, who: Who, place: tuple[str, str, str], sealed: Stored) -> bytes:
    """Open a sealed value, a text with its padding; where nothing is sealed it is taken as it is.

    Values sealed before the label was part of the place open, too, until they are written again.

    Raises
    ------
    Tampered    it was altered, cut short, or sealed for another place or student
    """
    if keys.clear and isinstance(sealed, str):
        return sealed.encode()
    _, node_id, field = place
    for bound_to in (place, (node_id, field)):
        try:
            return bytes(Aead(keys.seal).decrypt(bytes(sealed), _sealed_place(who, *bound_to)))  # type: ignore[arg-type]
        except (CryptoError, ValueError, TypeError):
            continue
    raise Tampered.at(*place)


def keyed_hash(keys: Keys, kind: str, value: str) -> str:
    """A hash only the student's key can make, so that equal contents cannot be guessed (spec 14).

    Parameters
    ----------
    keys : Keys
    kind : str, at most 16 bytes: what is hashed; the same value of two kinds has two hashes
    value : str

    Returns
    -------
    str, 64 hexadecimal digits
    """
    person = kind.encode().ljust(16, b"\0")
    return str(blake2b(value.encode(), key=keys.mark, person=person, encoder=HexEncoder).decode())


def seal_for(lock: StudentLock, who: Who, text: str) -> Stored:
    """Seal a text for a locked student: whoever writes it cannot read it again (sealed box)."""
    if lock.clear:
        return text
    envelope = {"institution": who.institution, "student_id": who.student_id, "text": text}
    return bytes(SealedBox(PublicKey(lock.public_key)).encrypt(padded(json.dumps(envelope).encode(), b" ")))


def open_sealed_box(keys: Keys, who: Who, lock: StudentLock, sealed: Stored) -> str:
    """Open what somebody sealed for this student with `seal_for`.

    Raises
    ------
    Tampered    it was altered, or sealed for another student

    Examples
    --------
    >>> ann = Who("school", "ann")
    >>> lock, keys = new_lock(ann, "a password", Argon2(1, 8 * 2**20))
    >>> open_sealed_box(keys, ann, lock, seal_for(lock, ann, "Ann was brave today."))
    'Ann was brave today.'
    """
    if lock.clear and isinstance(sealed, str):
        return sealed
    private = _private_key(keys, who, lock)
    try:
        envelope = json.loads(SealedBox(private).decrypt(bytes(sealed)))  # type: ignore[arg-type]
    except (CryptoError, ValueError, TypeError) as e:
        raise Tampered("A sealed box does not open: it was altered or sealed for another student.") from e
    if (envelope["institution"], envelope["student_id"]) != (who.institution, who.student_id):
        raise Tampered("A sealed box was moved from another student.")
    return str(envelope["text"])


def own_public_key(keys: Keys, who: Who, lock: StudentLock) -> bytes:
    """The public key that belongs to a student's private key, whatever lies beside it.

    Raises
    ------
    Tampered    the private key does not open

    Examples
    --------
    >>> ann = Who("school", "ann")
    >>> lock, keys = new_lock(ann, "a password", Argon2(1, 8 * 2**20))
    >>> own_public_key(keys, ann, lock) == lock.public_key
    True
    """
    return bytes(_private_key(keys, who, lock).public_key)


def public_key_seal(secret: bytes, who: Who, public_key: bytes, *, clear: bool = False) -> bytes:
    """What only the server can make of a student's public key: an exchanged key does not fit it.

    It also tells whether the student is `clear`, so that what is observed is not stored readable by a change by hand.

    Examples
    --------
    >>> ann, secret = Who("school", "ann"), bytes(32)
    >>> public_key_seal(secret, ann, bytes(32)) == public_key_seal(secret, ann, b"x" * 32)
    False
    >>> public_key_seal(secret, ann, bytes(32)) == public_key_seal(secret, ann, bytes(32), clear=True)
    False
    """
    key = subkey(secret, b"public-key")
    place = _sealed_place(who, "student", "public_key_of_clear" if clear else "public_key")
    return bytes(blake2b(place + public_key, key=key, encoder=RawEncoder))


def session_token(secret: bytes, session: Session) -> str:
    """The session, its keys included, sealed with the server secret: any replica can serve it."""
    content = {
        "institution": session.institution,
        "student_id": session.student_id,
        "session_id": session.session_id,
        "expires_at": session.expires_at.timestamp(),
        "seal": session.keys.seal.hex(),
        "mark": session.keys.mark.hex(),
        "clear": session.keys.clear,
        "time_zone": session.time_zone,
    }
    box = SecretBox(subkey(secret, b"session-token"))
    return str(box.encrypt(json.dumps(content).encode(), encoder=URLSafeBase64Encoder).decode())


def opened_token(secret: bytes, token: str, now: datetime) -> Session:
    """Open a session token.

    Raises
    ------
    Locked      it is not one of this server's tokens, or it has expired
    """
    box = SecretBox(subkey(secret, b"session-token"))
    try:
        content = json.loads(box.decrypt(token.encode(), encoder=URLSafeBase64Encoder))
    except (CryptoError, ValueError, TypeError) as e:
        raise Locked("This session token is not valid: open a session to get one.") from e
    expires_at = datetime.fromtimestamp(content["expires_at"], UTC)
    if expires_at <= now:
        raise Locked("This session has expired: open a new one.")
    keys = Keys(bytes.fromhex(content["seal"]), bytes.fromhex(content["mark"]), content.get("clear", False))
    place = content["institution"], content["student_id"], content["session_id"]
    return Session(*place, expires_at, keys, content.get("time_zone"))


def bearer_key(secret: bytes) -> bytes:
    """The key that signs bearer tokens, derived from the server secret."""
    return subkey(secret, b"bearer-token")


def webhook_key(secret: bytes, institution: str) -> bytes:
    """The key that signs what an institution's webhook is told, derived from the server secret."""
    own = subkey(secret, b"webhook")
    return bytes(blake2b(institution.encode(), key=own, digest_size=KEY_BYTES, encoder=RawEncoder))


def new_secret() -> str:
    """A new server secret, as text."""
    return str(URLSafeBase64Encoder.encode(random(KEY_BYTES)).decode())


def _student_key(who: Who, lock: StudentLock, password: str) -> bytes:
    key = _password_key(who, password, lock.salt, lock.argon2)
    try:
        return bytes(Aead(key).decrypt(lock.wrapped_key, _sealed_place(who, "student", _wrapped(lock.clear))))
    except CryptoError as e:
        raise Locked("The password is wrong or there is no such student.") from e


def _wrapped(clear: bool) -> str:
    """Field of the wrapped key; the other where nothing is sealed, so that nobody can switch sealing off by hand."""
    return "wrapped_key_of_clear" if clear else "wrapped_key"


def _wrap(who: Who, student_key: bytes, password: str, salt: bytes, argon2: Argon2, *, clear: bool) -> bytes:
    key = _password_key(who, password, salt, argon2)
    return bytes(Aead(key).encrypt(student_key, _sealed_place(who, "student", _wrapped(clear))))


def _locked_anew(
    who: Who, lock: StudentLock, wrapped: bytes, password: str, argon2: Argon2, recovery: bytes | None
) -> StudentLock:
    salt = random(SALT_BYTES)
    return replace(
        lock,
        salt=salt,
        argon2=argon2,
        wrapped_key=_wrap(who, wrapped, password, salt, argon2, clear=lock.clear),
        recovery_copy=_recovery_copy(who, wrapped, recovery),
    )


def _recovery_copy(who: Who, student_key: bytes, recovery: bytes | None) -> bytes:
    """A student key wrapped for a public recovery key; empty without one."""
    if recovery is None:
        return b""
    told = {"institution": who.institution, "student_id": who.student_id, "student_key": student_key.hex()}
    return bytes(SealedBox(PublicKey(recovery)).encrypt(json.dumps(told).encode()))


def _password_key(who: Who, password: str, salt: bytes, argon2: Argon2) -> bytes:
    own_salt = blake2b(_sealed_place(who, "student", "salt"), key=salt, digest_size=SALT_BYTES, encoder=RawEncoder)
    return bytes(pwhash.argon2id.kdf(KEY_BYTES, password.encode(), own_salt, argon2.ops, argon2.memory))


def _derived(wrapped: bytes) -> Keys:
    """The keys of what is wrapped: a student key, and behind one that was rotated the mark of the first."""
    student_key, mark = wrapped[:KEY_BYTES], wrapped[KEY_BYTES:]
    return Keys(seal=subkey(student_key, b"seal"), mark=mark or subkey(student_key, b"mark"))


def subkey(key: bytes, purpose: bytes) -> bytes:
    """Return a key of 32 bytes for one purpose, at most 16 bytes long."""
    return bytes(blake2b(b"", key=key, person=purpose.ljust(16, b"\0"), encoder=RawEncoder))


def _private_key(keys: Keys, who: Who, lock: StudentLock) -> PrivateKey:
    return PrivateKey(opened_value(keys, who, PRIVATE_KEY, lock.sealed_private_key))


def _sealed_place(who: Who, *names: str) -> bytes:
    """Associated data that binds a value to its location; JSON, so that no two locations encode alike.

    A thousand memories have three thousand places: a JSON encoder for each is most of what it costs to bind them.
    """
    return f"[{', '.join(map(encode_basestring, (who.institution, who.student_id, *names)))}]".encode()
