"""Text in whatever encoding and with whatever line ends: recognised, and copied where needed.

DuckDB reads UTF-8 with line ends of one kind, and refuses everything else. So files are read as
they are, and looked at closely only once it has refused one.
"""

from __future__ import annotations

import codecs
import gzip
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from tacit.errors import InputError, not_utf8

SAMPLE = 1 << 16
"""How many bytes at the beginning of a file show what it is like."""

_CHUNK = 1 << 22
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BETWEEN_LETTERS = re.compile(r"[^\W\d_][‚ƒ„†‡ˆ‰‹•™›¤§¶][^\W\d_]|[^\W\d_][”“][^\W\d_]")
"""What cp1252 makes of letters of older code pages, as in K„rnten."""

TELL_ENCODING = 'write encoding, such as encoding = "cp1252", "latin-1", "cp850" or "utf-16"'


@dataclass(frozen=True)
class Encoding:
    """How a text is encoded.

    Attributes:
        name: A name that Python knows.
        is_guess: Whether other encodings would do as well.
    """

    name: str
    is_guess: bool = False

    @property
    def is_utf8(self) -> bool:
        """Whether programs read it without being told."""
        return self.name == "utf-8"

    def notes(self, path: str | Path) -> list[str]:
        """What to tell somebody who has not named the encoding."""
        if self.is_utf8:
            return []
        how = "guessed; encoding says otherwise" if self.is_guess else "by its first bytes"
        return [f"{os.fspath(path)}: read as text in {self.name} ({how})"]


def known_encoding(name: str) -> str:
    """The usual name of an encoding that a user names.

    >>> known_encoding("UTF8"), known_encoding("Windows-1252")
    ('utf-8', 'cp1252')
    """
    try:
        found = codecs.lookup(name)
        "a".encode(found.name)
    except (LookupError, ValueError, TypeError):
        raise InputError(
            f"encoding {name!r} is not known; known are utf-8, cp1252, latin-1, utf-16 and others "
            "that Python has",
            key=("encoding",),
        ) from None
    return "utf-8" if found.name in ("utf-8", "utf-8-sig", "ascii") else found.name


def opened(path: str | Path) -> IO[bytes]:
    """The bytes of a file, uncompressed where it is gzip.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        stream = open(path, "rb")  # noqa: SIM115 - the caller closes it
        start = stream.read(4)
        stream.seek(0)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InputError(f"the file cannot be read: {reason}", path=path) from None
    except ValueError:
        raise InputError("the file cannot be read: no file has such a name") from None
    if start.startswith(_ZSTD_MAGIC):
        stream.close()
        raise InputError(
            "this compressed file is not plain text in UTF-8; decompress and convert it", path=path
        )
    if start.startswith(_GZIP_MAGIC):
        stream.close()
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return stream


def chunks(path: str | Path, size: int = _CHUNK) -> Iterator[bytes]:
    """The bytes of a file, a part at a time."""
    with opened(path) as stream:
        while chunk := _read(stream, size, path):
            yield chunk


def sample_of(path: str | Path) -> bytes:
    """The beginning of a file."""
    with opened(path) as stream:
        return _read(stream, SAMPLE, path)


def _read(stream: IO[bytes], size: int, path: str | Path) -> bytes:
    try:
        return stream.read(size)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None)
        what = (
            f"the file cannot be read: {reason.lower()}"
            if reason
            else "the gzip file is damaged or cut off"
        )
        raise InputError(what, path=path) from None


def marked_encoding(start: bytes) -> str | None:
    """The encoding that a byte order mark at the beginning of a file names."""
    return next((name for mark, name in _MARKS if start.startswith(mark)), None)


def encoding_of(path: str | Path) -> Encoding:
    """The encoding of a file: by its mark, UTF-8 where it is valid, and otherwise cp1252.

    Raises:
        InputError: It is not text, or no encoding suggests itself.
    """
    start = sample_of(path)
    marked = marked_encoding(start)
    if marked is not None and marked != "utf-8":
        return Encoding(marked)
    if b"\0" in start:
        wide = _wide_without_mark(start)
        if wide is None:
            raise InputError("this is not a text file", path=path)
        return Encoding(wide, is_guess=True)
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for chunk in chunks(path):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
        return Encoding("utf-8")
    except UnicodeDecodeError:
        pass
    # cp1252 is Latin-1 with more signs: where both can be meant, they say the same.
    line = 1
    for chunk in chunks(path):
        try:
            text = chunk.decode("cp1252")
        except UnicodeDecodeError as error:
            raise _no_guess(path, line + chunk.count(b"\n", 0, error.start)) from None
        odd = _BETWEEN_LETTERS.search(text)
        if odd is not None:
            raise _no_guess(path, line + text.count("\n", 0, odd.start()))
        line += chunk.count(b"\n")
    return Encoding("cp1252", is_guess=True)


def _no_guess(path: str | Path, line: int) -> InputError:
    return InputError(
        f"this is not text in UTF-8, and probably not in cp1252 either; {TELL_ENCODING}",
        path=path,
        line=line,
        key=("encoding",),
    )


def _wide_without_mark(start: bytes) -> str | None:
    """UTF-16 without a mark, if every second byte is zero."""
    even, odd = start[0::2].count(0), start[1::2].count(0)
    if odd > 0.8 * len(start) / 2 and not even:
        return "utf-16-le"
    if even > 0.8 * len(start) / 2 and not odd:
        return "utf-16-be"
    return None


def has_odd_line_ends(content: bytes) -> bool:
    """Whether lines of a text do not all end alike, in one of the usual ways."""
    returns = content.count(b"\r")
    if not returns:
        return False
    pairs, newlines = content.count(b"\r\n"), content.count(b"\n")
    return not (returns == pairs == newlines or not newlines)


def needs_copy(path: str | Path) -> bool:
    """Whether a file is anything else than text in UTF-8 with line ends of one kind."""
    if not encoding_of(path).is_utf8:
        return True
    returns = pairs = newlines = 0
    last = b""
    for chunk in chunks(path):
        returns += chunk.count(b"\r")
        newlines += chunk.count(b"\n")
        pairs += chunk.count(b"\r\n") + (last == b"\r" and chunk[:1] == b"\n")
        last = chunk[-1:]
    odd = returns > 0 and not (returns == pairs == newlines or not newlines)
    return odd or last == b"\x1a"


def text_of(content: bytes, path: str | Path, encoding: str | None = None) -> tuple[str, Encoding]:
    """A text with plain line ends, and how it was encoded.

    Args:
        content: What the file holds, uncompressed.
        path: The file, for errors.
        encoding: The encoding, if it is known.
    """
    found = _told(encoding, content) if encoding is not None else encoding_of(path)
    try:
        text = content.decode(found.name)
    except UnicodeDecodeError as error:
        raise _not_encoded(content, error, found.name, path) from None
    return plain_lines(text.removeprefix("\ufeff")).rstrip("\x1a"), found


def start_of(start: bytes, path: str | Path, encoding: str | None = None) -> tuple[str, Encoding]:
    """The beginning of a text with plain line ends, and how the text is encoded.

    Args:
        start: The first bytes of the file, which may end within a character.
        path: The file.
        encoding: The encoding, if it is known.
    """
    found = encoding_of(path) if encoding is None else _told(encoding, start)
    try:
        text = codecs.getincrementaldecoder(found.name)().decode(start)
    except UnicodeDecodeError as error:
        raise _not_encoded(start, error, found.name, path) from None
    return plain_lines(text.removeprefix("\ufeff")), found


def _told(encoding: str, start: bytes) -> Encoding:
    """What a user says; UTF-16 without a mark is that of Windows."""
    name = known_encoding(encoding)
    if name == "utf-16" and marked_encoding(start) != "utf-16":
        name = _wide_without_mark(start[:SAMPLE]) or "utf-16-le"
    return Encoding(name)


def plain_lines(text: str) -> str:
    r"""A text with newlines for line ends of every kind, also for `\r\r\n`.

    >>> plain_lines("a\r\r\nb\rc\r\n")
    'a\nb\nc\n'
    """
    if "\r" not in text:
        return text
    return text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n")


def write_plain_copy(path: str | Path, copy: Path, encoding: str | None = None) -> Encoding:
    """Copy a file as UTF-8 with plain line ends, a part at a time; its encoding.

    Args:
        path: The file.
        copy: Where to write; nobody else may read the folder.
        encoding: The encoding, if it is known.
    """
    found = encoding_of(path) if encoding is None else _told(encoding, sample_of(path))
    decoder = codecs.getincrementaldecoder(found.name)()
    line = 1
    held = ""
    first = True
    with open(copy, "w", encoding="utf-8", newline="") as stream:
        for chunk in chunks(path):
            try:
                text = decoder.decode(chunk)
            except UnicodeDecodeError as error:
                known = line + held.count("\n")
                raise _not_encoded(chunk, error, found.name, path, known) from None
            if first:
                text, first = text.removeprefix("\ufeff"), False
            text = held + text
            # A line end may go on in the next part.
            body = text.rstrip("\r\x1a")
            text, held = plain_lines(body), text[len(body) :]
            line += text.count("\n")
            stream.write(text)
        try:
            held += decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            raise _not_encoded(b"", error, found.name, path, line) from None
        stream.write(plain_lines(held).rstrip("\x1a"))
    return found


def _not_encoded(
    content: bytes,
    error: UnicodeDecodeError,
    encoding: str,
    path: str | Path,
    line: int = 1,
) -> InputError:
    """The error of a file that is not in the encoding that somebody named."""
    if encoding == "utf-8":
        found = not_utf8(content, error, Path(path))
        return InputError(
            f"this is not text in UTF-8; {TELL_ENCODING}",
            path=path,
            line=(found.line or 1) + line - 1,
            key=("encoding",),
        )
    more = content[: error.start].count(b"\n") if error.start <= len(content) else 0
    return InputError(
        f"this is not text in {encoding}; {TELL_ENCODING}",
        path=path,
        line=line + more,
        key=("encoding",),
    )
