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
from voice.wire.token import GivenToken, TokenCommand, TokenFile, TokenSource


def conversation_input(config: Config) -> dict[str, Any]:
    """The `ConversationInput` that a conversation is created with."""
    server = config.server
    settings = {
        "language": server.language,
        "channel": server.channel,
        "ui_widgets_enabled": server.widgets,
        "opening_message_enabled": True,
        "risk_factors_enabled": server.risk_factors_enabled,
        "geographic_risk_factors_enabled": server.geographic_risk_factors_enabled,
        "handoff_policies": list(server.handoff_policies),
    }
    assessment = {
        "age": None if server.age is None else {"value": server.age, "unit": server.age_unit},
        "sex": server.sex,
        "relationship": server.relationship,
        "evidence": [{"id": known.id, "state": known.state} for known in server.evidence],
    }
    return {"settings": _told(settings), "assessment": _told(assessment)}


def _told(fields: dict[str, Any]) -> dict[str, Any]:
    """What is left to the server is not sent at all."""
    return {name: value for name, value in fields.items() if value is not None}


def token_of(config: Config) -> str | None:
    """The bearer token, from the environment. Tokens with blanks or control characters are refused."""
    token = os.environ.get(config.server.token_env)
    if token is not None and (not token.isascii() or not token.isprintable() or " " in token):
        raise ConfigError(
            f"${config.server.token_env}: not a token; it has blanks, line ends or foreign characters in it"
        )
    return token


def token_source(config: Config) -> TokenSource:
    """Where the token comes from: a file, a command, else the environment. Raises ConfigError."""
    if config.server.token_file is not None:
        return TokenFile(config.server.token_file)
    if config.server.token_command:
        return TokenCommand(config.server.token_command)
    return GivenToken(token_of(config))


def make_link(
    config: Config, emit: Callable[[Input], None], *, url: str | None = None, token: str | None = None
) -> Link:
    """The link that `config` asks for; `url` and `token` come before what it says. Raises ConfigError."""
    return Connection(
        config.server.url if url is None else url,
        GivenToken(token) if token is not None else token_source(config),
        conversation_input(config),
        emit,
        codec=infermedica,
    )
