"""Servants for the tests of `voice.worker`: what a child process can do well, and badly."""

from __future__ import annotations

import os
import time
from typing import Any

from voice.worker import Reply, Servant


def useful() -> Servant:
    """Does what it is told: answers, counts, crashes, hangs."""
    stopped = 0

    def serve(request: tuple[Any, ...], reply: Reply) -> None:
        nonlocal stopped
        match request:
            case ("echo", *parts):
                for part in parts:
                    reply(part)
            case ("pid",):
                reply(os.getpid())
            case ("sleep", seconds):
                time.sleep(seconds)
                reply("slept")
            case ("endless",):
                while reply("more"):
                    time.sleep(0.005)
                stopped += 1
            case ("stopped",):
                reply(stopped)
            case ("slowly", count):
                for n in range(count):
                    time.sleep(0.01)
                    if not reply(n):
                        return
            case ("raise", message):
                raise ValueError(message)
            case ("crash",):
                os._exit(3)
            case ("crash after", part):
                reply(part)
                time.sleep(0.05)
                os._exit(3)

    return serve


def cannot_be_made(message: str) -> Servant:
    """A model file that is missing, a library that does not load."""
    raise OSError(message)


def never_made() -> Servant:
    """A driver that hangs while it is opened."""
    time.sleep(60)
    raise AssertionError


def dies_while_made() -> Servant:
    """A library that crashes while it is loaded."""
    os._exit(4)
