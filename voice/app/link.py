"""From a configuration to the way to the server: which backend, over which transport, with which first words."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from voice.app.conversation import Link
from voice.config import Config, ConfigError
from voice.core.events import Input
from voice.wire import infermedica
from voice.wire.connection import Connection


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
            "ui_widgets_enabled": server.widgets,
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


def make_link(
    config: Config, emit: Callable[[Input], None], *, url: str | None = None, token: str | None = None
) -> Link:
    """The link that `config` asks for; `url` and `token` come before what it says. Raises ConfigError."""
    return Connection(
        config.server.url if url is None else url,
        token if token is not None else token_of(config),
        conversation_input(config),
        emit,
        codec=infermedica,
    )
