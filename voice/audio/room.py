"""A room without hardware: a device whose loudspeaker, walls, people and microphone are computed.

Every block of the loudspeaker goes through a mild saturation, the room's impulse response and a delay to the
microphone, where people speak, things make noises and a constant noise lies under everything. The times are those of
the clock that the room was given; one block is 10 ms. At clock time t a step

1. hands the microphone block of [t - 10 ms, t] to `capture`, and then
2. asks `render` for the block that leaves the loudspeaker at t + `latency`.

The room runs by itself after `open`: on a virtual-time loop as a task of that loop (deterministic: same seed, same
program, same samples), otherwise in a thread in real time.
"""

from __future__ import annotations

import asyncio
import threading
import time as monotonic_time
from collections.abc import Callable
from typing import Literal

import numpy as np

from voice.audio.base import BLOCK, RATE, Capture, DeviceError, Pcm, Render
from voice.audio.fractional import Conveyor
from voice.audio.people import Sounds, at_level, click, cough, thump
from voice.audio.response import Convolver, convolve, load
from voice.core.clock import Clock
from voice.timeloop import LoopClock, VirtualTimeLoop

_DRIVE = 1.5
"""Saturation of a small loudspeaker, tanh(drive x) / drive: a peak of 0.3 loses 6 %, one of 0.5 loses 15 %."""

VOICE_DB = -26.0
"""dBFS, active level at the microphone of a person who talks to the device at arm's length."""


def _nobody(reason: str) -> None:
    """Told of a loss before anybody opened the room."""


class _Monotonic:
    """The clock where there is no loop; an ordinary loop's time is the same."""

    def now(self) -> float:
        return monotonic_time.monotonic()


class Room:
    """A loudspeaker, a microphone and people in one room.

    `response` names the impulse responses ("kiosk", "living", "dry"). `delay` is what lies between loudspeaker and
    microphone beside the walls (buffers, converters), seconds. `echo_db` is the gain from what is rendered to its
    echo at the microphone; at the default, an ordinary voice (-20 dBFS) comes back as loud as a person speaks.
    `noise_db` is the room's noise, dBFS RMS. `latency` lies between `render` and the loudspeaker, seconds. `clock`
    defaults to the running loop's, without a loop to monotonic time. `record` keeps what was played and heard. The
    microphone's clock runs faster by `drift_ppm` than the loudspeaker's, which is that of the steps.
    """

    def __init__(
        self,
        *,
        response: str = "kiosk",
        delay: float = 0.03,
        echo_db: float = -6.0,
        noise_db: float = -60.0,
        seed: int = 0,
        latency: float = 0.0,
        clock: Clock | None = None,
        record: bool = True,
        drift_ppm: float = 0.0,
    ) -> None:
        self.name = f"room ({response})"
        self.rate = RATE
        self.late = 0
        """Steps that came more than a block late (real time only); they are caught up."""
        self._echo_response, self._mouths = load(response)
        self._gain = np.float32(10 ** (echo_db / 20))
        self._latency = round(latency * RATE)
        self._delay = round(delay * RATE)
        self._noise = np.float32(10 ** (noise_db / 20))
        self._seed = seed
        self._rng = np.random.default_rng(seed)
        self._clock = clock
        self._sounds = Sounds()
        self._people: dict[str, Pcm] = {}
        self._lock = threading.Lock()
        self._record = record
        self._recorded: dict[str, list[Pcm]] = {"loudspeaker": [], "user": [], "microphone": []}
        self._start: float | None = None
        self._pace = 1 + drift_ppm * 1e-6
        self._blocks = self._heard = 0
        self._render: Render | None = None
        self._capture: Capture | None = None
        self._lost: Callable[[str], None] = _nobody
        self._task: asyncio.Task[None] | None = None
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._sounds_made = 0
        self._silence_the_walls()

    # ------------------------------------------------------------------ the device

    def open(
        self,
        render: Render,
        capture: Capture,
        lost: Callable[[str], None],
        *,
        drive: Literal["auto", "hand"] = "auto",
    ) -> None:
        """Start. With `drive="hand"` nothing runs until `step` or `run` is called.

        May be opened again after `close` or `lose`: time went on, and what was not played is silence.
        """
        if self._render is not None:
            raise DeviceError(f"{self.name} is open already; close it first")
        try:
            loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            loop = None
        if self._clock is None:
            self._clock = LoopClock(loop) if loop else _Monotonic()
        now = self._clock.now()
        if self._start is None:
            self._start = now
        else:
            self._skip_to(now)
        self._render, self._capture, self._lost = render, capture, lost
        self._closing.clear()
        if drive == "hand":
            return
        if isinstance(loop, VirtualTimeLoop):
            self._task = loop.create_task(self.run(), name="room")
        else:
            self._thread = threading.Thread(target=self._run_thread, name="room", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop. Safe to call twice, and from within `render` or `capture`."""
        self._closing.set()
        self._render = self._capture = None
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._thread = None

    def lose(self, reason: str) -> None:
        """Behave as a device that was pulled out: the blocks stop and `lost(reason)` is called."""
        if self._render is not None:
            self.close()
            self._lost(reason)

    # ------------------------------------------------------------------ time

    @property
    def time(self) -> float:
        """The clock time of the next step."""
        return self.t0 + self._blocks * BLOCK / RATE

    @property
    def t0(self) -> float:
        """The clock time at which the recordings begin."""
        if self._start is None:
            raise DeviceError(f"{self.name} has no time before it is opened; open it first")
        return self._start

    def step(self) -> None:
        """Do the 10 ms at `time`, see the top of this file."""
        while self._heard + 1 <= self._blocks * self._pace:
            microphone = self._hear()
            if self._capture is not None:
                self._capture(microphone, self._t(self._heard * BLOCK))
            self._heard += 1
        out = np.zeros(BLOCK, np.float32)
        if self._render is not None:
            self._render(out, self.time + self._latency / RATE)
        self._keep("loudspeaker", out)
        self._air.put(self._walls.process(np.tanh(out * _DRIVE) / np.float32(_DRIVE)) * self._gain)
        self._blocks += 1

    async def run(self) -> None:
        """Step at every 10 ms of the running loop's time until closed."""
        loop = asyncio.get_running_loop()
        while self._render is not None:
            await asyncio.sleep(max(0.0, self.time - loop.time()))
            if self._render is not None:
                self._step_or_lose()

    def _run_thread(self) -> None:
        assert self._clock is not None
        while not self._closing.is_set():
            early = self.time - self._clock.now()
            if early > 0 and self._closing.wait(early):
                return
            self.late += early < -BLOCK / RATE
            self._step_or_lose()

    def _step_or_lose(self) -> None:
        try:
            self.step()
        except Exception as error:  # as on hardware: a callback that raises ends the stream
            self.lose(f"{self.name} stopped: {type(error).__name__} in a callback")
            raise

    # ------------------------------------------------------------------ people and things
    def say(
        self, pcm: Pcm, at: float | None = None, level_db: float = VOICE_DB, name: str = "visitor"
    ) -> tuple[float, float]:
        """Let a person speak `pcm` (16 kHz) from clock time `at` on; returns when it starts and ends at the microphone.

        `level_db` is the active level at the microphone in dBFS. None or a time gone by: from the next microphone
        block on. Each name stands at a place of its own. Safe to call from any thread.
        """
        with self._lock:
            mouth = self._people.setdefault(name, self._mouths[len(self._people) % len(self._mouths)])
        return self._place(at_level(convolve(pcm, mouth), level_db), pcm.size, at, person=True)

    def sound(
        self, pcm: Pcm, at: float | None = None, level_db: float = -20.0, *, person: bool = False
    ) -> tuple[float, float]:
        """Anything that is heard as it is, without walls of its own; `level_db` as for `say`."""
        return self._place(at_level(pcm, level_db), pcm.size, at, person=person)

    def cough(self, at: float | None = None, level_db: float = -20.0) -> tuple[float, float]:
        """A person coughs (0.3 s)."""
        return self.sound(cough(self._next_rng()), at, level_db, person=True)

    def click(self, at: float | None = None, level_db: float = -24.0) -> tuple[float, float]:
        """A key is pressed (8 ms)."""
        return self.sound(click(self._next_rng()), at, level_db)

    def thump(self, at: float | None = None, level_db: float = -20.0) -> tuple[float, float]:
        """A door or a knock on the table (0.25 s)."""
        return self.sound(thump(self._next_rng()), at, level_db)

    def jump(self, seconds: float) -> None:
        """From now on the echo comes that much later (or earlier), as after a fault in a buffer that nobody told of."""
        self._air.slip(round(seconds * RATE))

    # ------------------------------------------------------------------ recordings

    @property
    def loudspeaker(self) -> Pcm:
        """What left the loudspeaker, from the time of the first `open` on."""
        played = np.concatenate([np.zeros(self._latency, np.float32), *self._recorded["loudspeaker"]])
        return played[: self._blocks * BLOCK]

    @property
    def user(self) -> Pcm:
        """The people at the microphone, without echo and noise, from the time of the first `open` on."""
        return np.concatenate([np.zeros(0, np.float32), *self._recorded["user"]])

    @property
    def microphone(self) -> Pcm:
        """All that the microphone took, from the time of the first `open` on."""
        return np.concatenate([np.zeros(0, np.float32), *self._recorded["microphone"]])

    # ------------------------------------------------------------------ inside

    def _hear(self) -> Pcm:
        """The microphone block that is complete now."""
        echo = self._air.take(BLOCK)
        with self._lock:
            people, others = self._sounds.mix(self._heard * BLOCK, BLOCK)
        noise = self._rng.standard_normal(BLOCK, np.float32) * self._noise
        microphone = np.clip(echo + people + others + noise, -1, 1)
        self._keep("user", people)
        self._keep("microphone", microphone)
        return microphone.copy() if self._record else microphone

    def _place(self, sound: Pcm, length: int, at: float | None, *, person: bool) -> tuple[float, float]:
        if self._start is None:
            raise DeviceError(f"nobody can be heard in {self.name} before it is opened; open it first")
        with self._lock:
            start = max(self._heard * BLOCK, 0 if at is None else round((at - self._start) * RATE * self._pace))
            self._sounds.add(start, sound, person=person)
        return self._t(start), self._t(start + length)

    def _t(self, sample: int) -> float:
        """The clock time of a sample of the microphone."""
        return self.t0 + sample / RATE / self._pace

    def _next_rng(self) -> np.random.Generator:
        self._sounds_made += 1
        return np.random.default_rng([self._seed, self._sounds_made])

    def _skip_to(self, now: float) -> None:
        """Let the blocks between the last step and `now` be silence."""
        block = max(self._blocks, int(np.ceil((now - self.t0) * RATE / BLOCK - 1e-6)))
        heard = max(self._heard, int(block * self._pace) - 1)
        if self._blocks:
            for kept in self._recorded:
                lost = block - self._blocks if kept == "loudspeaker" else heard - self._heard
                self._keep(kept, np.zeros(lost * BLOCK, np.float32))
        self._blocks, self._heard = block, heard
        self._silence_the_walls()

    def _silence_the_walls(self) -> None:
        self._walls = Convolver(self._echo_response)
        self._air = Conveyor(self._latency + self._delay + (BLOCK if self._blocks else 0), 1 / self._pace)

    def _keep(self, kept: str, pcm: Pcm) -> None:
        if self._record:
            self._recorded[kept].append(pcm)
