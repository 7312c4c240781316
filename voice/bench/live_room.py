"""The room of `voice bench live`, a process of its own: it plays our own echo and a person into the microphone.

It reads what the loudspeaker gives from the sound server, lets it pass through a small loudspeaker and the walls of a
room, and plays it back with a person who begins to speak so many seconds after the loudspeaker did. It records all
three channels of the server's one sink (`live_pulse.ONE_CLOCK`): what our loudspeaker gave, what the microphone got,
and the person alone. The first line on standard input ends it.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from voice.audio.base import BLOCK, RATE, Pcm
from voice.audio.response import Convolver, load
from voice.bench.live_align import SOUND
from voice.bench.live_pulse import ROOM_CHANNELS

CHANNELS = 3
"""Of the recording: loudspeaker, microphone, person."""

DRIVE = 1.5
"""Saturation of a small loudspeaker, as in `voice.audio.room`."""

BUFFER_MS = 40
"""Milliseconds of sound on the way back into the room: the delay of its echo, and the time by which this process may be
late without a hole in it."""

_BYTES = BLOCK * CHANNELS * 4


class Room:
    """The sound of the room, block by block; owns no device.

    `person` is heard once, from `after` seconds after the loudspeaker's first sound on. `echo_db` is the level of the
    echo relative to what the loudspeaker gives, `noise_db` (dBFS) that of the room's own noise.
    """

    def __init__(
        self, response: str, person: Pcm, after: float, echo_db: float, noise_db: float, seed: int = 0
    ) -> None:
        self._walls = Convolver(load(response)[0])
        self._gain = np.float32(10 ** (echo_db / 20))
        self._noise = (np.random.default_rng(seed).standard_normal(RATE) * 10 ** (noise_db / 20)).astype(np.float32)
        self._person, self._wait = person, round(after * RATE)
        self._heard = -1
        """Samples since the loudspeaker's first sound; -1: it gave none yet."""
        self._count = 0

    @property
    def heard(self) -> bool:
        """The loudspeaker has given a sound."""
        return self._heard >= 0

    @property
    def over(self) -> bool:
        """The person has spoken."""
        return self._heard >= self._wait + self._person.size

    def answer(self, loudspeaker: Pcm) -> tuple[Pcm, Pcm]:
        """(what comes to the microphone, the person alone) while the loudspeaker gives this block."""
        if self._heard < 0 and np.abs(loudspeaker).max() > SOUND:
            self._heard = 0
        person = np.zeros(loudspeaker.size, np.float32)
        if self._heard >= 0:
            first = self._heard - self._wait
            here = self._person[max(0, first) : max(0, first + person.size)]
            place = max(0, -first)
            person[place : place + here.size] = here
            self._heard += person.size
        echo = self._walls.process(np.tanh(loudspeaker * DRIVE) / np.float32(DRIVE)) * self._gain
        at = self._count % (RATE // BLOCK) * BLOCK
        self._count += 1
        return echo + person + self._noise[at : at + person.size], person


def main(plan: Path, recording: Path) -> None:
    """Play the room of `plan` (see `write_plan`) and write the recording, shape (samples, 3)."""
    with np.load(plan) as stored:
        person = stored["person"]
        settings = json.loads(str(stored["settings"]))
    room = Room(person=person, **settings)
    raw = ["--raw", "--format=float32le", f"--rate={RATE}"]
    ears = subprocess.Popen(
        [
            *("parec", "--device=room.monitor", f"--channels={CHANNELS}", f"--channel-map={ROOM_CHANNELS}"),
            *(*raw, "--latency-msec=10"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    mouth = subprocess.Popen(
        ["pacat", "--playback", "--device=air", "--channels=2", *raw, f"--latency-msec={BUFFER_MS}"],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert ears.stdout is not None
    assert mouth.stdin is not None
    blocks: list[Pcm] = []
    told: list[str] = []
    earliest = float("inf")
    try:
        os.write(mouth.stdin.fileno(), np.zeros(2 * RATE * BUFFER_MS // 1000, np.float32).tobytes())
        while not select.select([sys.stdin], [], [], 0)[0]:
            block = np.frombuffer(_read(ears.stdout.fileno()), "<f4").reshape(BLOCK, CHANNELS)
            earliest = min(earliest, time.monotonic() - (len(blocks) + 1) * BLOCK / RATE)
            blocks.append(block)
            os.write(mouth.stdin.fileno(), np.stack(room.answer(block[:, 0]), axis=1).astype("<f4").tobytes())
            now = {"ready": True, "speaking": room.heard, "over": room.over}
            for word in [word for word, true in now.items() if true and word not in told]:
                told.append(word)
                print(word, flush=True)
    finally:
        for process in (ears, mouth):
            process.kill()
            process.wait()
    np.savez(recording, sound=np.concatenate(blocks), began=earliest)


def write_plan(path: Path, person: Pcm, **settings: object) -> None:
    """Write what `main` plays: the person's samples, and the other arguments of `Room`."""
    np.savez(path, person=person, settings=json.dumps(settings))


def _read(pipe: int) -> bytes:
    """One block. Raises EOFError when the sound server is gone."""
    data = b""
    while len(data) < _BYTES:
        if not (more := os.read(pipe, _BYTES - len(data))):
            raise EOFError("the sound server is gone")
        data += more
    return data


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
