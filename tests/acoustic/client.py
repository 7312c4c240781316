"""The program under test in the acoustic tests: a real `SoundCard`, told what to do by name, answers in JSON lines.

It runs in a process of its own because PortAudio reads the sound server's address once, when it is loaded.
"""

import json
import sys
import threading
import time

import numpy as np

from voice.audio.base import BLOCK, RATE
from voice.audio.chain import Chain
from voice.audio.device import SoundCard, has_sound_card, list_devices
from voice.audio.echo import Cleaned, NoCanceller
from voice.audio.player import Player


def signal(seconds: float, seed: int = 1) -> np.ndarray:
    """Noise in which no sample is zero, so that samples and silence are told apart."""
    rng = np.random.default_rng(seed)
    count = round(seconds * RATE)
    return (rng.uniform(0.05, 0.5, count) * rng.choice([-1, 1], count)).astype(np.float32)


def tell(**what) -> None:
    print(json.dumps(what), flush=True)


def until(met, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not met():
        if time.monotonic() > end:
            raise TimeoutError("the device did not do it in time")
        time.sleep(0.002)


class Told:
    """Keeps what the device calls `lost` with, and when."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self.reasons: list[str] = []

    def lost(self, reason: str) -> None:
        self.at = time.monotonic()
        self.reasons.append(reason)
        self.event.set()


def nothing(pcm: np.ndarray, time: float) -> None:
    """Ears that do not listen."""


def play(seconds: str) -> None:
    """One and a half blocks, a pause, then the signal to its end."""
    player, card, told = Player(), SoundCard(), Told()
    card.open(player.render, nothing, told.lost)
    player.enqueue("m", 0, signal(0.015, seed=2))
    player.silence(0.1)
    player.enqueue("m", 1, signal(float(seconds)))
    until(lambda: player.queued() == 0)
    time.sleep(0.2)
    spans = player.played().spans
    card.close()
    tell(
        spans=[(s.message_id, s.clause, s.sample, s.count) for s in spans],
        lost=told.reasons,
        underflows=card.underflows,
    )


def stop(after: str) -> None:
    """Stop in mid-signal."""
    player, card, told = Player(), SoundCard(), Told()
    card.open(player.render, nothing, told.lost)
    player.enqueue("m", 0, signal(20))
    until(lambda: player.queued() < 20 - float(after))
    stopped = player.stop()
    time.sleep(0.3)
    first = stopped.spans[0].frame
    card.close()
    tell(heard=sum(s.count for s in stopped.spans), frame=stopped.frame, first=first)


def hear(seconds: str) -> None:
    """Record the microphone with its stamps and the time of each callback."""
    blocks, stamps, calls = [], [], []

    def capture(pcm: np.ndarray, stamp: float) -> None:
        blocks.append(pcm)
        stamps.append(stamp)
        calls.append(time.monotonic())

    card = SoundCard()
    card.open(Player().render, capture, Told().lost)
    until(lambda: len(blocks) > 5)
    tell(listening=True)
    until(lambda: len(blocks) * BLOCK > float(seconds) * RATE, 60)
    card.close()
    np.save(sys.argv[3], np.concatenate(blocks))
    tell(stamps=stamps, calls=calls, overflows=card.overflows)


def loop() -> None:
    """With the loudspeaker wired to the microphone: what the chain says was played against what was heard."""
    far, mic = [], []

    class Recorder(NoCanceller):
        def process(self, mic_block: np.ndarray, far_block: np.ndarray) -> Cleaned:
            far.append(far_block)
            mic.append(mic_block)
            return super().process(mic_block, far_block)

    player, card = Player(), SoundCard()
    chain = Chain(player, Recorder(), lambda *heard: None, threaded=True)
    card.open(chain.render, chain.capture, Told().lost)
    player.silence(1.0)
    player.enqueue("m", 0, signal(4))
    until(lambda: player.queued() == 0)
    time.sleep(0.3)
    card.close()
    chain.close()
    np.savez(sys.argv[2], far=np.concatenate(far), mic=np.concatenate(mic))
    tell(dropped=chain.dropped, jumps=chain.reference.jumps)


def lose() -> None:
    """Play until the device is lost; then, at a line on standard input, open it again and play on."""
    player, card, told = Player(), SoundCard(), Told()
    card.open(player.render, nothing, told.lost)
    player.enqueue("m", 0, signal(60))
    until(lambda: player.frames > RATE // 2)
    tell(playing=True)
    told.event.wait(20)
    began = time.monotonic()
    frames = player.frames
    card.close()
    tell(reasons=told.reasons, at=told.at if told.reasons else None, closed_in=time.monotonic() - began)
    if not sys.stdin.readline():
        return
    card.reopen()
    until(lambda: player.frames > frames + RATE // 4)
    card.close()
    tell(reopened=True, threads=[t.name for t in threading.enumerate() if t is not threading.main_thread()])


def hold_up() -> None:
    """Play while the callback is held up three times."""
    player, card, told = Player(), SoundCard(), Told()
    held = [1.0, 1.3, 1.6]

    def render(out: np.ndarray, stamp: float) -> None:
        if held and player.frames > held[0] * RATE:
            del held[0]
            time.sleep(0.06)
        player.render(out, stamp)

    card.open(render, nothing, told.lost)
    before = card.buffer
    player.enqueue("m", 0, signal(3.5))
    until(lambda: player.queued() == 0)
    time.sleep(0.2)
    card.close()
    tell(before=before, after=card.buffer, dry=card.underflows, lost=told.reasons)


def look() -> None:
    """What is there."""
    tell(sound_card=has_sound_card(), devices=[device.name for device in list_devices()])


if __name__ == "__main__":
    actions = {"play": play, "stop": stop, "hear": hear, "loop": loop, "lose": lose, "look": look, "hold_up": hold_up}
    arguments = {"play": 1, "stop": 1, "hear": 1}
    action = sys.argv[1]
    actions[action](*sys.argv[2 : 2 + arguments.get(action, 0)])
