"""The chain carries every sound between the device and the ears, and must never hold the device up."""

import asyncio
import threading

import numpy as np
import pytest

from voice.audio.base import BLOCK, RATE, SILENCE_DB
from voice.audio.chain import LONGEST_QUEUE, Chain
from voice.audio.echo import Cleaned, NoCanceller, WebRtcCanceller
from voice.audio.player import Player
from voice.audio.reference import LATE
from voice.audio.room import Room
from voice.timeloop import run_virtual


def noise(count: int, level: float = 0.1, seed: int = 3) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(count) * level).astype(np.float32)


class Ears:
    """Keeps what it hears; holds the audio thread up while `free` is not set."""

    def __init__(self) -> None:
        self.heard: list[tuple[np.ndarray, np.ndarray, float]] = []
        self.free = threading.Event()
        self.free.set()
        self.enough = threading.Semaphore(0)

    def hear(self, gate: np.ndarray, speech: np.ndarray, time: float, echo_db: float, settled: bool) -> None:
        self.free.wait(10)
        self.heard.append((gate, speech, time))
        self.enough.release()

    def wait_for(self, count: int) -> None:
        for _ in range(count):
            assert self.enough.acquire(timeout=10)


class RecordingCanceller(NoCanceller):
    """Passes the microphone on and keeps what it was told was played."""

    delay = 32

    def __init__(self) -> None:
        self.far: list[np.ndarray] = []
        self.changes = 0

    def process(self, mic: np.ndarray, far: np.ndarray) -> Cleaned:
        self.far.append(far)
        return Cleaned(mic, mic, -42.0)

    def path_changed(self) -> None:
        self.changes += 1


class TestInTheRoom:
    def test_the_reference_is_what_was_played(self):
        """In a room without walls the echo is the reference, to the sample, whatever the device's latency."""

        async def scene() -> None:
            player, canceller, ears = Player(), RecordingCanceller(), Ears()
            chain = Chain(player, canceller, ears.hear, threaded=False)
            room = Room(response="dry", delay=0, echo_db=0, noise_db=-200, latency=0.0237)
            room.open(chain.render, chain.capture, lambda reason: None)
            player.enqueue("m", 0, noise(RATE, 0.01))
            await asyncio.sleep(1.5)
            room.close()
            far = np.concatenate(canceller.far)
            assert np.abs(far).max() > 0.01
            assert np.allclose(far[LATE:], room.microphone[:-LATE], atol=2e-4)  # less the saturation of the loudspeaker
            assert canceller.changes == 0

        run_virtual(scene())

    def test_times_are_those_of_the_microphone(self):
        """The canceller's own delay must not make the user seem later than he was."""

        async def scene() -> None:
            ears = Ears()
            chain = Chain(Player(), WebRtcCanceller(), ears.hear, threaded=False)
            room = Room(noise_db=-80)
            room.open(chain.render, chain.capture, lambda reason: None)
            await asyncio.sleep(1)
            onset, _ = room.say(noise(8000), at=1.5, level_db=-20)
            await asyncio.sleep(1)
            room.close()
            loud = next((gate, time) for gate, _, time in ears.heard if np.abs(gate).max() > 0.02)
            heard = loud[1] + int(np.argmax(np.abs(loud[0]) > 0.02)) / RATE
            assert heard == pytest.approx(onset, abs=0.004)

        run_virtual(scene())

    def test_our_own_voice_is_not_in_the_gate(self):
        """The whole chain in the kiosk: the loudspeaker is 20 dB down when the ears get it."""

        async def scene() -> None:
            player, ears = Player(), Ears()
            chain = Chain(player, WebRtcCanceller(), ears.hear, threaded=False)
            room = Room(latency=0.03)
            room.open(chain.render, chain.capture, lambda reason: None)
            syllables = np.clip(np.sin(2 * np.pi * 4 * np.arange(5 * RATE) / RATE), 0, 1).astype(np.float32)
            player.enqueue("m", 0, noise(5 * RATE, 0.15) * syllables)
            await asyncio.sleep(5)
            room.close()
            gate = np.concatenate([block for block, _, _ in ears.heard])
            part = slice(2 * RATE, 5 * RATE - BLOCK)
            assert np.std(gate[part]) < 0.13 * np.std(room.microphone[part])

        run_virtual(scene())

    def test_a_device_that_was_lost_changes_the_path(self):
        """After another device took over, what the canceller learnt is of the past."""

        async def scene() -> None:
            canceller = RecordingCanceller()
            chain = Chain(Player(), canceller, Ears().hear, threaded=False)
            room = Room()
            room.open(chain.render, chain.capture, lambda reason: None)
            await asyncio.sleep(1)
            room.lose("unplugged")
            await asyncio.sleep(1)
            room.open(chain.render, chain.capture, lambda reason: None)
            await asyncio.sleep(1)
            room.close()
            assert canceller.changes >= 1

        run_virtual(scene())

    def test_the_meters(self):
        """An operator sees whether the microphone hears anything."""

        async def scene() -> None:
            player = Player()
            chain = Chain(player, NoCanceller(), Ears().hear, threaded=False)
            assert chain.levels.microphone == SILENCE_DB
            room = Room(echo_db=-10, noise_db=-60)
            room.open(chain.render, chain.capture, lambda reason: None)
            await asyncio.sleep(0.5)
            assert chain.levels.loudspeaker == SILENCE_DB
            assert chain.levels.microphone == pytest.approx(-60, abs=2)
            player.enqueue("m", 0, noise(RATE, 0.1))
            await asyncio.sleep(0.9)
            assert chain.levels.loudspeaker == pytest.approx(-20, abs=2)
            assert chain.levels.microphone == pytest.approx(-30, abs=3)
            room.close()

        run_virtual(scene())


class TestTheThread:
    def test_in_order_and_apart_from_the_device(self):
        """Blocks reach the ears in their order, and the device does not wait for the ears."""
        ears = Ears()
        chain = Chain(Player(), NoCanceller(), ears.hear, threaded=True)
        ears.free.clear()
        for k in range(20):
            chain.capture(np.full(BLOCK, k / 100, np.float32), k * 0.01)
        assert not ears.heard
        ears.free.set()
        ears.wait_for(20)
        chain.close()
        assert [time for _, _, time in ears.heard] == [k * 0.01 for k in range(20)]
        assert chain.dropped == 0

    def test_a_slow_thread_loses_the_oldest_and_says_so(self):
        """On a machine that is too slow the newest sound counts, memory stays bounded, and the operator knows."""
        ears, told = Ears(), []
        chain = Chain(
            Player(), NoCanceller(), ears.hear, threaded=True, notice=lambda code, text: told.append((code, text))
        )
        ears.free.clear()
        total = LONGEST_QUEUE + 30
        for k in range(total):
            chain.capture(np.zeros(BLOCK, np.float32), float(k))
        ears.free.set()
        ears.wait_for(total - chain.dropped)
        chain.close()
        assert chain.dropped in (29, 30)
        assert ears.heard[-1][2] == total - 1
        assert told == [
            ("audio_overload", f"{chain.dropped} microphone blocks of 10 ms dropped; the machine is too busy")
        ]

    def test_nothing_is_left_behind(self):
        """A closed chain has no thread."""
        before = threading.active_count()
        chain = Chain(Player(), NoCanceller(), Ears().hear, threaded=True)
        chain.capture(np.zeros(BLOCK, np.float32), 0.0)
        chain.close()
        chain.close()
        assert threading.active_count() == before

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
    def test_a_failure_is_told(self):
        """Ears that fail must not look like a quiet room."""
        told = threading.Event()

        def broken(gate: np.ndarray, speech: np.ndarray, time: float, echo_db: float, settled: bool) -> None:
            raise KeyError("x")

        chain = Chain(Player(), NoCanceller(), broken, threaded=True, notice=lambda code, text: told.set())
        chain.capture(np.zeros(BLOCK, np.float32), 0.0)
        assert told.wait(10)
        chain.close()
