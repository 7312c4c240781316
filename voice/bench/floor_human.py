"""Recordings of people for the scenes: Debian's pocketsphinx-testdata, alsa-utils, asterisk-core-sounds-en-wav and
hedgewars-data (whose actors groan, laugh and hum).

The recordings are read where Debian's packages put them; what is not installed is told and left out.
"""

from __future__ import annotations

import wave
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import soxr

from voice.audio.base import RATE, Pcm

SPHINX = Path("/usr/share/pocketsphinx/test/data")
ALSA = Path("/usr/share/sounds/alsa")
ALLISON = Path("/usr/share/asterisk/sounds/en_US_f_Allison")
"""US English, 8 kHz."""
ABROAD = {
    name: Path("/usr/share/asterisk/sounds") / folder
    for name, folder in (
        ("es", "es_MX_f_Allison"),
        ("fr", "fr_CA_f_June"),
        ("it", "it_IT_m_Carlo"),
        ("ru", "ru_RU_f_IvrvoiceRU"),
    )
}
"""People who talk in the background, in whatever language."""

ACTORS = Path("/usr/share/games/hedgewars/Data/Sounds/voices")
HALVES = {False: ("British", "Default", "Mobster"), True: ("Pirate", "HillBilly", "Singer")}
"""Actors by whether they are kept."""
TICS = ("Laugh", "Ooff1", "Ooff2", "Ooff3", "Ouch", "Ow1", "Ow2", "Ow3", "Ow4")
HUMS = ("Hmm",)

PACKAGES = {
    SPHINX: "pocketsphinx-testdata",
    ALSA: "alsa-utils",
    ALLISON: "asterisk-core-sounds-en-wav",
    ACTORS: "hedgewars-data",
}

_BOOK = "librivox/sense_and_sensibility_01_austen_64kb"

SAID = {
    SPHINX: {
        "cards/001.wav": "ten of clubs",
        "cards/003.wav": "seven of clubs",
        "cards/005.wav": "eight of spades four of clubs seven of hearts",
        "goforward.raw": "go forward ten meters",
        f"{_BOOK}-0880.wav": "he was not an ill disposed young man",
        f"{_BOOK}-0890.wav": "unless to be rather cold hearted and rather selfish is to be ill disposed",
        "cards/002.wav": "four queen of clubs",
        "cards/004.wav": "five five",
        "something.raw": "go somewhere and do something",
        f"{_BOOK}-0930.wav": "he might even have been made amiable himself",
        f"{_BOOK}-0870.wav": "and mister john dashwood had then leisure to consider how much there might be prudently "
        "in his power to do for them",
    },
    ALSA: {
        "Front_Center.wav": "front center",
        "Rear_Left.wav": "rear left",
        "Side_Right.wav": "side right",
        "Front_Left.wav": "front left",
        "Rear_Right.wav": "rear right",
        "Side_Left.wav": "side left",
    },
    ALLISON: {
        "please-try-again.wav": "please try again",
        "one-moment-please.wav": "one moment please",
        "vm-nomore.wav": "no more messages",
        "do-not-disturb.wav": "do not disturb",
        "something-terribly-wrong.wav": "something is terribly wrong",
        "vm-tooshort.wav": "your message is too short",
        "vm-nonumber.wav": "I'm afraid I don't know who sent this message",
        "conf-muted.wav": "you are now muted",
        "number-not-answering.wav": "the number is not answering",
        "all-circuits-busy-now.wav": "all circuits are busy now",
        "followme/no-recording.wav": "you have an incoming call",
        "vm-isonphone.wav": "is on the phone",
        "vm-pls-try-again.wav": "please try again",
        "vm-sorry.wav": "I'm sorry I did not understand your response",
        "vm-nobodyavail.wav": "nobody is available to take your call at the moment",
        "cannot-complete-as-dialed.wav": "your call cannot be completed as dialed",
        "please-try-call-later.wav": "please try your call again later",
        "conf-onlyperson.wav": "you are currently the only person in this conference",
        "queue-thankyou.wav": "thank you for your patience",
        "check-number-dial-again.wav": "please check the number and dial again",
        "conf-locked.wav": "this conference is locked",
        "hello-world.wav": "hello world",
        "privacy-incorrect.wav": "I'm sorry that number is not valid",
        "tt-monkeysintro.wav": "they have been carried away by monkeys",
    },
}
"""What is said in each recording. In each folder the first half is for tuning, the second is kept."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One recording of a person."""

    path: Path
    text: str
    person: str


def recordings(kept: bool) -> list[Recording]:
    """The recordings of one half that are installed."""
    return [
        Recording(folder / name, said[name], _person(folder, name))
        for folder, said in SAID.items()
        for number, name in enumerate(said)
        if (number >= (len(said) + 1) // 2) == kept and (folder / name).exists()
    ]


def exclamations(kept: bool, names: Sequence[str]) -> list[Recording]:
    """What the actors of one half do without words: `TICS` or `HUMS`."""
    if not can_read_ogg():
        return []
    paths = [ACTORS / actor / f"{name}.ogg" for actor in HALVES[kept] for name in names]
    return [Recording(path, f"({path.stem.lower()})", path.parent.name) for path in paths if path.exists()]


def can_read_ogg() -> bool:
    """Whether the package is there that reads the actors' files."""
    return find_spec("soundfile") is not None


def _person(folder: Path, name: str) -> str:
    if folder == SPHINX:
        return "librivox" if name.startswith(_BOOK) else name.split("/")[0].removesuffix(".raw")
    return "alsa" if folder == ALSA else "allison"


def missing() -> Iterator[str]:
    """Debian packages whose recordings are not there."""
    for folder, package in PACKAGES.items():
        if not folder.exists():
            yield package


def abroad(count: int) -> list[Pcm]:
    """Some sentences of people who speak other languages, for talk in the background; empty if none are installed."""
    clips: list[Pcm] = []
    for folder in ABROAD.values():
        paths = sorted(path for path in folder.glob("*.wav") if 60_000 < path.stat().st_size < 160_000)
        clips += [read(path) for path in paths[:count]]
    return clips


def read(path: Path) -> Pcm:
    """A mono file of 16 bit samples (.wav of any rate, headless .raw of 16 kHz) or an .ogg as 16 kHz samples."""
    if path.suffix == ".ogg":
        sound, rate = import_module("soundfile").read(path, dtype="float32", always_2d=True)
        return np.asarray(soxr.resample(sound.mean(axis=1), rate, RATE), np.float32)
    rate = RATE
    if path.suffix == ".raw":
        raw = path.read_bytes()
    else:
        with wave.open(str(path)) as file:
            rate = file.getframerate()
            raw = file.readframes(file.getnframes())
    pcm: Pcm = np.frombuffer(raw, "<i2").astype(np.float32) / np.float32(32768)
    if rate != RATE:
        pcm = np.asarray(soxr.resample(pcm, rate, RATE), np.float32)
    return pcm
