"""A download that goes on where it stopped, and an archive that cannot write outside its folder."""

from __future__ import annotations

import hashlib
import http.client
import os
import shutil
import stat
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

Progress = Callable[[int, int | None], None]
"""Called with (bytes here, bytes in all or None if unknown)."""

_CHUNK = 1 << 16
"""Bytes read at a time."""

_TIMEOUT = 30.0
"""Seconds without a byte from the server."""

_UNPACKED = 3
"""Free space asked for, in sizes of the archive: itself, and up to twice that unpacked."""


class ModelError(Exception):
    """A model cannot be had; one line with cause and remedy."""


def download(url: str, part: Path, size: int | None, progress: Progress) -> None:
    """Bring `url` into the file `part`, going on after what is there. `size`: bytes in all, if known.

    Raises ModelError; what has arrived stays in `part` for the next call.
    """
    have = part.stat().st_size if part.exists() else 0
    if size is not None and have == size:
        progress(have, size)
        return
    if size is not None and have > size:
        part.unlink()
        have = 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    host = urllib.parse.urlsplit(url).netloc
    again = "what has arrived is kept; run the same command again to go on"
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:
            resumed = answer.status == 206 and answer.headers.get("Content-Range", "").startswith(f"bytes {have}-")
            have = have if resumed else 0
            length = answer.headers.get("Content-Length")
            total = size if size is not None else (have + int(length) if length else None)
            require_space(part.parent, (total or 0) - have)
            with part.open("ab" if resumed else "wb") as file:
                while chunk := answer.read(_CHUNK):
                    file.write(chunk)
                    have += len(chunk)
                    progress(have, total)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # what we have is not a beginning of what is there
            part.unlink(missing_ok=True)
            raise ModelError(f"{host} has another file than the one begun here; run the same command again") from error
        raise ModelError(
            f"{host} answers {error.code} {error.reason} for {url}; is the manifest out of date?"
        ) from error
    except (urllib.error.URLError, TimeoutError, ConnectionError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error or type(error).__name__
        raise ModelError(f"cannot download from {host}: {reason}; check the network; {again}") from error
    if total is not None and have < total:
        raise ModelError(f"the connection to {host} ended after {have} of {total} bytes; {again}")


def require_space(folder: Path, wanted: int) -> None:
    """Raise ModelError when fewer than `wanted` bytes are free where `folder` is."""
    free = shutil.disk_usage(folder).free
    if free < wanted:
        missing = (wanted - free) // 1_000_000 + 1
        raise ModelError(f"not enough disk space in {folder}: free another {missing} MB, or set VOICE_MODELS elsewhere")


def space_for(archive: int) -> int:
    """Bytes to have free before an archive of that size is downloaded and unpacked."""
    return archive * _UNPACKED


def sha256(file: Path) -> str:
    """The file's checksum in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def unpack(archive: Path, target: Path, complete: Callable[[Path], bool]) -> None:
    """Unpack a zip whose content lies in one top folder, so that `target` becomes that folder, whole or not at all.

    `complete` says whether the unpacked folder is what it should be. Raises ModelError for an archive that is broken,
    is something else, or would write elsewhere.
    """
    work = Path(tempfile.mkdtemp(prefix=".unpack-", dir=target.parent))
    try:
        with zipfile.ZipFile(archive) as bundle:
            entries = bundle.infolist()
            for entry in entries:
                _refuse_outside(archive, entry)
            require_space(target.parent, sum(entry.file_size for entry in entries))
            bundle.extractall(work)  # checks each file's CRC
        tops = list(work.iterdir())
        if len(tops) != 1 or not tops[0].is_dir():
            raise ModelError(f"{archive.name} is not a model: it must hold one folder")
        if not complete(tops[0]):
            raise ModelError(f"{archive.name} is not the model it should be: files of a model are not in it")
        if target.exists():
            shutil.rmtree(target)
        os.replace(tops[0], target)
    except (zipfile.BadZipFile, EOFError, OSError) as error:
        raise ModelError(f"{archive.name} cannot be unpacked ({error}); delete it and fetch it again") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _refuse_outside(archive: Path, entry: zipfile.ZipInfo) -> None:
    path = PurePosixPath(entry.filename)
    outside = path.is_absolute() or ".." in path.parts or "\\" in entry.filename or ":" in entry.filename
    if outside or stat.S_ISLNK(entry.external_attr >> 16):
        raise ModelError(f"{archive.name} would write outside its folder; it was not unpacked")
