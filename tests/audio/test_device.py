"""The sound card: which device is meant, when one is lost, and what an operator reads when it does not work.

What the card plays and hears is tested in real time, in tests/acoustic.
"""

import subprocess
import sys

import pytest

from voice.audio.base import DeviceError
from voice.audio.device import LOOK, DeviceInfo, SoundCard
from voice.audio.portaudio import choose
from voice.audio.watchdog import SILENT, STARTING, Watchdog

DEVICES = [
    DeviceInfo(0, "HDA Intel PCH: ALC257 Analog (hw:0,0)", 2, 2, 44100.0),
    DeviceInfo(1, "HDMI 0", 0, 8, 48000.0),
    DeviceInfo(2, "Jabra SPEAK 510 USB", 1, 2, 16000.0),
    DeviceInfo(3, "default", 32, 32, 44100.0, default_input=True, default_output=True),
]


class TestChoice:
    @pytest.mark.parametrize(
        ("kind", "wanted", "index"),
        [
            ("output", None, 3),
            ("input", None, 3),
            ("output", "jabra", 2),
            ("input", "Analog", 0),
            ("output", 1, 1),
            ("output", "default", 3),
        ],
    )
    def test_by_part_of_a_name_by_number_or_by_default(self, kind, wanted, index):
        """The kiosk's loudspeaker is found again by its name after the numbers changed."""
        assert choose(DEVICES, kind, wanted).index == index

    def test_a_whole_name_wins(self):
        """ "USB" must not mean "USB Hub" when both are there."""
        devices = [DeviceInfo(0, "USB Hub", 1, 1, 48000.0), DeviceInfo(1, "USB", 1, 1, 48000.0)]
        assert choose(devices, "input", "usb").index == 1

    @pytest.mark.parametrize(
        ("kind", "wanted", "message"),
        [
            ("output", "jarba", "no loudspeaker is called 'jarba'; near names: .*Jabra SPEAK 510 USB.*"),
            ("input", "HDMI", "no microphone is called 'HDMI'; near names: .*default.*"),
            ("input", 1, "no microphone has the number 1; there are: 0, 2, 3"),
        ],
    )
    def test_an_unknown_one_is_told_with_what_there_is(self, kind, wanted, message):
        """An operator mends a setting from the message alone."""
        with pytest.raises(DeviceError, match=f"^{message}$") as raised:
            choose(DEVICES, kind, wanted)
        assert "\n" not in str(raised.value)

    def test_none_at_all(self):
        """A machine without a loudspeaker is told so, in one line."""
        with pytest.raises(DeviceError, match=r"^no loudspeaker was found; plug one in and check that"):
            choose([DeviceInfo(0, "mic", 1, 0, 48000.0)], "output", None)


def looks(watchdog, start, end, loudspeaker, microphone):
    """What the watchdog says first, and when, looking every `LOOK` from `start` to `end`."""
    now = start
    while now < end:
        reason = watchdog.look(now, loudspeaker(now), microphone(now))
        if reason:
            return reason, now
        now += LOOK
    return None, now


class TestWatchdog:
    def test_while_both_call_nothing_is_lost(self):
        """A false alarm cuts a visitor off in mid-sentence."""
        assert looks(Watchdog(0.0), 0.0, 60.0, lambda now: now, lambda now: now - 0.04)[0] is None

    @pytest.mark.parametrize("name", ["loudspeaker", "microphone"])
    def test_a_device_that_stops_calling(self, name):
        """PortAudio can end without a word; the kiosk must not stand there deaf."""
        stops = {"loudspeaker": lambda now: now, "microphone": lambda now: now} | {name: lambda now: min(now, 0.7)}
        reason, when = looks(Watchdog(0.0), 0.0, 10.0, **stops)
        assert reason == f"the {name} gave no sign of life for 0.3 s"
        assert when == pytest.approx(0.7 + SILENT, abs=2 * LOOK)

    def test_a_device_that_never_starts(self):
        """A Bluetooth loudspeaker gets two seconds to wake up, not more."""
        reason, when = looks(Watchdog(0.0), 0.0, 10.0, lambda now: None, lambda now: now)
        assert reason == "the loudspeaker did not start within 2 s"
        assert when == pytest.approx(STARTING, abs=2 * LOOK)

    def test_a_program_that_was_held_up_blames_nobody(self):
        """After the lid was closed for a minute the callbacks come late, as does the watchdog itself."""
        watchdog = Watchdog(0.0)
        looks(watchdog, 0.0, 1.0, lambda now: now, lambda now: now)
        assert watchdog.look(61.0, 1.0, 1.0) is None
        assert watchdog.look(61.05, 1.0, 1.0) is None
        reason, when = looks(watchdog, 61.1, 70.0, lambda now: 1.0, lambda now: 1.0)
        assert reason
        assert when == pytest.approx(61.0 + SILENT, abs=2 * LOOK)


class TestWithoutDevices:
    def test_without_the_library(self):
        """The command that mends it is in the message."""
        program = (
            "import ctypes.util; ctypes.util.find_library = lambda name: None\n"
            "from voice.audio.device import SoundCard, has_sound_card\n"
            "assert not has_sound_card()\n"
            "SoundCard().open(None, None, None)"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        assert done.stderr.splitlines()[-1].endswith(
            "DeviceError: PortAudio is not installed; on Debian or Ubuntu: sudo apt-get install libportaudio2"
        )

    def test_open_comes_before_reopen(self):
        """A slip of the program is told as one."""
        with pytest.raises(DeviceError, match="open it first"):
            SoundCard().reopen()

    def test_closing_what_was_never_open(self):
        """Shutdown runs through all parts, whatever state they are in."""
        card = SoundCard()
        card.close()
        card.close()
