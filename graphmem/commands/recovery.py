"""Commands of recovery keys: make one, whole or in shares, and put its shares together."""

from base64 import urlsafe_b64encode
from collections.abc import Sequence
from os import O_CREAT, O_EXCL, O_WRONLY, fdopen, open
from pathlib import Path

from shamir_mnemonic import MnemonicError, combine_mnemonics, generate_mnemonics

from graphmem.errors import InvalidInput
from graphmem.flows.recovery import decoded_recovery_key
from graphmem.sealing import new_recovery_key

MOST_SHARES = 16
"""Shares that a recovery key can be split into, by SLIP-0039."""


def make_recovery_key(folder: Path, shares: int, needed: int) -> tuple[str, list[Path]]:
    """Make a recovery key and write its secret half, whole or in shares, to new files that the user alone can read.

    Parameters
    ----------
    folder : Path, made where it is missing
    shares : int, 1 to 16; 1: the key is whole
    needed : int, how many of them put the key together again, 2 to `shares`; fewer tell nothing

    Returns
    -------
    The public half, as the setting has it, and the files

    Raises
    ------
    InvalidInput    the numbers will not do, or a file is there already

    Source: spec 14; SLIP-0039 (Shamir's secret sharing, with checksums, in words).
    """
    if not (shares == needed == 1 or 2 <= needed <= shares <= MOST_SHARES):
        raise InvalidInput(f"A key is split into 2 to {MOST_SHARES} shares, of which 2 or more are needed.")
    secret, public = new_recovery_key()
    if shares == 1:
        texts = {"recovery.key": _text(secret)}
    else:
        ((*words,),) = generate_mnemonics(1, [(needed, shares)], secret)
        texts = {f"recovery-{i}-of-{shares}.share": each for i, each in enumerate(words, 1)}
    folder.mkdir(parents=True, exist_ok=True)
    if there := [name for name in texts if (folder / name).exists()]:
        raise InvalidInput(f"{folder / there[0]} is there already: name a new folder.")
    for name, text in texts.items():
        with fdopen(open(folder / name, O_WRONLY | O_CREAT | O_EXCL, 0o600), "w") as file:
            file.write(text + "\n")
    return _text(public), [folder / name for name in texts]


def read_recovery_key(files: Sequence[Path]) -> bytes:
    """The secret half of a recovery key, from its file or from as many shares as are needed.

    Raises
    ------
    InvalidInput    they are none, too few, or of two keys
    """
    texts = [file.read_text().strip() for file in files]
    if len(texts) == 1 and len(texts[0].split()) == 1:
        return decoded_recovery_key(texts[0])
    try:
        return bytes(combine_mnemonics(texts))
    except MnemonicError as e:
        raise InvalidInput(f"These shares do not make a recovery key: {e}") from e


def _text(key: bytes) -> str:
    return urlsafe_b64encode(key).decode()
