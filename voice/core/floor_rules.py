"""The numbers of the floor, for each sensitivity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from voice.core.phrases import Phrases

Sensitivity = Literal["eager", "default", "relaxed"]
"""eager: any sustained voice cuts, for quiet rooms and slow speakers of short answers. default: backchannels and
noises are talked through. relaxed: needs words that can be meant for the machine, for loud halls."""


@dataclass(frozen=True, slots=True)
class FloorRules:
    """What counts as evidence. Durations in seconds."""

    sensitivity: Sensitivity = "default"
    sustained: float | None = 0.55
    """Voice that cuts whatever it says; None: it never does. Few backchannels last longer."""
    held_back: float = 1.1
    """The same for what sounds like a backchannel or a noise: "yeah, yeah, okay" is over by then."""
    hole: float = 0.1
    """Silence that ends a run of voice; shorter ones are consonants."""
    odds: Sequence[tuple[float, float]] = ((0.2, 4.0), (0.29, 3.0), (0.39, 1.5))
    """(seconds of voice, odds that something is said): from so much voice on so great odds (natural logarithm) cut. In
    scenes for tuning at 0 dB half of the interruptions cut within 0.44 s (with 6, 4, 2: 0.51), and 4 % of backchannels
    (the same). Empty: sounds are no evidence."""
    stop_sound: float = 0.95
    """Probability of a stop phrase that cuts with odds of one less."""
    stop_doubt: float = 0.2
    """Probability of a stop phrase below which one is not read for the first time."""
    unlikely: float = 0.5
    """Probability of a backchannel or a noise from which the voice is not stopped for what is read."""
    surely_not: float = 0.7
    """The same for a whole utterance, of less than `brief`."""
    brief: float = 0.8
    min_voiced: float = 0.5
    """Voice before the words of a partial are believed: on less the recogniser often reads the wrong words, though it
    is right that somebody speaks. Stop phrases need no minimum."""
    enough_words: int = 2
    """Words for us in one reading that need no second reading to agree."""
    near_db: float | None = None
    """dB relative to our own voice at full level, both at the microphone, below which somebody does not speak to us;
    None: everybody does."""
    give_up: float = 0.7
    """Silence after which a ducked voice comes back without waiting for the recogniser any longer."""
    window: float = 2.0
    """Time after a duck in which evidence must come."""
    ring: float = 0.4
    """Time after which our voice is heard no more at the level that it had before it was lowered: the longest delay of
    devices (0.25) and the room's reverberation."""
    faint_db: float = -14.0
    """dB relative to our own voice at full level, both at the microphone, below which it is what the canceller leaves
    of it."""
    blip: float = 0.1
    """Voice below which nothing was said, whatever the recogniser reads: a 0.3 s cough makes the detector fire for
    0.1 s, a short "no" for 0.2 s."""
    short: float = 0.25
    """Voice below which only a stop phrase or a short answer is believed while the voice plays, and a noise word is
    not believed at all."""
    doubt: float = 1.5
    """Time after which voice activity without any recognised word does not keep the next message waiting: a noisy
    hall must not silence the program."""
    longest: float = 90.0
    """Time without a sign of life after which an utterance that never ended is forgotten: the ears have died."""
    phrases: Phrases = field(default_factory=Phrases)

    @classmethod
    def of(cls, sensitivity: Sensitivity) -> FloorRules:
        """The rules of a sensitivity."""
        match sensitivity:
            case "eager":
                return cls(sensitivity, sustained=0.128)
            case "default":
                return cls()
            case "relaxed":
                return cls(sensitivity, sustained=None, odds=(), window=1.2, near_db=-10.0)

    def __post_init__(self) -> None:
        if self.sensitivity not in get_args(Sensitivity):
            raise ValueError(f"sensitivity is one of {', '.join(get_args(Sensitivity))}")
