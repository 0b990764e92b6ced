"""What runs have found, kept in files that only the application of the same user can have made.

A release is kept as a pickle, and loading a pickle may run whatever its maker likes. The folder
that holds it may come from anybody. So each file begins with a signature by a key that lies
outside of it, where only its owner can read it, and nothing is loaded without a signature that
fits.
"""

from __future__ import annotations

import hmac
import os
import pickle
import secrets
import stat
import sys
from pathlib import Path
from typing import Any

from tacit.errors import InputError
from tacit.io.files import replacing

KEY = "app.key"
_KEY_LENGTH = 32
_SIGNATURE_LENGTH = 32


def state_folder() -> Path:
    """Where programs keep what belongs to a user and to no document."""
    given = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(given):
        return Path(given) / "tacit"
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"]) / "tacit"
    return Path.home() / ".local" / "state" / "tacit"


def own_key() -> bytes:
    """The key of this user, made at first use.

    Raises:
        InputError: It cannot be kept.
    """
    folder = state_folder()
    path = folder / KEY
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = _read_key(path)
        if found is None:
            _make_key(path)
            found = _read_key(path)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InputError(
            f"the application keeps a key here, which is impossible: {reason}; set "
            "XDG_STATE_HOME to a folder of your own",
            path=path,
        ) from None
    if found is None:
        raise InputError("this key cannot be used; delete it", path=path)
    return found


def _read_key(path: Path) -> bytes | None:
    """The key, where it is one that nobody else can have read or written."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return None
    with open(descriptor, "rb") as stream:
        if hasattr(os, "getuid"):
            status = os.fstat(stream.fileno())
            if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077:
                path.unlink()
                return None
        key = stream.read(_KEY_LENGTH + 1)
    return key if len(key) == _KEY_LENGTH else None


def _make_key(path: Path) -> None:
    """Make a key; where another process is quicker, its key stays."""
    made = path.with_name(f"{KEY}.{secrets.token_hex(8)}")
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(secrets.token_bytes(_KEY_LENGTH))
        os.link(made, path)
    except FileExistsError:
        pass
    finally:
        made.unlink()


def keep(what: Any, path: Path) -> None:
    """Keep what a run has found, signed."""
    content = pickle.dumps(what, protocol=pickle.HIGHEST_PROTOCOL)
    with replacing(path, confidential=True) as stream:
        stream.write(_signature(content, path))
        stream.write(content)


def load(path: Path) -> Any:
    """Load what a run has found.

    Raises:
        InputError: It is not there, or was not kept by this user.
    """
    try:
        # Read once: what is loaded is what was checked.
        given = memoryview(path.read_bytes())
        signature, content = given[:_SIGNATURE_LENGTH], given[_SIGNATURE_LENGTH:]
        if hmac.compare_digest(signature, _signature(content, path)):
            return pickle.loads(content)
    except (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError):
        # It was kept by another version.
        pass
    raise InputError("what was found is no longer there; protect the table again")


def _signature(content: bytes | memoryview, path: Path) -> bytes:
    # With the name of the run: what another run has found cannot take its place.
    signing = hmac.new(own_key(), f"{path.parent.name}/{path.name}\0".encode(), "sha256")
    signing.update(content)
    return signing.digest()
