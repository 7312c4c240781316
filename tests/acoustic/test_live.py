"""One run of the live bench: the whole program in real time, judged by a recording in which the person, the microphone
and the loudspeaker are channels.

A bench that judges the program wrongly, or a program that stands there with a dead microphone, is noticed here first.
"""

from __future__ import annotations

import numpy as np
import pytest

from voice.bench.live_pull import pull
from voice.bench.live_run import Case, Run, play
from voice.bench.live_truth import say, spoken_text

TEXT = (
    "Please take a seat in the waiting area on the second floor, turn left after the elevator, and look for the blue "
    "door at the end of the corridor. Someone will meet you there in about ten minutes."
)
TRIES = 3
"""Runs in which the machine kept up are judged; each of the others is told."""


async def test_a_person_interrupts() -> None:
    """The voice goes down and stops, and what the server is told is what the loudspeaker's recording has."""
    message = await spoken_text(TEXT, language="en-us")
    [(clip, _)] = await say("I already told you that.", language="en-us", variant="m3", wpm=165, pitch=35)
    tried: list[Run] = []
    while len(tried) < TRIES:
        run = await play(Case(0, 0, ("m3", "told"), 6.0), "default", clip[np.flatnonzero(clip)[0] :], message)
        print(f"\nonset to duck {run.duck} ms, to silence {run.silence} ms; {run.stages}; {run.busy or 'not busy'}")
        if not run.busy and not run.early and run.silence is not None:
            assert run.duck is not None
            assert 0 < run.duck <= run.silence
            assert run.exact, f"{run.claimed} words were claimed, {run.heard} were heard"
            assert (run.dead, run.unnoticed) == (0, 0)
            return
        tried.append(run)
    pytest.fail(f"no run of {TRIES} went to its end: {[run.busy or run.log for run in tried]}")


async def test_a_sound_server_that_dies() -> None:
    """Whoever stands before the kiosk hears it go on when the sound is back."""
    pulled = await pull("killed", await spoken_text(TEXT, language="en-us"))
    assert pulled.noticed is not None
    assert pulled.back
