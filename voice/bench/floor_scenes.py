"""The scenes of `voice bench floor`, drawn from a seed: who says what, where, how loud, how soon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal, get_args

from voice.bench.floor_human import HUMS, exclamations
from voice.bench.floor_human import TICS as ACTORS_TICS
from voice.bench.floor_phrases import KEPT, MESSAGES, TUNING, Phrases
from voice.bench.floor_voices import Key, human_clips, key_of, people

Kind = Literal["interruption", "pause", "stop", "backchannel", "tic", "others", "background", "silence", "idle"]
"""interruption: two words and more for us. pause: the same with a pause for thought in it. stop: a stop phrase.
backchannel: a sign that one listens. tic: noises of people and things. others: talk to somebody else in the room.
background: talk by others, television, music. silence: nobody but us. idle: not even we."""

KINDS: tuple[Kind, ...] = get_args(Kind)

FOR_US: tuple[Kind, ...] = ("interruption", "pause", "stop")
"""In these somebody wants the floor."""

TICS = ("cough", "throat", "sniff", "click", "thump", "slam")
GROAN = "groan"
"""Recorded: somebody groans or laughs."""
BACKGROUNDS = ("babble", "television", "music")

HEADS = {False: (1.0,), True: (0.86, 1.14)}
"""Whose hum is whose, by whether they are kept."""

ROOMS = ("kiosk", "living", "dry")

COLD_ONSETS, WARM_ONSETS = (0.5, 5.0), (6.0, 10.0)
"""Seconds after our own first sample in which somebody begins: while the filters learn the way of the echo, which
happens once in a session and after a fault of a device, and later, as nearly always."""

COLD_SHARE = 0.25
"""Of the scenes."""

DELAYS = (0.02, 0.25)
"""Seconds between loudspeaker and microphone beside the walls."""

LEVELS = (-10.0, 6.0)
"""dB of the person relative to our echo at the microphone."""

HUMAN_SHARE = 0.4
"""Of the interruptions, as far as recordings are installed."""

LOUD_TICS = (-6.0, 6.0)
"""dB relative to our echo."""

AWAY = (-12.0, -4.0)
"""dB of somebody who speaks to another person, relative to our echo."""

BACKGROUND_DB = (-18.0, -6.0)
"""dB of talk, television and music relative to our echo."""

PAUSES = (0.2, 0.6)
"""Seconds of a pause for thought."""

SILENT_MINUTE = 60.0
"""Seconds of a scene of our own voice."""

IDLE = 20.0
"""Seconds of a scene without any voice."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One scene; everything in it follows from these values."""

    kind: Kind
    number: int
    seed: int
    message: int
    room: str
    delay: float
    """Seconds."""
    level_db: float
    """Of the person relative to our echo at the microphone."""
    onset: float
    """Seconds after our first sample."""
    voice: str = ""
    text: str = ""
    """The words, as they count for word errors."""
    clips: tuple[Key, ...] = ()
    pause: float = 0.0
    """Seconds between two clips."""
    tic: str = ""
    heads: tuple[float, ...] = (1.0,)
    """Of those who hum: how far their resonances are from the usual ones."""
    background: str = ""
    background_db: float = 0.0
    """Relative to our echo."""
    seconds: float = 0.0
    """Of scenes without a person."""
    jumps: tuple[tuple[float, float], ...] = ()
    """(when, by how many seconds) the echo's path jumps."""
    drift_ppm: float = 0.0
    required: bool = True
    """At 0 dB in a quiet room: what the targets are about."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How many scenes of each kind."""

    counts: dict[Kind, int]
    seed: int = 1
    kept: bool = False
    drift_minutes: int = 0
    kinds: Sequence[Kind] = field(default=KINDS)

    def scenes(self) -> list[Scene]:
        """All of them; a smaller plan of the same seed is a part of a greater one."""
        chosen = [kind for kind in KINDS if kind in self.kinds]
        made = [_draw(kind, n, self) for kind in chosen for n in range(self.counts.get(kind, 0))]
        if "silence" in chosen:
            made += [_silence(n, self, drift_ppm=60.0) for n in range(self.drift_minutes)]
        return made


def _draw(kind: Kind, number: int, plan: Plan) -> Scene:
    if kind == "silence":
        return _silence(number, plan)
    random = Random(f"{plan.seed} {kind} {number}")
    phrases = KEPT if plan.kept else TUNING
    required = number % 3 != 2
    noisy = not required and random.random() < 0.5
    cold = random.random() < COLD_SHARE
    scene = _Draft(
        level_db=0.0 if required else round(random.uniform(*LEVELS), 1),
        background=random.choice(BACKGROUNDS) if noisy else "",
        background_db=round(random.uniform(*BACKGROUND_DB), 1),
        onset=round(random.uniform(*(COLD_ONSETS if cold else WARM_ONSETS)), 3),
    )
    _cast(scene, kind, random, phrases, plan.kept)
    return Scene(
        kind=kind,
        number=number,
        seed=random.randrange(2**31),
        message=random.randrange(len(MESSAGES)),
        room=random.choice(ROOMS),
        delay=round(random.uniform(*DELAYS), 3),
        required=required,
        level_db=scene.level_db,
        background=scene.background,
        background_db=scene.background_db,
        onset=scene.onset,
        voice=scene.voice,
        text=scene.text,
        clips=scene.clips,
        pause=scene.pause,
        tic=scene.tic,
        heads=HEADS[plan.kept],
        seconds=scene.seconds,
    )


@dataclass(slots=True)
class _Draft:
    level_db: float
    background: str
    background_db: float
    onset: float
    voice: str = ""
    text: str = ""
    clips: tuple[Key, ...] = ()
    pause: float = 0.0
    tic: str = ""
    seconds: float = 0.0


def _cast(scene: _Draft, kind: Kind, random: Random, phrases: Phrases, kept: bool) -> None:
    """Who does what."""
    person = random.choice(people(kept)).name
    match kind:
        case "interruption" if (humans := human_clips(kept)) and random.random() < HUMAN_SHARE:
            key, scene.text = random.choice(humans)
            scene.voice, scene.clips = key[0], (key,)
        case "interruption" | "stop" | "backchannel" | "others":
            said: dict[Kind, tuple[str, ...]] = {
                "interruption": phrases.interruption,
                "stop": phrases.stop,
                "backchannel": (*phrases.backchannel, "(mm-hm)", "(mm)", "(hmm)"),
                "others": phrases.others,
            }
            scene.text, scene.voice = random.choice(said[kind]), person
            hums = exclamations(kept, HUMS)
            if scene.text == "(hmm)" and hums:
                scene.clips = (key_of(random.choice(hums)),)
                scene.voice = scene.clips[0][0]
            elif scene.text.startswith("("):
                scene.voice = "hum"
            else:
                scene.clips = ((person, scene.text),)
            if kind == "others":
                scene.level_db = round(random.uniform(*AWAY), 1)
        case "pause":
            first, second = random.choice(phrases.pause)
            scene.voice, scene.text = person, f"{first} {second}"
            scene.clips, scene.pause = ((person, first), (person, second)), round(random.uniform(*PAUSES), 2)
        case "tic":
            scene.level_db = round(random.uniform(*LOUD_TICS), 1)
            actors = exclamations(kept, ACTORS_TICS)
            scene.tic = random.choice((*TICS, GROAN, GROAN) if actors else TICS)
            if scene.tic == GROAN:
                scene.clips = (key_of(random.choice(actors)),)
                scene.voice = scene.clips[0][0]
        case "background":
            scene.background, scene.seconds, scene.onset = random.choice(BACKGROUNDS), 14.0, 6.0
        case "idle":
            scene.background, scene.seconds = "", IDLE
        case "silence":
            raise ValueError("scenes of silence are drawn apart")


def _silence(number: int, plan: Plan, drift_ppm: float = 0.0) -> Scene:
    random = Random(f"{plan.seed} silence {number}")
    jumps = tuple(
        (round(random.uniform(8, SILENT_MINUTE - 8), 2), round(random.choice((-1, 1)) * random.uniform(0.01, 0.04), 4))
        for _ in range(2 if number % 2 else 0)
    )
    return Scene(
        kind="silence",
        number=number,
        seed=random.randrange(2**31),
        message=random.randrange(len(MESSAGES)),
        room=ROOMS[number % len(ROOMS)],
        delay=round(random.uniform(*DELAYS), 3),
        level_db=0.0,
        onset=0.0,
        seconds=SILENT_MINUTE,
        jumps=() if drift_ppm else jumps,
        drift_ppm=drift_ppm,
    )
