"""Makes `voice/stt/kinds.npz`, the weights of `voice.stt.kinds`, from synthetic voices and recordings in Debian.

usage: pip install scikit-learn
       apt-get install espeak-ng flite hedgewars-data asterisk-core-sounds-{en,es,fr,it,ru}-wav
       python tools/make_kinds.py

About ten minutes on one core. Every clip is put into a room, under some noise and under the rest of an echo that goes
down when our voice does, cut off at some moment of its first second, and given to Moonshine's encoder.

Left out on purpose, for the figures: espeak's variants f4, m1 and m7 and its accent en-gb-x-rp, Piper, every second
actor of hedgewars-data, pocketsphinx-testdata, alsa-utils, and the recordings and kept phrases of `voice bench floor`.
"""

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import kinds_phrases as said
import kinds_sounds as sounds
import numpy as np
import soundfile
import soxr
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

from voice.bench import floor_human
from voice.stt.base import RATE
from voice.stt.kinds import summary
from voice.stt.moonshine_model import MoonshineModel

TARGET = Path(__file__).parent.parent / "voice/stt/kinds.npz"
KINDS = ("words", "backchannel", "stop", "noise")
ACCENTS = ("en-us", "en-gb", "en-us", "en-gb", "en-gb-scotland", "en-029", "en-gb-x-gbclan", "en-gb-x-gbcwmd")
VARIANTS = ("", "+m2", "+m3", "+m4", "+m5", "+m6", "+m8", "+f1", "+f2", "+f3", "+f5")
FLITE = ("awb", "rms", "slt", "kal16")
ACTORS = ("British", "Default", "Mobster", "Russian", "Surfer")
VOICES = Path("/usr/share/games/hedgewars/Data/Sounds/voices")
TICS = re.compile(r"Ow\d|Ooff|Jump|Laugh|Poison|Ouch|Kamikaze|Firepunch")
ASTERISK = Path("/usr/share/asterisk/sounds")
FOLDERS = {
    "en_US_f_Allison": 160,
    "fr_CA_f_June": 90,
    "it_IT_m_Carlo": 90,
    "ru_RU_f_IvrvoiceRU": 90,
    "es_MX_f_Allison": 40,
}
"""How many recordings of each; whoever speaks another language says words, too."""
LEVEL = 0.05
"""RMS of a voice where it sounds."""
LONGEST = 1.7
"""Seconds kept of a clip."""
LOOKS = 3
"""Moments at which each clip is looked at."""


@dataclass
class Clip:
    """A sound at `LEVEL`; `lead`: samples before it sounds at more than a twentieth of its loudest."""

    kind: str
    pcm: np.ndarray
    lead: int


def clip(kind: str, pcm: np.ndarray, rate: float) -> Clip | None:
    """Without the silence around it; None for silence alone."""
    mono = np.asarray(pcm, np.float32) if pcm.ndim == 1 else pcm.mean(1).astype(np.float32)
    mono = mono if rate == RATE else soxr.resample(mono, rate, RATE)
    frame = RATE // 200
    rms = np.sqrt(np.mean(mono[: len(mono) // frame * frame].reshape(-1, frame) ** 2, axis=1))
    if rms.size < 6 or rms.max() < 1e-4:
        return None
    loud, audible = np.flatnonzero(rms > 0.05 * rms.max()), np.flatnonzero(rms > 0.003 * rms.max())
    lead = min(loud[0] - audible[0], 16) * frame
    start = loud[0] * frame - lead
    level = np.sqrt(np.mean(rms[rms > 0.03 * rms.max()] ** 2))
    return Clip(kind, mono[start : start + lead + round(LONGEST * RATE)] * (LEVEL / level), int(lead))


def espeak(text: str, voice: str, pitch: int, wpm: int) -> tuple[np.ndarray, int]:
    """espeak-ng saying it."""
    command = ["espeak-ng", "-v", voice, "-p", str(pitch), "-s", str(wpm), "--stdout", text]
    wav = subprocess.run(command, capture_output=True, check=True).stdout
    return np.frombuffer(wav[44:], "<i2").astype(np.float32) / 32768, 22050


def flite(text: str, voice: str, stretch: float) -> tuple[np.ndarray, int]:
    """flite saying it."""
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        command = ["flite", "-voice", voice, "--setf", f"duration_stretch={stretch}", "-t", text, "-o", file.name]
        subprocess.run(command, check=True)
        return soundfile.read(file.name, dtype="float32")


def synthetic(rng: np.random.Generator) -> Iterator[Clip | None]:
    """Phrases in many voices. What an engine would spell ("mm") is left to `hums`."""
    for kind, phrases, times in (
        ("words", said.WORDS, 6),
        ("backchannel", said.BACKCHANNELS, 36),
        ("stop", said.STOPS, 36),
    ):
        for phrase in phrases:
            text = phrase[0].upper() + phrase[1:] + "."
            for _ in range(0 if re.search("mm|hm|uh-huh", phrase) else times):
                voice = str(rng.choice(ACCENTS)) + str(rng.choice(VARIANTS))
                yield clip(kind, *espeak(text, voice, int(rng.integers(20, 80)), int(rng.integers(130, 220))))
            for _ in range(0 if re.search("mm|hm", phrase) else times // 3):
                pcm, rate = flite(text, str(rng.choice(FLITE)), rng.uniform(0.75, 1.15))
                yield clip(kind, pcm, rate * rng.uniform(0.85, 1.18))


def recorded(rng: np.random.Generator) -> Iterator[Clip | None]:
    """People."""
    for actor in ACTORS:
        for path in sorted((VOICES / actor).glob("*.ogg")):
            kind = "backchannel" if path.stem == "Hmm" else "noise" if TICS.match(path.stem) else "words"
            if path.stem not in ("Uh-oh", "Yessir"):
                yield clip(kind, *soundfile.read(path, dtype="float32"))
    kept = {name for folder in floor_human.SAID.values() for name in folder}
    for folder, count in FOLDERS.items():
        paths = [path for path in sorted((ASTERISK / folder).rglob("*.wav")) if _is_words(path, kept)]
        for index in rng.permutation(len(paths))[:count]:
            yield clip("words", *soundfile.read(paths[index], dtype="float32"))


def _is_words(path: Path, kept: set[str]) -> bool:
    name = "/".join(path.parts[6:])
    return name not in kept and not re.search(r"beep|tone|silence|tt-|/ha/|pause|/oh\.wav", str(path))


def hums_and_noises(rng: np.random.Generator) -> Iterator[Clip | None]:
    """What no engine says."""
    for _ in range(300):
        yield clip("backchannel", sounds.hum(rng), RATE)
    for make in sounds.NOISES:
        for _ in range(75):
            yield clip("noise", make(rng), RATE)
    for _ in range(300):  # our own voice alone
        yield Clip("noise", np.zeros(RATE, np.float32), 0)


def heard(each: Clip, own: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The clip as it reaches the recogniser, cut off at some moment: room, noise, and an echo that is lowered."""
    seconds = rng.uniform(0.22, 0.6) if rng.random() < 0.7 else rng.uniform(0.6, 0.95)
    early = rng.uniform(-0.06, 0.15) if rng.random() < 0.92 else 0.3
    """Seconds before the onset; the detector may also place it too late."""
    start = round(max(early, 0.0) * RATE)
    count = start + round(seconds * RATE)
    out = rng.standard_normal(count).astype(np.float32) * LEVEL * 10 ** (-rng.uniform(18, 45) / 20)
    voice = np.convolve(each.pcm, sounds.room(rng)) if rng.random() < 0.6 else each.pcm
    voice = voice[max(0, each.lead - start) :]
    at = max(0, start - each.lead)
    voice = voice[: count - at]
    out[at : at + len(voice)] += voice
    if rng.random() < 0.75:
        first = rng.integers(0, len(own) - count)
        lowered = start + round(rng.uniform(0.08, 0.25) * RATE)
        echo = own[first : first + count] * 10 ** (-rng.uniform(8, 30) / 20)
        echo[lowered:] *= 0.1
        out += echo
    cut = round(max(0.0, -early) * RATE)
    return (out * 10 ** rng.uniform(-1.0, 0.5))[cut:].astype(np.float32)


def main() -> None:
    """Make the clips, hear each a few times, train, write."""
    rng = np.random.default_rng(1)
    clips = [each for make in (synthetic, recorded, hums_and_noises) for each in make(rng) if each is not None]
    print(Counter(each.kind for each in clips))
    own = np.concatenate([clip("", *espeak(text, "en-us", 50, 165)).pcm for text in said.OWN])
    model = MoonshineModel()
    inputs, kinds = [], []
    for each in clips:
        for _ in range(LOOKS):
            audio = heard(each, own, rng)
            inputs.append(summary(model.encode(audio), len(audio) / RATE))
            kinds.append(KINDS.index(each.kind))
    scaler = StandardScaler().fit(inputs)
    network = MLPClassifier((32,), alpha=3.0, max_iter=60, early_stopping=True, random_state=0)
    network.fit(scaler.transform(inputs), kinds)
    first = network.coefs_[0] / scaler.scale_[:, None]
    np.savez_compressed(
        TARGET,
        weight1=first.astype(np.float16),
        bias1=(network.intercepts_[0] - scaler.mean_ @ first).astype(np.float32),
        weight2=network.coefs_[1].astype(np.float32),
        bias2=network.intercepts_[1].astype(np.float32),
    )
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes; right: {network.best_validation_score_:.1%}")


if __name__ == "__main__":
    main()
