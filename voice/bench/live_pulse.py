"""A private PulseAudio with a loudspeaker and a microphone that are not there, for what happens in real time.

It runs as any user, without D-Bus, in a folder of its own. There are two ways to set it up:

* `TWO_SINKS`: `spk` is the loudspeaker; what it plays can be recorded from `spk.monitor`. `micbus` is the way into the
  microphone `mic`: what is played into it, the microphone hears.
* `ONE_CLOCK`: the same names, but all of them are channels of one sink, `room`. What is recorded from `room.monitor`
  has, sample by sample, the loudspeaker, the microphone and a third channel that nobody hears, so that times between
  them need no clock. `air` is the way into the last two.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from voice.audio.base import RATE, Pcm

# norewinds: without it the null sinks take 2 s at once and give the microphone 2 s late.
# 16 kHz in float32 all the way: every sample can be found again, bit for bit.
_NULL_SINK = "load-module module-null-sink norewinds=1 rate=16000 format=float32le"
_BEGIN = "load-module module-native-protocol-unix auth-anonymous=1 socket={folder}/socket\n"
_END = "set-default-sink spk\nset-default-source mic\n"

TWO_SINKS = f"""{_BEGIN}
{_NULL_SINK} sink_name=spk channels=1 channel_map=mono
{_NULL_SINK} sink_name=micbus channels=1 channel_map=mono
load-module module-remap-source source_name=mic master=micbus.monitor
{_END}"""

ROOM_CHANNELS = "front-left,front-right,front-center"
"""Of `room`: the loudspeaker, the microphone, and what nobody hears."""

_LOUDSPEAKER, _MICROPHONE, _UNHEARD = ROOM_CHANNELS.split(",")
ONE_CLOCK = f"""{_BEGIN}
{_NULL_SINK} sink_name=room channels=3 channel_map={ROOM_CHANNELS}
load-module module-remap-sink sink_name=spk master=room channels=1 channel_map=mono \
master_channel_map={_LOUDSPEAKER} remix=no
load-module module-remap-sink sink_name=air master=room channels=2 channel_map=front-left,front-right \
master_channel_map={_MICROPHONE},{_UNHEARD} remix=no
load-module module-remap-source source_name=mic master=room.monitor channels=1 channel_map=mono \
master_channel_map={_MICROPHONE} remix=no
{_END}"""

_OPTIONS = "-n --daemonize=no --exit-idle-time=-1 --disallow-exit --use-pid-file=no --realtime=no --high-priority=no"

_NEEDED = ("pulseaudio", "pactl", "parec", "pacat")


class PulseServer:
    """`with PulseServer() as sound:` starts the daemon; leaving ends it and removes its folder."""

    def __init__(self, setup: str = TWO_SINKS) -> None:
        self._setup = setup
        self.folder = Path(tempfile.mkdtemp(prefix="voice-pulse-"))
        self.env = {
            **os.environ,
            "XDG_RUNTIME_DIR": str(self.folder),
            "PULSE_RUNTIME_PATH": str(self.folder),
            "PULSE_STATE_PATH": str(self.folder),
            "PULSE_COOKIE": str(self.folder / "cookie"),
            "PULSE_SERVER": f"unix:{self.folder}/socket",
            "PULSE_SINK": "spk",
            "PULSE_SOURCE": "mic",
        }
        """The environment of a program whose sound devices are these."""
        self._daemon: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> PulseServer:
        missing = [program for program in _NEEDED if shutil.which(program) is None]
        if missing:
            raise RuntimeError(
                f"missing: {', '.join(missing)}; "
                "install them with: apt-get install pulseaudio pulseaudio-utils libasound2-plugins libportaudio2"
            )
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Start the daemon (again) and wait until it answers."""
        setup = self.folder / "setup.pa"
        setup.write_text(self._setup.format(folder=self.folder))
        self._daemon = subprocess.Popen(
            ["pulseaudio", *_OPTIONS.split(), f"--file={setup}", f"--log-target=file:{self.folder}/log"],
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + 20
        while self._pactl("info") != 0:
            if self._daemon.poll() is not None or time.monotonic() > until:
                log = self.folder / "log"
                raise RuntimeError(f"PulseAudio did not start: {log.read_text() if log.exists() else 'no log'}")
            time.sleep(0.05)

    @property
    def pid(self) -> int:
        """The daemon's process."""
        assert self._daemon is not None
        return self._daemon.pid

    def kill(self) -> None:
        """End the daemon at once, as a loudspeaker that is pulled out."""
        if self._daemon is not None:
            self._daemon.kill()
            self._daemon.wait()
            self._daemon = None

    def _pactl(self, *arguments: str) -> int:
        return subprocess.run(["pactl", *arguments], env=self.env, capture_output=True, timeout=20).returncode

    def run(self, program: Sequence[str], timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """Run a program whose sound devices are these."""
        return subprocess.run(program, env=self.env, capture_output=True, text=True, timeout=timeout)


class Recording:
    """Records what a sink plays (16 kHz, float32) from `with` on; `samples` after its end."""

    def __init__(self, server: PulseServer, source: str = "spk.monitor") -> None:
        self.samples: Pcm = np.zeros(0, np.float32)
        self._file = server.folder / f"{source}-{time.monotonic_ns()}.raw"
        self._command = ["parec", f"--device={source}", "--raw", "--format=float32le", "--channels=1"]
        self._command += [f"--rate={RATE}", "--latency-msec=20", str(self._file)]
        self._env = server.env

    def __enter__(self) -> Recording:
        self._process = subprocess.Popen(self._command, env=self._env, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 20
        while not self._file.exists() or self._file.stat().st_size < 4 * RATE // 10:
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("parec records nothing")
            time.sleep(0.02)
        return self

    def __exit__(self, *_: object) -> None:
        time.sleep(0.3)  # what was played last is on its way
        self._process.terminate()
        self._process.wait()
        self.samples = self.so_far()

    @property
    def size(self) -> int:
        """Samples up to now."""
        return self._file.stat().st_size // 4

    def so_far(self) -> Pcm:
        """What was recorded up to now."""
        data = self._file.read_bytes()
        return np.frombuffer(data[: len(data) // 4 * 4], "<f4").copy()


def play(server: PulseServer, pcm: Pcm, sink: str = "micbus") -> None:
    """Play samples (16 kHz) into a sink and wait until they are played."""
    command = ["pacat", "--playback", f"--device={sink}", "--raw", "--format=float32le", "--channels=1"]
    command += [f"--rate={RATE}", "--latency-msec=50"]
    subprocess.run(command, env=server.env, input=pcm.astype("<f4").tobytes(), check=True, timeout=60)
