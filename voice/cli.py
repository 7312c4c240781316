"""The entry point. It loads the rest itself, so that Ctrl-C is quiet from the first moment on."""

from __future__ import annotations

import sys

INTERRUPTED = 130
"""Exit code after Ctrl-C, for commands that have no orderly end of their own."""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    try:
        from voice.commands.app import run

        code = run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
