"""Files are recognised by content and written completely or not at all."""

from __future__ import annotations

import gzip
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tacit.errors import InputError
from tacit.io.files import read_content, replacing


def test_gzip_is_recognised_by_content(tmp_path: Path) -> None:
    """A compressed file is read whatever its name."""
    path = tmp_path / "plain.txt"
    path.write_bytes(gzip.compress(b"some text", mtime=0))
    assert read_content(path) == b"some text"


def test_mark_and_line_ends_are_normalised(tmp_path: Path) -> None:
    """A byte order mark goes, and line ends of Windows and old Macs become newlines."""
    path = tmp_path / "windows.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n")
    assert read_content(str(path)) == b"one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b"some text" * 100, mtime=0)[:-9], "damaged or cut off"),
        (b"\x1f\x8bnot really", "damaged or cut off"),
        ("text".encode("utf-16"), "not a text file"),
        (b"\x7fELF\0\0", "not a text file"),
    ],
)
def test_unreadable_content_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    """Damaged archives and binary files are refused with the name of the file."""
    path = tmp_path / "input"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_content(path)
    assert caught.value.path == path


def test_absent_file_and_directory_are_refused(tmp_path: Path) -> None:
    """What cannot be opened is an input error, not a traceback of the system."""
    with pytest.raises(InputError, match="no such file"):
        read_content(tmp_path / "absent")
    with pytest.raises(InputError, match="cannot be read"):
        read_content(tmp_path)


def test_failure_keeps_the_old_file(tmp_path: Path) -> None:
    """An interrupted write leaves the old content and no other file behind."""
    path = tmp_path / "out.txt"
    path.write_bytes(b"old")

    def interrupted() -> None:
        with replacing(path, confidential=False) as stream:
            stream.write(b"half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_success_replaces_the_file(tmp_path: Path) -> None:
    """A complete write replaces the old file and leaves no other files behind."""
    path = tmp_path / "out.txt"
    path.write_bytes(b"old and longer")
    with replacing(path, confidential=False) as stream:
        stream.write(b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_link_stays_a_link(tmp_path: Path) -> None:
    """Writing through a link changes the file it points to."""
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with replacing(link, confidential=False) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_equal_content_gives_equal_archives(tmp_path: Path) -> None:
    """A name in .gz compresses, and the bytes depend on the content alone."""
    paths = [tmp_path / "a.gz", tmp_path / "b.gz"]
    for path in paths:
        with replacing(path, confidential=False) as stream:
            stream.write(b"content")
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert gzip.decompress(paths[0].read_bytes()) == b"content"


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """Umasks from the most open to the most closed."""
    chosen: int = request.param
    before = os.umask(chosen)
    yield chosen
    os.umask(before)


def mode(path: Path) -> int:
    """The permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("name", ["out.txt", "out.gz", "x" * 255])
def test_new_files_are_as_open_as_their_content(tmp_path: Path, umask: int, name: str) -> None:
    """Confidential files are for their owner alone, also while they are written."""
    path = tmp_path / name
    with replacing(path, confidential=True) as stream:
        (temporary,) = tmp_path.iterdir()
        assert mode(temporary) == 0o600
        stream.write(b"secret")
    assert mode(path) == 0o600
    path.unlink()
    with replacing(path, confidential=False) as stream:
        stream.write(b"public")
    assert mode(path) == 0o666 & ~umask


@pytest.mark.parametrize("before", [0o600, 0o640, 0o644, 0o400, 0o660])
@pytest.mark.parametrize("confidential", [True, False])
@pytest.mark.usefixtures("umask")
def test_rewritten_files_keep_their_mode(tmp_path: Path, before: int, confidential: bool) -> None:
    """A file that existed keeps its permissions, and nobody sees more of it on the way."""
    path, link = tmp_path / "out.txt", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(before)
    link.symlink_to(path)
    for name in (path, link):
        with replacing(name, confidential=confidential) as stream:
            (temporary,) = (entry for entry in tmp_path.iterdir() if entry.suffix == ".tmp")
            assert mode(temporary) == 0o600
            stream.write(b"new")
        assert mode(path) == before
    assert path.read_bytes() == b"new"


def test_groups_do_not_inherit_from_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the group of the old file cannot be kept, another group gets none of its rights."""
    path = tmp_path / "out.txt"
    path.write_bytes(b"old")
    path.chmod(0o664)

    def refused(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "chown", refused)
    whole = Path.stat

    def elsewhere(self: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        found = whole(self, follow_symlinks=follow_symlinks)
        fields = list(found)
        # The sixth is the group.
        fields[5] += int(self == path)
        return os.stat_result(fields)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", elsewhere)
        with replacing(path, confidential=True) as stream:
            stream.write(b"new")
    assert mode(path) == 0o604


def test_pipe_is_written_to(tmp_path: Path) -> None:
    """A pipe is not replaced by a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    with replacing(pipe, confidential=False) as stream:
        stream.write(b"through")
    reader.join()
    assert received == [b"through"]
    assert pipe.is_fifo()


def test_unwritable_place_is_refused(tmp_path: Path) -> None:
    """A directory that does not exist, or one in the place of the file, is an input error."""
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "absent" / "out", tmp_path, tmp_path / "file" / "out"):
        with (
            pytest.raises(InputError, match="cannot be written"),
            replacing(path, confidential=False) as stream,
        ):
            stream.write(b"text")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
