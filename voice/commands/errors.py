"""Errors towards the operator: one line each, and never a word of what somebody said.

| error                                     | standard error                                       | exit code |
| ----------------------------------------- | ---------------------------------------------------- | --------- |
| a wrong option or argument                | the mistake, and where the help is                   | 2         |
| one that names its cause and remedy       | its message                                          | 2         |
| a full disk                               | that                                                 | 2         |
| Ctrl-C                                    | nothing                                              | 130       |
| anything else: a fault of this program    | its type and place; its message may hold private text| 1         |
"""

from __future__ import annotations

import errno
import os
import sys
import threading
import traceback
from pathlib import Path
from types import TracebackType

import voice
from voice.screen.plain import one_line

WRONG_INPUT = 2
"""Exit code when a file, a name or a device that was given cannot be used."""

FAULT = 1
"""Exit code when the program itself is at fault."""

DEBUG = "VOICE_DEBUG"
"""Environment variable: set, a fault is shown with its whole traceback, private text and all."""

_ROOT = Path(voice.__file__).resolve().parent.parent


def explain(error: Exception) -> int:
    """Tell the operator of `error` in one line; returns the exit code. Raises it again to be debugged."""
    if isinstance(error, BrokenPipeError):  # whoever read our output has seen enough
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - for the interpreter's own last flush
        return FAULT
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - it may be what is full
        _tell("no space is left on the disk; make room")
        return WRONG_INPUT
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):  # typer's own, whose class is private
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "voice"
        if message := error.format_message().rstrip("."):  # without one the help was shown
            _tell(f"{message}; see {command} --help")
        return WRONG_INPUT
    if _says_its_remedy(error):
        _tell(str(error))
        return WRONG_INPUT
    if os.environ.get(DEBUG):
        raise error
    _tell(fault(error))
    return FAULT


def fault(error: BaseException) -> str:
    """What can be said of an unexpected error in one line: its type and its place, not its message."""
    return f"internal error: {type(error).__name__}{_place(error.__traceback__)} (run with {DEBUG}=1 for a traceback)"


def watch_threads() -> None:
    """Faults in threads are told in the same way."""

    def tell(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and not os.environ.get(DEBUG):
            _tell(fault(args.exc_value))
        else:
            threading.__excepthook__(args)

    threading.excepthook = tell


def _tell(line: str) -> None:
    print(f"voice: {one_line(line)}", file=sys.stderr)


def _place(trace: TracebackType | None) -> str:
    """at FILE:LINE, of the innermost of our own files if there is one."""
    frames = traceback.extract_tb(trace)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(_ROOT / "voice")]
    if not frames:
        return ""
    frame = (ours or frames)[-1]
    path = Path(frame.filename)
    return f" at {path.relative_to(_ROOT) if ours else path.name}:{frame.lineno}"


def _says_its_remedy(error: Exception) -> bool:
    from voice.app.demo import DemoError
    from voice.app.talk import TalkError
    from voice.audio.base import DeviceError
    from voice.config import ConfigError
    from voice.server.toml_table import FlowError
    from voice.stt.base import RecogniserError
    from voice.stt.models import ModelError
    from voice.tts.base import VoiceError
    from voice.wire.assumptions import AssumptionError

    ours = (ConfigError, DemoError, TalkError, FlowError, AssumptionError)
    return isinstance(error, (*ours, DeviceError, RecogniserError, ModelError, VoiceError))
