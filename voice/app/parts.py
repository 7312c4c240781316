"""From a configuration to a conversation: which part is made of what."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Callable, Sequence
from typing import Any, cast

from voice.app.conversation import Conversation, Observer
from voice.audio.base import Device
from voice.audio.chain import Chain
from voice.audio.echo import EchoCanceller, TwoFilterCanceller
from voice.audio.player import Player
from voice.config import Config, ConfigError, load_pacing
from voice.core.account import PlayedScope
from voice.core.session import Session, SessionRules
from voice.stt.choose import make_recogniser
from voice.stt.endpoint import EndpointRules
from voice.stt.listener import Listener
from voice.timeloop import LoopClock, VirtualTimeLoop
from voice.tts.choose import make_voice
from voice.wire import infermedica
from voice.wire.connection import Connection
from voice.wire.spellings import assumed
from voice.wire.trace import traceparent


def conversation_input(config: Config) -> dict[str, Any]:
    """The `ConversationInput` that a conversation is created with."""
    server = config.server
    assessment: dict[str, Any] = {"evidence": []}
    if server.age is not None:
        assessment["age"] = {"value": server.age, "unit": "year"}
    if server.sex is not None:
        assessment["sex"] = server.sex
    return {
        "settings": {
            "language": server.language,
            "channel": "voice",
            "ui_widgets_enabled": True,  # what a question offers helps to understand the answer; cards are read out
            "opening_message_enabled": True,
        },
        "assessment": assessment,
    }


def token_of(config: Config) -> str | None:
    """The bearer token, from the environment. Tokens with blanks or control characters are refused."""
    token = os.environ.get(config.server.token_env)
    if token is not None and (not token.isascii() or not token.isprintable() or " " in token):
        raise ConfigError(
            f"${config.server.token_env}: not a token; it has blanks, line ends or foreign characters in it"
        )
    return token


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
        connection=Connection(
            config.server.url if url is None else url,
            token if token is not None else token_of(config),
            conversation_input(config),
            lambda event: conversation.feed(event),
            codec=infermedica,
        ),
        observers=observers,
    )
    return conversation
