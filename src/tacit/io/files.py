"""Files as bytes: gzip recognised when read, never half-written when written."""

from __future__ import annotations

import gzip
import json
import os
import secrets
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NoReturn, cast

from tacit.errors import InputError, unwritable

_GZIP_MAGIC = b"\x1f\x8b"
_UTF8_MARK = b"\xef\xbb\xbf"
_OWNER_ALONE = 0o600
_ACCESS_LIST = "system.posix_acl_access"


def read_bytes(path: str | Path) -> bytes:
    """The content of a file as it is, uncompressed when it is gzip whatever its name."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InputError(f"the file cannot be read: {reason}", path=path) from None
    except ValueError:
        raise _impossible_name(path) from None
    if content.startswith(_GZIP_MAGIC):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error):
            raise InputError("the gzip file is damaged or cut off", path=path) from None
    return content


def read_content(path: str | Path) -> bytes:
    """The content of a text file, see `read_bytes`.

    A UTF-8 byte order mark is dropped, and line ends come back as newlines.
    """
    content = read_bytes(path)
    if b"\0" in content:
        raise InputError("this is not a text file in ASCII or UTF-8", path=path)
    content = content.removeprefix(_UTF8_MARK)
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return content


def read_text(
    path: str | Path, encoding: str | None = None, note: Callable[[str], object] | None = None
) -> str:
    """The content of a text file with newlines at the ends of lines.

    Args:
        path: The file, plain or gzip.
        encoding: Its encoding; without it UTF-8, or what its bytes suggest.
        note: Is told what was guessed.
    """
    # The package of microdata is slow to import, and help must appear at once.
    from tacit.microdata.text_files import text_of

    text, found = text_of(read_bytes(path), path, encoding)
    if encoding is None and note is not None:
        for said in found.notes(path):
            note(said)
    return text


@contextmanager
def replacing(path: str | Path, *, confidential: bool) -> Iterator[IO[bytes]]:
    """Write a file that appears complete or not at all; a name in `.gz` compresses.

    The bytes go to a temporary file in the same directory that takes the final name at the
    end. Compressed files carry neither name nor time, so equal content gives equal files.

    A file that existed keeps its permissions, owner and group. A new one that is confidential
    can be read by its owner alone, whatever the umask, and so can its temporary file; others
    follow the umask.

    Args:
        path: The file.
        confidential: Whether it holds what readers must not know.
    """
    try:
        # Through a link, the file it points to is replaced and the link stays.
        target = Path(os.path.realpath(path))
    except ValueError:
        raise _impossible_name(path) from None
    if target.exists() and not target.is_file() and not target.is_dir():
        # A pipe or a device has no old content to keep, and must not be replaced.
        try:
            with open(target, "wb") as stream:
                yield stream
        except OSError as error:
            raise _unwritable(error, path) from None
        return
    # The name of the file may already be as long as names can be.
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        owner_alone = confidential or target.exists()
        with open(temporary, "xb", opener=_for_owner if owner_alone else None) as stream:
            if Path(path).suffix == ".gz":
                with gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as compressed:
                    yield cast(IO[bytes], compressed)
            else:
                yield stream
        if target.exists():
            _keep_permissions(target, temporary)
        os.replace(temporary, target)
    except OSError as error:
        raise _unwritable(error, path) from None
    except UnicodeEncodeError as error:
        raise InputError(
            f"a text cannot be written: {unwritable(error.object[error.start : error.end])}; "
            "correct titles, marks and names",
            path=path,
        ) from None
    finally:
        # Gone already when all went well, or never there.
        with suppress(OSError):
            temporary.unlink()


def refuse_unwritable(*outputs: Path | None, inputs: tuple[Path, ...] = ()) -> None:
    """Refuse outputs that could not be written, before any work is done for them.

    Raises:
        InputError: A directory is missing, or the output is a directory or one of the inputs.
    """
    read = {os.path.realpath(path) for path in inputs}
    written: set[str] = set()
    for path in outputs:
        if path is None:
            continue
        target = os.path.realpath(path)
        if path.is_dir():
            raise InputError("this is a directory; name a file to write", path=path)
        if not Path(target).parent.is_dir():
            raise InputError(
                "the directory of this output does not exist; create it first", path=path
            )
        if target in read:
            raise InputError("this output would replace an input; name another", path=path)
        if target in written:
            raise InputError("this file is named for two outputs; name another", path=path)
        written.add(target)


def write_members(path: str | Path, members: Mapping[str, Any]) -> None:
    """Write a confidential JSON object, one key per line; the file is complete or not there."""
    lines = ",\n ".join(
        f"{json.dumps(key)}: {json.dumps(member, allow_nan=False)}"
        for key, member in members.items()
    )
    with replacing(path, confidential=True) as stream:
        stream.write(f"{{{lines}}}\n".encode())


def parsed_json(content: bytes, path: str | Path, infinity: str) -> Any:
    """What a JSON file holds.

    Args:
        content: The file.
        path: Its name, for errors.
        infinity: What may be infinite, and is null then: JSON has no `Infinity`.

    Raises:
        InputError: It is not valid JSON.
    """

    def refuse_constant(name: str) -> NoReturn:
        raise InputError(f"{name} is not valid JSON; {infinity} is null", path=path)

    try:
        return json.loads(content, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        raise InputError(
            f"this is not valid JSON: {error.msg.lower()}", path=path, line=error.lineno
        ) from None
    except (UnicodeDecodeError, RecursionError, ValueError):
        raise InputError("this is not valid JSON", path=path) from None


def _for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, _OWNER_ALONE)


def _keep_permissions(target: Path, temporary: Path) -> None:
    """Give a file the permissions, owner and group of the one that it replaces."""
    before = target.stat()
    mode = stat.S_IMODE(before.st_mode)
    now = temporary.stat()
    if (before.st_uid, before.st_gid) != (now.st_uid, now.st_gid):
        try:
            os.chown(temporary, before.st_uid, before.st_gid)
        except OSError:
            with suppress(OSError):
                os.chown(temporary, -1, before.st_gid)
            if temporary.stat().st_gid != before.st_gid:
                # What one group was allowed is not for another.
                mode &= ~stat.S_IRWXG
    os.chmod(temporary, mode)
    _copy_access_list(target, temporary)


def _copy_access_list(source: Path, target: Path) -> None:
    """Copy who else is allowed or denied; without it the group would get what the list grants."""
    if not hasattr(os, "getxattr"):
        return
    try:
        entries = os.getxattr(source, _ACCESS_LIST)
    except OSError:
        return
    os.setxattr(target, _ACCESS_LIST, entries)


def _impossible_name(path: str | Path) -> InputError:
    """The error of a name that no file can have: with a NUL character, or half of a character."""
    return InputError(f"the name of the file {unwritable(str(path))}; name another file")


def _unwritable(error: OSError, path: str | Path) -> InputError:
    reason = (error.strerror or "unknown reason").lower()
    return InputError(f"the file cannot be written: {reason}; write it elsewhere", path=path)
