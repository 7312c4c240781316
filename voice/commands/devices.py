"""`voice devices`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from voice.audio.device import DeviceInfo


def devices() -> None:
    """List the sound devices; * marks the default ones.

    Example: voice devices
    """
    from voice.audio.device import list_devices

    found = list_devices()
    for device in found:
        print(_line(device))
    if not found:
        print("There is no sound device here: voice demo talks through the simulated room instead.")


def _line(device: DeviceInfo) -> str:
    ways = [
        f"{word}{'*' if default else ''} ({channels})"
        for word, channels, default in (
            ("microphone", device.inputs, device.default_input),
            ("loudspeaker", device.outputs, device.default_output),
        )
        if channels
    ]
    return f"{device.index:3}  {device.name}: {', '.join(ways)}, {device.rate:g} Hz"
