"""The folder of a report: tried before the conversation, so that nobody talks for nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from voice.config import ConfigError
from voice.report.files import private_folder
from voice.report.record import Record
from voice.report.write import Written, write_report


def check_folder(folder: Path) -> None:
    """Make the folder and try to write into it. Raises ConfigError."""
    try:
        with tempfile.TemporaryFile(dir=private_folder(folder)):
            pass
    except OSError as error:
        raise _unusable(folder, error) from None


def report_into(folder: Path, record: Record, *recordings: Any, **about: Any) -> Written:
    """`write_report`, with its OSErrors told to the operator. Raises ConfigError."""
    try:
        return write_report(folder, record, *recordings, **about)
    except OSError as error:
        raise _unusable(folder, error) from None


def _unusable(folder: Path, error: OSError) -> ConfigError:
    cause = error.strerror or type(error).__name__
    return ConfigError(f"{folder}: the report cannot be written there ({cause}); give another folder")
