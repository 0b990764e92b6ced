"""Files as bytes: gzip recognised when read, never half-written when written."""

from __future__ import annotations

import gzip
import os
import secrets
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from tacit.errors import InputError

_GZIP_MAGIC = b"\x1f\x8b"
_UTF8_MARK = b"\xef\xbb\xbf"


def read_content(path: str | Path) -> bytes:
    """The content of a file, uncompressed when it is gzip whatever its name.

    A UTF-8 byte order mark is dropped, and line ends come back as newlines.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InputError(f"the file cannot be read: {reason}", path=path) from None
    if content.startswith(_GZIP_MAGIC):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error):
            raise InputError("the gzip file is damaged or cut off", path=path) from None
    if b"\0" in content:
        raise InputError("this is not a text file in ASCII or UTF-8", path=path)
    content = content.removeprefix(_UTF8_MARK)
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return content


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """Write a file that appears complete or not at all; a name in `.gz` compresses.

    The bytes go to a temporary file in the same directory that takes the final name at the
    end. Compressed files carry neither name nor time, so equal content gives equal files.
    """
    # Through a link, the file it points to is replaced and the link stays.
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file() and not target.is_dir():
        # A pipe or a device has no old content to keep, and must not be replaced.
        try:
            with open(target, "wb") as stream:
                yield stream
        except OSError as error:
            raise _unwritable(error, path) from None
        return
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as stream:
            if Path(path).suffix == ".gz":
                with gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as compressed:
                    yield cast(IO[bytes], compressed)
            else:
                yield stream
        os.replace(temporary, target)
    except OSError as error:
        raise _unwritable(error, path) from None
    finally:
        # Gone already when all went well, or never there.
        with suppress(OSError):
            temporary.unlink()


def _unwritable(error: OSError, path: str | Path) -> InputError:
    reason = (error.strerror or "unknown reason").lower()
    return InputError(f"the file cannot be written: {reason}; write it elsewhere", path=path)
