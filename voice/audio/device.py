"""The sound card: a loudspeaker and a microphone through PortAudio.

Two separate streams, because a duplex stream was seen to die without a word. The callbacks copy and stamp, nothing
else. PortAudio's stamps are on a clock of its own (wall clock on Linux), so its distance from monotonic time is
measured before the first block and again every second; the microphone's are steadied, see `arrival.py`. A watchdog
tells when a device ended or fell silent, and gives the loudspeaker a deeper buffer when it runs dry, see `depth.py`.
"""

from __future__ import annotations

import contextlib
import threading
import time as clock
from collections.abc import Callable
from typing import Any

import numpy as np

from voice.audio.arrival import ArrivalLine
from voice.audio.base import BLOCK, RATE, Capture, DeviceError, Render
from voice.audio.depth import Depth, Rhythm
from voice.audio.portaudio import (
    DeviceInfo,
    channels,
    choose,
    has_sound_card,
    library,
    list_devices,
    look_again,
)
from voice.audio.watchdog import Watchdog

__all__ = ["DeviceInfo", "SoundCard", "has_sound_card", "list_devices"]

OUTPUT_BLOCK = BLOCK // 2
"""Frames a callback of the loudspeaker, 5 ms: what is to be said waits for the next callback, so half a block is
half a wait. The microphone's blocks are those of the echo canceller."""

INPUT_LATENCY = 0.02
"""Seconds that PortAudio is asked for: two blocks. It gives each block as soon as it is there, so a deeper buffer would
cost nothing but that a sound server sends larger pieces."""

LOOK = 0.05
"""Seconds between two looks of the watchdog."""
CLOSING = 1.0
"""Seconds to wait for PortAudio to close a stream; it hangs while a sound server does not answer."""


class _Direction:
    """One open stream, the time of its newest callback, and the distance of its clock from monotonic time."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.stream: Any = None
        self.newest: float | None = None
        self.offset = 0.0
        self.ended = False
        self.dry = 0
        """Callbacks before which its buffer had run dry."""

    def measure(self) -> None:
        """Read both clocks, keeping the reading that was disturbed least."""
        best = float("inf")
        for _ in range(5):
            before = clock.monotonic()
            there = self.stream.time
            after = clock.monotonic()
            if after - before < best:
                best = after - before
                offset = there - (before + after) / 2
        self.offset = offset

    def time(self, stamp: float) -> float:
        """A stamp of PortAudio on the monotonic clock; where the driver gives none, the best guess."""
        if stamp <= 0.0:
            latency = float(self.stream.latency)
            return clock.monotonic() + (latency if self.word == "loudspeaker" else -latency)
        return stamp - self.offset


class SoundCard:
    """Real devices. Times are those of `time.monotonic`, which is also an ordinary asyncio loop's time.

    `input` and `output` name devices by a part of their name or by number; None: the default. `open` and `close` may
    take some 0.1 s. Opened once more, it looks for devices anew and takes the ones of the same names.
    """

    def __init__(
        self,
        input: str | int | None = None,
        output: str | int | None = None,
        rate: int = RATE,
    ) -> None:
        self.name = "sound card"
        self.rate = rate
        self.underflows = 0
        """Callbacks before which the loudspeaker had run dry."""
        self.overflows = 0
        """Callbacks before which microphone samples were lost."""
        self._wanted: dict[str, str | int | None] = {"input": input, "output": output}
        self._depth = Depth()
        self._loudspeaker = _Direction("loudspeaker")
        self._microphone = _Direction("microphone")
        self._told: tuple[Render, Capture, Callable[[str], None]] | None = None
        self._closing = threading.Event()
        self._wake = threading.Event()
        self._watcher: threading.Thread | None = None
        self._stuck: list[threading.Thread] = []

    @property
    def buffer(self) -> float:
        """Seconds of sound that PortAudio is asked to keep for the loudspeaker."""
        return self._depth.seconds

    def open(self, render: Render, capture: Capture, lost: Callable[[str], None]) -> None:
        """Start both directions. `lost` is called once, from the watchdog's thread. Raises DeviceError."""
        if self._watcher is not None:
            raise DeviceError("the sound card is open already; close it first")
        if any(thread.is_alive() for thread in self._stuck):
            raise DeviceError("the sound server does not answer; restart it or the machine")
        if self._told is not None:  # devices may have come and gone since; PortAudio looks once, when it is loaded
            look_again()
        self._told = (render, capture, lost)
        devices = list_devices()
        microphone = choose(devices, "input", self._wanted["input"])
        loudspeaker = choose(devices, "output", self._wanted["output"])
        self.name = f"sound card ({microphone.name}, {loudspeaker.name})"
        self._loudspeaker, self._microphone = _Direction("loudspeaker"), _Direction("microphone")
        self._closing.clear()
        self._wake.clear()
        sounddevice = library()
        try:
            self._make(self._microphone, sounddevice.InputStream, microphone, "input", self._taker(capture))
            self._make(self._loudspeaker, sounddevice.OutputStream, loudspeaker, "output", self._giver(render))
        except BaseException:
            self.close()
            raise
        self._watcher = threading.Thread(
            target=self._watch, args=(lost, loudspeaker), name="sound-watchdog", daemon=True
        )
        self._watcher.start()

    def reopen(self) -> None:
        """Close, and open again. Raises DeviceError (try again later)."""
        if self._told is None:
            raise DeviceError("the sound card was never open; open it first")
        self.close()
        self.open(*self._told)

    def close(self) -> None:
        """Stop both directions. Safe to call twice, and from within `lost`."""
        self._closing.set()
        self._wake.set()
        if self._watcher is not None and self._watcher is not threading.current_thread():
            self._watcher.join()
        self._watcher = None
        streams = [d.stream for d in (self._loudspeaker, self._microphone) if d.stream is not None]
        self._loudspeaker.stream = self._microphone.stream = None
        if streams:
            self._end(streams)

    # ------------------------------------------------------------------ the callbacks

    def _giver(self, render: Render) -> Callable[..., None]:
        direction = self._loudspeaker
        block = np.zeros(OUTPUT_BLOCK, np.float32)
        rhythm: Rhythm | None = None

        def give(out: Any, frames: int, times: Any, flags: Any) -> None:
            nonlocal rhythm
            if rhythm is None:  # the driver may have taken a longer buffer than it was asked for
                lasts = max(float(direction.stream.latency), self._depth.seconds) + OUTPUT_BLOCK / self.rate
                rhythm = Rhythm(lasts)
            direction.newest = now = clock.monotonic()
            late = rhythm.late(now)
            if late or (flags and flags.output_underflow):  # over a sound server nobody else tells
                direction.dry += 1
                self.underflows += 1
            render(block, direction.time(times.outputBufferDacTime))
            out[:] = block[:, None]

        return give

    def _taker(self, capture: Capture) -> Callable[..., None]:
        direction = self._microphone
        line = ArrivalLine(BLOCK / self.rate)

        def take(data: Any, frames: int, times: Any, flags: Any) -> None:
            direction.newest = now = clock.monotonic()
            if flags:
                self.overflows += bool(flags.input_overflow)
            capture(data[:, 0].copy(), line.taken(now, direction.time(times.inputBufferAdcTime)))

        return take

    # ------------------------------------------------------------------ inside

    def _make(self, direction: _Direction, stream: Any, device: DeviceInfo, kind: Any, callback: Any) -> None:
        count = channels(device, kind, self.rate)

        def ended() -> None:
            direction.ended = True
            self._wake.set()

        try:
            direction.stream = stream(
                samplerate=self.rate,
                blocksize=OUTPUT_BLOCK if direction.word == "loudspeaker" else BLOCK,
                device=device.index,
                channels=count,
                dtype="float32",
                latency=self._depth.seconds if direction.word == "loudspeaker" else INPUT_LATENCY,
                callback=callback,
                finished_callback=ended,
            )
            direction.measure()
            direction.stream.start()
        except library().PortAudioError as error:
            remedy = (
                "the machine is too busy, try again" if "timed out" in str(error) else "is another program using it?"
            )
            raise DeviceError(
                f"the {direction.word} {device.name!r} cannot be opened: {error.args[0]}; {remedy}"
            ) from None

    def _watch(self, lost: Callable[[str], None], output: DeviceInfo) -> None:
        watchdog = Watchdog(clock.monotonic())
        measured = clock.monotonic()
        dry = 0
        while not self._closing.is_set():
            self._wake.wait(LOOK)
            self._wake.clear()
            now = clock.monotonic()
            directions = (self._loudspeaker, self._microphone)
            gone = next((direction.word for direction in directions if direction.ended), None)
            reason = f"the {gone} went away" if gone else None
            reason = reason or watchdog.look(now, self._loudspeaker.newest, self._microphone.newest)
            if self._closing.is_set():
                return
            if reason:
                lost(reason)
                return
            if self._loudspeaker.dry > dry:
                dry = self._loudspeaker.dry
                if self._depth.ran_dry(now):
                    if not self._deepen(output):
                        lost("the loudspeaker ran dry and could not be opened anew")
                        return
                    dry, watchdog = 0, Watchdog(clock.monotonic())
            if now - measured > 1.0:
                measured = now
                with contextlib.suppress(
                    library().PortAudioError
                ):  # a clock that cannot be read now: the old one serves
                    for direction in directions:
                        direction.measure()

    def _deepen(self, output: DeviceInfo) -> bool:
        """Open the loudspeaker anew with the buffer that `_depth` wants now; whether it runs."""
        assert self._told is not None
        old, self._loudspeaker = self._loudspeaker, _Direction("loudspeaker")
        self._end([old.stream])
        if any(thread.is_alive() for thread in self._stuck):
            return False
        try:
            giver = self._giver(self._told[0])
            self._make(self._loudspeaker, library().OutputStream, output, "output", giver)
        except DeviceError:
            return False
        return True

    def _end(self, streams: list[Any]) -> None:
        """Close streams, but wait no longer than `CLOSING` for it."""
        closer = threading.Thread(target=_close, args=(streams,), name="sound-close", daemon=True)
        closer.start()
        closer.join(CLOSING)
        self._stuck = [thread for thread in (*self._stuck, closer) if thread.is_alive()]


def _close(streams: list[Any]) -> None:
    """Stop and close. Not `abort`: on ALSA it ends the callback's thread without waiting, perhaps within Python."""
    for stream in streams:
        for end in (stream.stop, stream.close):
            try:
                end()
            except library().PortAudioError:
                continue  # the device is gone: there is nothing left to end
