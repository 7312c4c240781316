"""From a configuration to a conversation: which part is made of what."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from typing import cast

from voice.app.conversation import Conversation, Observer
from voice.app.link import make_link
from voice.audio.base import Device
from voice.audio.chain import Chain
from voice.audio.echo import EchoCanceller, TwoFilterCanceller
from voice.audio.player import Player
from voice.config import Config, load_pacing
from voice.core.account import PlayedScope
from voice.core.session import Session, SessionRules
from voice.stt.choose import make_recogniser
from voice.stt.endpoint import EndpointRules
from voice.stt.listener import Listener
from voice.timeloop import LoopClock, VirtualTimeLoop
from voice.tts.choose import make_voice
from voice.wire.spellings import assumed
from voice.wire.trace import traceparent


def make_conversation(
    config: Config,
    device: Device,
    *,
    url: str | None = None,
    token: str | None = None,
    observers: Sequence[Observer] = (),
    canceller: EchoCanceller | None = None,
    new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
) -> Conversation:
    """Wire a conversation on the running loop. Raises VoiceError, RecogniserError or ConfigError for a name that is
    not known; nothing is started yet."""
    loop = asyncio.get_running_loop()
    rules = SessionRules(
        pacing=load_pacing(),
        floor=config.floor.rules(config.server.language),
        language=config.server.language,
        played_scope=cast("PlayedScope", assumed("played_content.scope")),
        cards=config.card_rules(),
    )
    session = Session(rules, device.rate, new_id, traceparent)
    player = Player(device.rate, lead_in=config.sound.lead_in)

    def tell(code: str, text: str) -> None:
        loop.call_soon_threadsafe(lambda: conversation.notice(code, text))

    listener = Listener(
        make_recogniser(config.ears.engine, config.ears.model),
        lambda event: conversation.feed(event),
        EndpointRules(end_silence=config.ears.end_silence),
        on_error=lambda reason: tell("ears.failed", reason),
        new_id=new_id,
    )
    chain = Chain(
        player,
        canceller or TwoFilterCanceller(),
        listener.hear,
        threaded=not isinstance(loop, VirtualTimeLoop),
        notice=tell,
    )
    conversation = Conversation(
        session,
        clock=LoopClock(loop),
        player=player,
        chain=chain,
        device=device,
        voice=make_voice(config.voice.engine, config.voice.language, config.voice.wpm),
        listener=listener,
        connection=make_link(config, lambda event: conversation.feed(event), url=url, token=token, new_id=new_id),
        observers=observers,
    )
    return conversation
