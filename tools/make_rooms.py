"""Makes the impulse responses of `voice/audio/rooms/`, once, with `pyroomacoustics` (not needed at run time).

usage: python tools/make_rooms.py

Each room is a shoebox (image sources, no ray tracing, so the same result every time) with one loudspeaker, one
microphone and three places where people stand. A file holds, at 16 kHz as float16:

    echo     (n,)   loudspeaker to microphone, unit energy, direct sound at its true distance
    people   (3, m) mouth to microphone, unit energy, direct sound at sample 0
"""

from pathlib import Path

import numpy as np
import pyroomacoustics as pra

RATE = 16000
ECHO = round(0.30 * RATE)
"""Samples kept of the echo: -60 dB is reached by then in both rooms."""
MOUTH = round(0.12 * RATE)
"""Samples kept of a person's response: what comes later is under the noise of the room."""
CENTRE = 40
"""Samples by which pyroomacoustics delays everything (half of its fractional-delay filter)."""

ROOMS = {
    # a stand in a foyer: hard floor, loudspeaker and microphone in one housing, visitors at arm's length or passing
    "kiosk": {
        "size": (9.0, 7.0, 3.2),
        "t60": 0.50,
        "loudspeaker": (2.0, 1.0, 1.0),
        "microphone": (2.0, 1.2, 1.5),
        "people": [(2.1, 1.9, 1.6), (2.8, 2.2, 1.5), (4.5, 3.5, 1.7)],
    },
    # a furnished room: a laptop on a table, people around it
    "living": {
        "size": (4.2, 3.4, 2.6),
        "t60": 0.32,
        "loudspeaker": (1.0, 1.2, 0.9),
        "microphone": (1.5, 1.5, 0.95),
        "people": [(1.9, 1.9, 1.2), (2.6, 1.2, 1.2), (3.2, 2.6, 1.6)],
    },
}


def responses(room):
    """The unscaled responses of all sources at the microphone, in the order loudspeaker, people."""
    absorption, order = pra.inverse_sabine(room["t60"], room["size"])
    box = pra.ShoeBox(room["size"], fs=RATE, materials=pra.Material(absorption), max_order=min(order, 30))
    for place in [room["loudspeaker"], *room["people"]]:
        box.add_source(place)
    box.add_microphone(room["microphone"])
    box.compute_rir()
    return [np.asarray(response) for response in box.rir[0]]


def cut(response, start, length):
    """`length` samples from `start` on, faded out over the last tenth, at unit energy."""
    kept = np.zeros(length)
    part = response[start : start + length]
    kept[: part.size] = part
    tail = length // 10
    kept[-tail:] *= np.linspace(1, 0, tail)
    return (kept / np.sqrt(np.sum(kept**2))).astype(np.float16)


def main():
    """Write one file a room."""
    folder = Path(__file__).parents[1] / "voice" / "audio" / "rooms"
    folder.mkdir(exist_ok=True)
    for name, room in ROOMS.items():
        echo, *people = responses(room)
        heads = [int(np.argmax(np.abs(response))) for response in people]
        path = folder / f"{name}.npz"
        np.savez_compressed(
            path,
            echo=cut(echo, CENTRE, ECHO),
            people=np.stack([cut(p, head, MOUTH) for p, head in zip(people, heads, strict=True)]),
        )
        print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
