"""A run of `voice bench live` in which the sound server dies, or freezes, while our voice speaks."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
import numpy.typing as npt

from voice.bench.live_children import child, end, kill, line
from voice.bench.live_measure import NOTICED
from voice.bench.live_pulse import ONE_CLOCK, PulseServer
from voice.bench.live_room import write_plan
from voice.bench.live_run import ECHO_DB, NOISE_DB, ROOM, server_of
from voice.bench.live_truth import SpokenText
from voice.wire import paths

Times = npt.NDArray[np.float64]
Fault = Literal["killed", "frozen"]

SPEAKS = 2.0
"""Seconds that our voice has spoken when it happens."""

GONE = 1.5
"""Seconds after which the sound server is there again."""

BACK = 5.0
"""Seconds that the program then gets to find it."""

LIVES = 0.5
"""Seconds of callbacks that show that sound goes on."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """What came of it."""

    fault: Fault
    noticed: float | None
    """Milliseconds until the program knew; None: it did not."""
    back: bool
    """Both streams ran again afterwards."""


async def pull(fault: Fault, message: SpokenText) -> Pulled:
    """Take the sound server away and give it back. Raises RuntimeError when a part does not start."""
    server = server_of(message.text)
    await server.start()
    try:
        with PulseServer(ONE_CLOCK) as sound, TemporaryDirectory(prefix="voice-live-") as name:
            folder = Path(name)
            nobody = np.zeros(1, np.float32)
            plan = folder / "plan.npz"
            write_plan(plan, nobody, response=ROOM, after=0.0, echo_db=ECHO_DB, noise_db=NOISE_DB)
            room = await child(sound, "voice.bench.live_room", plan, folder / "room.npz")
            await line(room, "ready")
            url = f"{server.url}{paths.INFERMEDICA}"
            program = await child(sound, "voice.bench.live_program", url, "default", folder / "program.npz")
            try:
                await line(room, "speaking")
                await asyncio.sleep(SPEAKS)
            finally:
                await kill(room)
            at = time.monotonic()
            os.kill(sound.pid, signal.SIGKILL if fault == "killed" else signal.SIGSTOP)
            await asyncio.sleep(GONE)
            sound.kill()
            await asyncio.to_thread(sound.start)
            await asyncio.sleep(BACK)
            await end(program)
            with np.load(folder / "program.npz") as stored:
                card = json.loads(str(stored["card"]))
                calls = [stored[name][:, 0] for name in ("rendered", "captured")]
            return judged(fault, at, card["lost"], card["opened"], calls)
    finally:
        await server.stop()


def judged(
    fault: Fault, at: float, lost: list[float], opened: list[float], calls: list[npt.NDArray[np.float64]]
) -> Pulled:
    """From the times (seconds) of the fault, the notices, the openings and each direction's callbacks."""
    noticed = next((told for told in lost if at <= told <= at + NOTICED), None)
    again = [time for time in opened if time > at]
    back = bool(again) and all((times > again[-1] + LIVES).any() for times in calls)
    return Pulled(fault, None if noticed is None else (noticed - at) * 1000, back)
