"""The PortAudio library: loading it quietly, listing its devices, choosing among them."""

from __future__ import annotations

import contextlib
import ctypes
import difflib
from dataclasses import dataclass
from typing import Any, Literal

from voice.audio.base import RATE, DeviceError

Kind = Literal["input", "output"]

_WORDS = {"input": "microphone", "output": "loudspeaker"}
_SHOWN = 5
"""Names in an error message: one line stays one line."""

_ALSA_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p)
_quiet_alsa = _ALSA_HANDLER(lambda file, line, function, error, format: None)
"""Kept here because ALSA calls it for as long as the process lives."""


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """A sound device as PortAudio sees it; `inputs` and `outputs` are channels, `rate` (Hz) is its own choice."""

    index: int
    name: str
    inputs: int
    outputs: int
    rate: float
    default_input: bool = False
    default_output: bool = False


def library() -> Any:
    """The `sounddevice` module. Raises DeviceError where PortAudio is not installed."""
    try:
        import sounddevice
    except OSError:
        raise DeviceError(
            "PortAudio is not installed; on Debian or Ubuntu: sudo apt-get install libportaudio2"
        ) from None
    with contextlib.suppress(OSError, AttributeError):  # no ALSA here: nothing to quieten
        ctypes.CDLL("libasound.so.2").snd_lib_error_set_handler(_quiet_alsa)
    return sounddevice


def look_again() -> None:
    """Let PortAudio find devices that came or went. Only while no stream is open."""
    sounddevice = library()
    sounddevice._terminate()
    sounddevice._initialize()


def list_devices() -> list[DeviceInfo]:
    """All devices. Raises DeviceError where PortAudio is not installed."""
    sounddevice = library()
    default_input, default_output = sounddevice.default.device
    return [
        DeviceInfo(
            index,
            found["name"],
            found["max_input_channels"],
            found["max_output_channels"],
            found["default_samplerate"],
            index == default_input,
            index == default_output,
        )
        for index, found in enumerate(sounddevice.query_devices())
    ]


def choose(devices: list[DeviceInfo], kind: Kind, wanted: str | int | None) -> DeviceInfo:
    """The device meant by `wanted`: an index, a part of a name (case does not matter), or None for the default.

    A whole name wins over a part of one, then the first in the list. Raises DeviceError, naming what there is.
    """
    word = _WORDS[kind]
    able = [device for device in devices if (device.inputs if kind == "input" else device.outputs) > 0]
    if not able:
        raise DeviceError(f"no {word} was found; plug one in and check that the sound server runs")
    if wanted is None:
        chosen = [device for device in able if (device.default_input if kind == "input" else device.default_output)]
        return (chosen or able)[0]
    if isinstance(wanted, int):
        for device in able:
            if device.index == wanted:
                return device
        numbers = ", ".join(str(device.index) for device in able)
        raise DeviceError(f"no {word} has the number {wanted}; there are: {numbers}")
    part = wanted.casefold()
    for fits in (lambda name: name == part, lambda name: part in name):
        for device in able:
            if fits(device.name.casefold()):
                return device
    names = list(dict.fromkeys(device.name for device in able))
    near = difflib.get_close_matches(wanted, names, n=_SHOWN, cutoff=0.4) or names[:_SHOWN]
    raise DeviceError(f"no {word} is called {wanted!r}; near names: {', '.join(near)}")


def channels(device: DeviceInfo, kind: Kind, rate: int) -> int:
    """1, or 2 where the device takes no mono. Raises DeviceError where it takes neither at `rate` Hz."""
    sounddevice = library()
    check = sounddevice.check_input_settings if kind == "input" else sounddevice.check_output_settings
    reason = ""
    for count in (1, 2):
        try:
            check(device=device.index, channels=count, dtype="float32", samplerate=rate)
        except sounddevice.PortAudioError as error:
            reason = reason or str(error.args[0])
        else:
            return count
    word = _WORDS[kind]
    if "sample rate" in reason.lower():
        raise DeviceError(
            f"the {word} {device.name!r} refuses {rate} Hz (its own rate is {device.rate:.0f} Hz); "
            "choose one behind a sound server, such as 'pulse' or 'default', which converts rates"
        )
    raise DeviceError(f"the {word} {device.name!r} cannot be opened: {reason}; is another program using it?")


def check_sound_card(input: str | int | None, output: str | int | None, rate: int = RATE) -> None:
    """Raises DeviceError unless this microphone and this loudspeaker can be opened at `rate` Hz; see `choose`."""
    devices = list_devices()
    channels(choose(devices, "input", input), "input", rate)
    channels(choose(devices, "output", output), "output", rate)


def has_sound_card(rate: int = RATE) -> bool:
    """Whether there are a microphone and a loudspeaker that can be opened at `rate` Hz."""
    try:
        check_sound_card(None, None, rate)
    except DeviceError:
        return False
    return True
