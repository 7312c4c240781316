"""One scene: the real room, player, audio chain, ears, session and conversation on the virtual clock.

What is left out, and said so in the figures: the latency of audio devices, and whatever the processor takes but for
the recogniser's decodes.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

from voice.app.conversation import Conversation
from voice.audio import noises
from voice.audio.activity import Activity
from voice.audio.base import RATE, Pcm
from voice.audio.echo import Cleaned, NoCanceller
from voice.audio.people import active_level, at_level, click, cough, thump
from voice.audio.player import Player
from voice.audio.response import convolve, load
from voice.audio.room import Room
from voice.bench.floor_measure import begins_and_ends, fell_silent, went_down, with_pause
from voice.bench.floor_outcome import Log, Outcome
from voice.bench.floor_parts import MeteredChain, OneSidedServer, Rendered, RenderedVoice, TimedRecogniser
from voice.bench.floor_phrases import MESSAGES
from voice.bench.floor_scenes import FOR_US, Scene
from voice.bench.floor_variants import END_SILENCE, Variant
from voice.bench.floor_voices import Key
from voice.config import Config
from voice.core.session import Session, SessionRules
from voice.stt.endpoint import EndpointRules
from voice.stt.listener import Listener
from voice.timeloop import LoopClock, run_virtual

ECHO_DB = -6.0
"""The room's default: our voice comes back about as loud as a person speaks."""

_NOISE_DB = -60.0
"""dBFS of the room's own noise."""

_SPOKEN_DB = -26.0
"""dBFS at which the clips of one sentence are joined; the room sets the level."""

_STEP = 0.05
"""Seconds between two looks whether a scene is over."""

_AFTER = 2.6
"""Seconds after the person's end that a scene goes on at most: longer than any decision may take."""

_SETTLE = 1.3
"""Seconds after the person's end before a scene may be over: the end of turn, its last decode and what follows from
it take 0.7 s, and a second message of one utterance would come by then."""

_FADE = 0.05
"""Seconds after a decision to cut in which the last audible sample is looked for; the fade takes 10 ms."""

_DEAF = "deaf"
"""The variant that hears nothing."""

_WORDS_AROUND = (0.3, 0.5)
"""Seconds of a clip before and after its voice that the recogniser gets when it reads it without our voice."""

_LONGEST_SCENE = 18.0
"""Seconds; but for those of our own voice."""

_MOST_MESSAGES = 6
"""Of our own in a row; more than a minute of voice."""


@dataclass(slots=True)
class World:
    """What the scenes of one process share."""

    clips: Mapping[Key, Pcm]
    rendered: Rendered
    talk: Sequence[Pcm]
    """For talk in the background."""
    recogniser: TimedRecogniser
    detector: Activity
    early: Activity
    undisturbed: dict[int, Pcm] = field(default_factory=dict)
    """What the loudspeaker gives when nobody speaks, by message."""


def play(scene: Scene, variant: Variant, world: World) -> Outcome:
    """Play one scene on a clock of its own."""
    undisturbed(world, scene.message)
    return run_virtual(_Stage(scene, variant, world).play())


def undisturbed(world: World, message: int) -> Pcm:
    """What the loudspeaker gives when nobody speaks."""
    if message not in world.undisturbed:
        scene = Scene("background", 0, 0, message, "dry", 0.02, 0.0, 0.0, seconds=_LONGEST_SCENE)
        stage = _Stage(scene, Variant(_DEAF, canceller=_Deaf), world)
        run_virtual(stage.play())
        world.undisturbed[message] = stage.room.loudspeaker
    return world.undisturbed[message]


class _Deaf(NoCanceller):
    """Hears nothing."""

    def process(self, mic: Pcm, far: Pcm) -> Cleaned:
        """Silence."""
        return super().process(np.zeros_like(mic), far)


class _Stage:
    def __init__(self, scene: Scene, variant: Variant, world: World) -> None:
        self.scene, self.variant, self.world = scene, variant, world
        self.room = Room(
            response=scene.room,
            delay=scene.delay,
            echo_db=ECHO_DB,
            noise_db=_NOISE_DB,
            seed=scene.seed % 2**31,
            drift_ppm=scene.drift_ppm,
        )
        self.outcome = Outcome(scene, variant.name)
        self._random = np.random.default_rng(scene.seed)

    async def play(self) -> Outcome:
        conversation, server, chain = self._wire()
        running = asyncio.create_task(conversation.run())
        await asyncio.sleep(0.001)  # the parts have started: that takes no virtual time
        if running.done():
            await running
        try:
            await self._act(server)
        finally:
            conversation.shut_down()
            await running
        self.outcome.cpu, self.outcome.sound = chain.cpu, chain.sound
        if self.variant.name != _DEAF:
            self._measure()
        return self.outcome

    def _wire(self) -> tuple[Conversation, OneSidedServer, MeteredChain]:
        loop = asyncio.get_running_loop()
        random, config = Random(self.scene.seed), Config()
        ids = lambda: str(uuid.UUID(int=random.getrandbits(128)))  # noqa: E731
        rules = SessionRules(floor=self.variant.rules)
        session = Session(rules, RATE, ids, lambda: "")
        session.floor = self.variant.floor(rules.floor)
        player = Player(RATE)
        listener = Listener(
            self.world.recogniser,
            lambda event: conversation.feed(event),
            EndpointRules(end_silence=self.variant.changed.get(END_SILENCE, config.ears.end_silence)),
            new_id=ids,
            detector=self.world.detector,
            early=self.world.early,
        )
        self.world.detector.reset()
        chain = MeteredChain(player, self.variant.canceller(), listener.hear, threaded=False)
        chain.cpu, chain.sound = {False: 0.0, True: 0.0}, {False: 0.0, True: 0.0}
        first = self.scene.message
        many = self.scene.kind == "silence"
        texts = [MESSAGES[(first + n) % len(MESSAGES)] for n in range(_MOST_MESSAGES if many else 1)]
        server = OneSidedServer(
            [] if self.scene.kind == "idle" else texts, lambda event: conversation.feed(event), self._sent
        )
        conversation = Conversation(
            session,
            clock=LoopClock(loop),
            player=player,
            chain=chain,
            device=self.room,
            voice=RenderedVoice(self.world.rendered),
            listener=listener,
            connection=server,
            observers=(Log(self.outcome),),
        )
        return conversation, server, chain

    def _sent(self, text: str) -> None:
        self.outcome.sent.append((round(asyncio.get_running_loop().time(), 3), text))

    # ------------------------------------------------------------------ what happens

    async def _act(self, server: OneSidedServer) -> None:
        scene, loop = self.scene, asyncio.get_running_loop()
        if scene.seconds:
            self._lay_background(0.0, scene.seconds)
            for when, by in scene.jumps:
                loop.call_at(when, self.room.jump, by)
            await asyncio.sleep(scene.seconds)
            return
        at = first_sound(undisturbed(self.world, self.scene.message)) + scene.onset
        person = scene.tic not in ("click", "thump", "slam")
        pcm = self._performance()
        level = echo_level(self.world, scene) + scene.level_db
        if scene.tic:
            begins, ends = self.room.sound(pcm, at, level, person=person)
        else:
            begins, ends = self.room.say(pcm, at, level)
        self._lay_background(max(0.0, at - 2.0), ends - at + 2.0 + _AFTER)
        self.outcome.onset, self.outcome.end = begins, ends
        await asyncio.sleep(ends + _SETTLE - loop.time())
        if scene.kind in FOR_US:  # the message, and the silence after it, may take longer
            for _ in range(round((_AFTER - _SETTLE) / _STEP)):
                if self.outcome.sent:
                    break
                await asyncio.sleep(_STEP)

    def _performance(self) -> Pcm:
        """The sound of what the person does, as it leaves them."""
        scene, rng = self.scene, self._random
        makers = {
            "cough": cough,
            "click": click,
            "thump": thump,
            "throat": noises.throat,
            "sniff": noises.sniff,
            "slam": noises.slam,
        }
        if scene.tic in makers:
            return makers[scene.tic](rng)
        if scene.voice == "hum":
            return noises.hum(rng, 2 if scene.text == "(mm-hm)" else 1, rng.uniform(95, 220), rng.choice(scene.heads))
        pcm = at_level(self.world.clips[scene.clips[0]], _SPOKEN_DB)
        for key in scene.clips[1:]:
            pcm = with_pause(pcm, at_level(self.world.clips[key], _SPOKEN_DB), scene.pause)
        return noises.turned_away(rng, pcm) if scene.kind == "others" else pcm

    def _lay_background(self, at: float, seconds: float) -> None:
        scene, rng = self.scene, self._random
        if not scene.background:
            return
        if scene.background == "music":
            pcm = noises.far_away(rng, noises.music(rng, seconds))
        elif scene.background == "television":
            pcm = noises.television(rng, self.world.talk, seconds)
        else:
            pcm = noises.babble(rng, self.world.talk, seconds)
        self.room.sound(pcm, at, echo_level(self.world, scene) + scene.background_db)

    # ------------------------------------------------------------------ what came of it

    def _measure(self) -> None:
        out, room = self.outcome, self.room
        if not self.scene.seconds and (found := begins_and_ends(room.user)) is not None:
            out.onset, out.end = found
            if self.scene.text and not self.scene.text.startswith("("):
                out.clean = self._read_alone(*found)
        stops = [entry[0] for entry in out.log if entry[1] == "stop" and entry[2] != "shutdown"]
        out.cuts, out.cut = len(stops), "" if out.cut == "shutdown" else out.cut
        if stops:
            out.silence = fell_silent(room.loudspeaker, stops[0] + _FADE)
        if out.onset is not None:
            out.duck = went_down(room.loudspeaker, undisturbed(self.world, self.scene.message), out.onset)

    def _read_alone(self, onset: float, end: float) -> str:
        """What the recogniser makes of the person at the same place without our voice."""
        before, after = _WORDS_AROUND
        alone = self.room.user[max(0, round((onset - before) * RATE)) : round((end + after) * RATE)]
        noise = np.random.default_rng(0).standard_normal(alone.size) * 10 ** (_NOISE_DB / 20)
        return self.world.recogniser.read((alone + noise).astype(np.float32)).text


def first_sound(loudspeaker: Pcm) -> float:
    """Seconds of the first sample that sounds."""
    return float(np.flatnonzero(loudspeaker)[0]) / RATE


def echo_level(world: World, scene: Scene) -> float:
    """dBFS, active level at the microphone of our voice at full level in this scene's room."""
    ours = undisturbed(world, scene.message)
    echo = convolve(np.tanh(ours * 1.5) / np.float32(1.5), load(scene.room)[0])
    return 20 * float(np.log10(active_level(echo))) + ECHO_DB
