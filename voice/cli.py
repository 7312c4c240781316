"""The entry point. It loads the rest itself, so that Ctrl-C is quiet from the first moment on."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130
"""Exit code after Ctrl-C, for commands that have no orderly end of their own."""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    _open_standard_streams()
    try:
        from voice.commands.app import run

        code = run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)


def _open_standard_streams() -> None:
    """Where a stream was closed, let it lead nowhere: else a socket gets its number, and with it what a library in a
    worker process prints there."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it takes the lowest free number: this one
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - for as long as the process lives
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115


if __name__ == "__main__":
    main()
