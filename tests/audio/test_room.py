"""The room stands in for every loudspeaker and microphone of the tests and the benchmarks: it must not lie."""

import asyncio
import time

import numpy as np
import pytest

from voice.audio.base import BLOCK, RATE, DeviceError
from voice.audio.room import Room
from voice.core.clock import ManualClock
from voice.timeloop import run_virtual


def noise(count: int, level: float = 0.1, seed: int = 3) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(count) * level).astype(np.float32)


def db(pcm: np.ndarray) -> float:
    return 10 * np.log10(np.mean(np.square(pcm, dtype=np.float64)) + 1e-12)


class App:
    """Plays `pcm` from the first block on and keeps what it is told."""

    def __init__(self, pcm: np.ndarray | None = None) -> None:
        self.pcm = np.zeros(0, np.float32) if pcm is None else pcm
        self.dac: list[float] = []
        self.adc: list[float] = []
        self.blocks: list[np.ndarray] = []
        self.lost: list[str] = []

    def render(self, out: np.ndarray, time: float) -> None:
        at = len(self.dac) * BLOCK
        part = self.pcm[at : at + BLOCK]
        out[: part.size] = part
        out[part.size :] = 0
        self.dac.append(time)

    def capture(self, pcm: np.ndarray, time: float) -> None:
        self.adc.append(time)
        self.blocks.append(pcm)

    @property
    def heard(self) -> np.ndarray:
        return np.concatenate(self.blocks)


def opened(app: App, start: float = 50.0, **settings) -> Room:
    room = Room(clock=ManualClock(start), **settings)
    room.open(app.render, app.capture, app.lost.append, drive="hand")
    return room


def run(room: Room, seconds: float) -> None:
    for _ in range(round(seconds * RATE / BLOCK)):
        room.step()


class TestTimes:
    @pytest.mark.parametrize("latency", [0.0, 0.025])
    def test_what_leaves_the_loudspeaker_is_heard_after_the_delay(self, latency):
        """Stamps that are off by a block would make every heard text wrong by a syllable."""
        pcm = np.zeros(RATE, np.float32)
        pcm[1000] = 0.2
        app = App(pcm)
        room = opened(app, response="dry", delay=0.03, echo_db=0, noise_db=-200, latency=latency)
        run(room, 0.5)
        left = app.dac[0] + 1000 / RATE
        heard = app.adc[0] + int(np.argmax(app.heard)) / RATE
        assert left == pytest.approx(50 + latency + 1000 / RATE)
        assert heard - left == pytest.approx(0.03, abs=1e-4)

    def test_the_recordings_share_one_clock(self):
        """conversation.wav must show who spoke when."""
        pcm = np.zeros(RATE, np.float32)
        pcm[800] = 0.5
        app = App(pcm)
        room = opened(app, response="dry", delay=0.01, noise_db=-200, latency=0.02)
        click = np.array([1.0], np.float32)
        room.say(np.append(np.zeros(100, np.float32), click), at=50.2)
        run(room, 0.5)
        assert int(np.argmax(room.loudspeaker)) == 800 + 320
        assert int(np.argmax(room.user)) == 3200 + 100
        assert np.argmax(room.microphone[:2000]) == 800 + 320 + 160
        assert np.array_equal(room.microphone, app.heard)

    @pytest.mark.parametrize("ppm", [100.0, -100.0])
    def test_a_microphone_whose_clock_drifts(self, ppm):
        """Two devices never agree on what a second is; their stamps do, and nothing jumps."""
        tone = 0.1 * np.sin(2 * np.pi * 1000 * np.arange(30 * RATE) / RATE).astype(np.float32)
        app = App(tone)
        room = opened(app, response="dry", echo_db=0, noise_db=-200, drift_ppm=ppm)
        run(room, 30)
        assert len(app.blocks) == pytest.approx(3000 * (1 + ppm * 1e-6), abs=2)
        assert app.adc[-1] == pytest.approx(80, abs=0.031)
        assert np.diff(app.adc) == pytest.approx(0.01 * (1 - ppm * 1e-6), abs=1e-9)
        end = app.heard[-RATE:]
        assert np.argmax(np.abs(np.fft.rfft(end))) == 1000
        carrier = np.exp(-2j * np.pi * np.arange(app.heard.size) / 16)
        phase = np.unwrap(np.angle((carrier * app.heard).reshape(-1, 16).sum(axis=1))[100:])
        assert np.abs(np.diff(phase)).max() < 0.01
        assert phase[-1] - phase[0] == pytest.approx(-2 * np.pi * 1000 * 30 * ppm * 1e-6, rel=0.02)

    def test_a_person_is_heard_when_said(self):
        """Reaction times are measured from the true onset."""
        app = App()
        room = opened(app, noise_db=-90)
        run(room, 0.1)
        start, end = room.say(noise(8000), at=50.5, level_db=-26)
        run(room, 1.5)
        assert (start, end) == (pytest.approx(50.5), pytest.approx(51.0))
        loud = np.flatnonzero(np.abs(app.heard) > 0.003)
        assert app.adc[0] + loud[0] / RATE == pytest.approx(50.5, abs=0.003)
        assert db(app.heard[8000:16000]) == pytest.approx(-26, abs=1)

    def test_a_time_gone_by_means_now(self):
        """Somebody who speaks too late for the script is still heard."""
        room = opened(App())
        run(room, 1.0)
        start, _ = room.say(noise(100), at=50.0)
        assert start == pytest.approx(room.time - BLOCK / RATE)


class TestSound:
    @pytest.mark.parametrize("response", ["kiosk", "living"])
    def test_the_echo_has_the_level_that_was_asked_for(self, response):
        """A benchmark at 0 dB speech to echo must be one."""
        app = App(noise(2 * RATE, 0.02))
        room = opened(app, response=response, echo_db=-10, noise_db=-120)
        run(room, 2)
        assert db(room.microphone[RATE:]) - db(app.pcm) == pytest.approx(-10, abs=0.5)

    @pytest.mark.parametrize("response", ["kiosk", "living"])
    def test_the_walls_answer(self, response):
        """Without reverberation every echo canceller looks perfect."""
        app = App(noise(800, 0.3))
        room = opened(app, response=response, delay=0, noise_db=-120)
        run(room, 0.6)
        assert np.abs(room.microphone[800 + 1600 : 800 + 2400]).max() > 1e-4
        assert np.abs(room.microphone[800 + 4900 :]).max() < 1e-4

    def test_the_noise_floor(self):
        """A recogniser tested in digital silence fails in the first foyer."""
        room = opened(App(), noise_db=-50)
        run(room, 1)
        assert db(room.microphone) == pytest.approx(-50, abs=0.3)

    def test_people_stand_in_different_places(self):
        """Two visitors don't sound as one."""
        heard = []
        for name in ("Ada", "Ben"):
            room = opened(App(), noise_db=-120)
            room.say(noise(10), name="Ada", level_db=-90)
            room.say(noise(4000), at=50.1, name=name)
            run(room, 0.5)
            heard.append(room.user)
        assert not np.allclose(heard[0][2000:], heard[1][2000:], atol=1e-3)

    def test_coughs_clicks_and_thumps(self):
        """False alarms come from these; only people are in the people's recording."""
        room = opened(App(), noise_db=-100)
        room.cough(50.1)
        room.click(50.6)
        room.thump(51.0)
        run(room, 1.5)
        assert db(room.microphone[1600:4000]) > -30
        assert np.abs(room.microphone[9600:9700]).max() > 0.02
        assert db(room.microphone[16000:18000]) > -30
        assert np.abs(room.user[1600:4000]).max() > 0.02
        assert not room.user[9000:].any()

    def test_an_unknown_room(self):
        """A slip in a setting is told in one line with the names that exist."""
        with pytest.raises(DeviceError, match=r"^no room is called 'foyer'; there are: dry, kiosk, living$"):
            Room(response="foyer")


class TestRunning:
    def test_the_same_seed_gives_the_same_samples(self):
        """A failure that was seen once must be seen again."""

        async def scene() -> np.ndarray:
            room = Room(seed=7)
            app = App(noise(RATE, 0.2))
            room.open(app.render, app.capture, app.lost.append)
            await asyncio.sleep(0.2)
            room.say(noise(3000))
            room.cough()
            await asyncio.sleep(1)
            room.close()
            return app.heard

        first, second = run_virtual(scene()), run_virtual(scene())
        assert first.size == pytest.approx(1.2 * RATE, abs=BLOCK)
        assert np.array_equal(first, second)

    def test_virtual_time_and_the_loop_agree(self):
        """A cut at loop time t must fall on the block of time t."""

        async def scene() -> None:
            loop = asyncio.get_running_loop()
            room = Room(latency=0.02)
            late = []
            room.open(
                lambda out, time: late.append(time - 0.02 - loop.time()),
                lambda pcm, time: late.append(time + BLOCK / RATE - loop.time()),
                lambda reason: None,
            )
            await asyncio.sleep(2)
            room.close()
            assert len(late) >= 398
            assert max(map(abs, late)) < 1e-6

        run_virtual(scene())

    def test_real_time_in_a_thread(self):
        """The demo without a sound card runs at the speed of speech."""
        app = App(noise(RATE))
        room = Room()
        room.open(app.render, app.capture, app.lost.append)
        began = time.monotonic()
        while len(app.adc) < 30:
            time.sleep(0.01)
        took = time.monotonic() - began
        room.close()
        count = len(app.adc)
        assert took > 0.25
        assert np.allclose(np.diff(app.adc), BLOCK / RATE)
        time.sleep(0.03)
        assert len(app.adc) == count

    def test_nothing_is_left_behind(self):
        """A closed room leaves no task on the loop."""

        async def scene() -> set:
            room = Room()
            room.open(lambda out, time: None, lambda pcm, time: None, lambda reason: None)
            await asyncio.sleep(0.05)
            room.close()
            room.close()
            await asyncio.sleep(0)
            return asyncio.all_tasks() - {asyncio.current_task()}

        assert run_virtual(scene()) == set()

    def test_lost_and_found(self):
        """A device that goes away and comes back: one notice, and time went on in between."""

        async def scene() -> None:
            app = App(noise(10 * RATE))
            room = Room(noise_db=-120)
            room.open(app.render, app.capture, app.lost.append)
            await asyncio.sleep(1)
            room.lose("unplugged")
            blocks = len(app.dac)
            await asyncio.sleep(1)
            assert app.lost == ["unplugged"]
            assert len(app.dac) == blocks
            room.open(app.render, app.capture, app.lost.append)
            await asyncio.sleep(1)
            room.close()
            assert np.allclose(app.dac[blocks], 2, atol=0.011)
            assert room.loudspeaker.size == pytest.approx(3 * RATE, abs=2 * BLOCK)
            assert abs(room.microphone.size - room.loudspeaker.size) <= BLOCK
            assert not room.loudspeaker[17000:31000].any()

        run_virtual(scene())

    def test_a_callback_that_raises_ends_the_stream(self):
        """As on hardware: the app learns of it instead of waiting for ever."""

        class Broken(App):
            def capture(self, pcm: np.ndarray, time: float) -> None:
                raise KeyError("x")

        async def scene() -> list[str]:
            app = Broken()
            room = Room()
            room.open(app.render, app.capture, app.lost.append, drive="hand")
            with pytest.raises(KeyError):
                await room.run()
            return app.lost

        assert run_virtual(scene()) == ["room (kiosk) stopped: KeyError in a callback"]


def test_a_sound_of_its_own_is_no_person():
    """A slammed door that counts as the user makes every onset in the figures wrong."""
    room, app = Room(response="dry", noise_db=-200.0, clock=ManualClock()), App()
    room.open(app.render, app.capture, app.lost.append, drive="hand")
    begins, ends = room.sound(noise(800), at=0.05, level_db=-20.0)
    for _ in range(20):
        room.step()
    assert (begins, ends) == (pytest.approx(0.05), pytest.approx(0.1))
    heard = np.concatenate(app.blocks)
    assert db(heard[800:1600]) == pytest.approx(-20, abs=1.5)
    assert not room.user.any()


@pytest.mark.parametrize("by", [0.02, -0.02])
def test_the_path_can_jump(by):
    """What a canceller does after a fault in a buffer is measured with this."""
    room, app = Room(response="dry", delay=0.05, noise_db=-200.0, clock=ManualClock()), App(noise(RATE))
    room.open(app.render, app.capture, app.lost.append, drive="hand")
    for number in range(80):
        if number == 40:
            room.jump(by)
        room.step()
    heard, late = np.concatenate(app.blocks), round((0.05 + by) * RATE)
    part = app.pcm[RATE // 2 - late : RATE // 2 - late + 1000]
    assert np.corrcoef(heard[RATE // 2 : RATE // 2 + 1000], part)[0, 1] > 0.99
