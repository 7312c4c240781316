"""Models of recognisers: which there are, which are here, and how to fetch one.

The manifest beside this file lists them. A model with a checksum there is verified against it; one without is
trusted on first use, and the checksum seen then is kept in `models.lock` next to the models and verified from
then on.
"""

from __future__ import annotations

import difflib
import json
import os
import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from platformdirs import user_data_dir

from voice.stt.download import ModelError, Progress, download, require_space, sha256, space_for, unpack

__all__ = ["Fetched", "Model", "ModelError", "catalogue", "fetch", "find", "folder", "installed", "is_model", "locate"]

_LOCK = "models.lock"


@dataclass(frozen=True, slots=True)
class Model:
    """One entry of the manifest."""

    name: str
    engine: str
    language: str
    """A BCP 47 tag, such as "pl" or "en-us"."""
    url: str
    licence: str
    files: tuple[str, ...]
    """What an unpacked model must hold beside its acoustic model."""
    size: int | None = None
    """Bytes of the archive; None: not known for certain."""
    sha256: str | None = None
    """Of the archive; None: not known for certain."""


def is_model(path: Path) -> bool:
    """Whether the folder holds a Vosk model: its acoustic model lies at one of two places (newer, older layout)."""
    return (path / "am/final.mdl").is_file() or (path / "final.mdl").is_file()


@dataclass(frozen=True, slots=True)
class Fetched:
    """A model that is here now."""

    model: Model
    path: Path
    sha256: str
    """Of the archive; "" when the model had been here already."""
    checked: Literal["manifest", "lock", "first use", "here already"]

    @property
    def note(self) -> str:
        """What the operator should know, in one line."""
        if self.checked == "first use":
            return (
                f"{self.model.name}: UNVERIFIED, the manifest has no checksum for it; trusted on first use and kept in "
                f'{_LOCK}. To pin it: sha256 = "{self.sha256}"'
            )
        if self.checked == "here already":
            return f"{self.model.name}: in {self.path}"
        return f"{self.model.name}: in {self.path}, checksum as in the {self.checked}"


def folder() -> Path:
    """Where models are kept: $VOICE_MODELS, or "voice/models" in the user's data folder."""
    chosen = os.environ.get("VOICE_MODELS")
    return Path(chosen).expanduser() if chosen else Path(user_data_dir("voice")) / "models"


def catalogue(manifest: Path | None = None) -> list[Model]:
    """All models of the manifest, in its order."""
    text = (
        manifest.read_text(encoding="utf-8")
        if manifest
        else resources.files("voice.stt").joinpath("manifest.toml").read_text(encoding="utf-8")
    )
    return [Model(**{**entry, "files": tuple(entry["files"])}) for entry in tomllib.loads(text)["model"]]


def installed(dest: Path | None = None) -> dict[str, Path]:
    """The models that are here, by name: every folder with an acoustic model, from the manifest or not."""
    dest = dest or folder()
    folders = sorted(dest.iterdir()) if dest.is_dir() else []
    return {path.name: path for path in folders if not path.name.startswith(".") and is_model(path)}


def find(name_or_language: str, models: list[Model] | None = None) -> Model:
    """The model of that name, or the first one of that language ("pl", "en", "en-GB").

    Raises ModelError with the nearest names when there is none.
    """
    models = catalogue() if models is None else models
    wanted = name_or_language.casefold().replace("_", "-")
    for model in models:
        if model.name.casefold() == wanted:
            return model
    for tag in (wanted, wanted.split("-")[0]):
        for model in models:
            if model.language == tag or model.language.split("-")[0] == tag:
                return model
    names = [model.name for model in models]
    near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.3) or names[:3]
    raise ModelError(f'no model is called "{name_or_language}"; near it: {", ".join(near)}; all: voice models')


def locate(name_or_language: str, dest: Path | None = None) -> Path:
    """The folder of a model that is here, by name or language. Raises ModelError when it has to be fetched first."""
    here = installed(dest)
    if name_or_language in here:
        return here[name_or_language]
    model = find(name_or_language)
    if model.name not in here:
        raise ModelError(f"the model {model.name} is not here; run: voice models fetch {model.name}")
    return here[model.name]


def fetch(
    name: str,
    dest: Path | None = None,
    progress: Progress = lambda have, total: None,
    models: list[Model] | None = None,
) -> Fetched:
    """Download, verify and unpack a model (by name or language) into `dest`, by default `folder()`.

    Goes on with a download that was broken off. Raises ModelError: unknown name, no network, checksum, disk space.
    """
    model = find(name, models)
    dest = dest or folder()
    try:
        dest.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(f"cannot write to {dest} ({error.strerror}); set VOICE_MODELS to another folder") from error
    target = dest / model.name
    if is_model(target):
        return Fetched(model, target, "", "here already")
    part = dest / f"{model.name}.zip.part"
    have = part.stat().st_size if part.exists() else 0
    require_space(dest, space_for(model.size or 0) - have)
    download(model.url, part, model.size, progress)
    found = sha256(part)
    lock = _read_lock(dest)
    expected = model.sha256 or lock.get(model.name)
    if expected is not None and found != expected:
        part.unlink()
        where = "manifest" if model.sha256 else f"first download ({_LOCK})"
        raise ModelError(
            f"{model.name}: the checksum is {found}, not {expected} as in the {where}; the download was deleted, "
            "fetch it again"
        )
    unpack(part, target, lambda path: is_model(path) and all((path / file).is_file() for file in model.files))
    part.unlink()
    if expected is None:
        _write_lock(dest, {**lock, model.name: found})
        return Fetched(model, target, found, "first use")
    return Fetched(model, target, found, "manifest" if model.sha256 else "lock")


def _read_lock(dest: Path) -> dict[str, str]:
    file = dest / _LOCK
    try:
        return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else {}
    except ValueError as error:
        raise ModelError(f"{file} is broken; delete it (checksums seen so far are then forgotten)") from error


def _write_lock(dest: Path, sums: dict[str, str]) -> None:
    new = dest / f"{_LOCK}.new"
    new.write_text(json.dumps(sums, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    os.replace(new, dest / _LOCK)
