"""A room in real time between a loudspeaker and a microphone that are not there: its echo, and one person in it.

The echo is made within the sound server, so it is as steady as a room's: the loudspeaker's sound comes back three
times, on ways of different length. The person is a player of its own beside it.
"""

from __future__ import annotations

import subprocess
import threading
import time
from types import TracebackType

import numpy as np

from voice.audio.base import RATE, Pcm
from voice.bench.live_align import SOUND
from voice.bench.live_pulse import PulseServer, Recording

WAYS = ((30, 50), (41, 25), (57, 15))
"""Milliseconds of each way, and the amplitude in per cent that comes back on it: 5 dB down in all."""


class EchoRoom:
    """`with EchoRoom(server) as room:`. Afterwards `loudspeaker` and `microphone` are what the two played and heard,
    each from a moment of its own on."""

    def __init__(self, server: PulseServer) -> None:
        self._server = server
        self._ears = [Recording(server, "spk.monitor"), Recording(server, "micbus.monitor")]
        self._began = [float("inf")] * 2
        self._done = threading.Event()
        self._watch = threading.Thread(target=self._watch_recordings, name="recordings")
        self.loudspeaker = self.microphone = np.zeros(0, np.float32)

    def __enter__(self) -> EchoRoom:
        for number, (delay, percent) in enumerate(WAYS):
            load = ["load-module", "module-loopback", "source=spk.monitor", "sink=micbus", f"latency_msec={delay}"]
            self._pactl(*load, "adjust_time=0", "source_dont_move=true", "sink_dont_move=true")
            # A volume is a cube: 100 % of amplitude are 65536 steps.
            self._pactl("set-sink-input-volume", str(number), str(round(65536 * (percent / 100) ** (1 / 3))))
        for ear in self._ears:
            ear.__enter__()
        self._watch.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._watch.join()
        for ear in self._ears:
            ear.__exit__(kind, error, trace)
        self.loudspeaker, self.microphone = (ear.samples for ear in self._ears)

    def _pactl(self, *arguments: str) -> None:
        subprocess.run(["pactl", *arguments], env=self._server.env, check=True, capture_output=True, timeout=20)

    def _watch_recordings(self) -> None:
        """When the recordings began: no sample is written before it sounded, and now and then one is at once."""
        while not self._done.wait(0.01):
            for number, ear in enumerate(self._ears):
                self._began[number] = min(self._began[number], time.monotonic() - ear.size / RATE)

    def until_sound(self, seconds: float = 60) -> None:
        """Wait for the first sound of the loudspeaker. Raises TimeoutError."""
        end = time.monotonic() + seconds
        while not (np.abs(self._ears[0].so_far()) > SOUND).any():
            if time.monotonic() > end:
                raise TimeoutError("the loudspeaker says nothing")
            time.sleep(0.02)

    def onset_of(self, person: Pcm) -> int | None:
        """The sample of `loudspeaker` at whose time the person's voice began at the microphone; None if it did not."""
        place = best_place(self.microphone, person)
        if place is None:
            return None
        first = int(np.flatnonzero(np.abs(person) > 0.01)[0])
        return place + first + round((self._began[1] - self._began[0]) * RATE)


def best_place(recording: Pcm, part: Pcm) -> int | None:
    """Where `part` lies in the recording: the place of their highest correlation (it may begin before it)."""
    size = 1 << (recording.size + part.size).bit_length()
    product = np.fft.irfft(np.fft.rfft(recording, size) * np.conj(np.fft.rfft(part, size)), size)
    place = int(np.argmax(product))
    place = place if place < recording.size else place - size
    return place if product[place] > 0.1 * float(part @ part) else None
