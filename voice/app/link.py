"""From a configuration to the way to the server: which backend, over which transport, with which first words."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from typing import Any

from voice.app.conversation import Link
from voice.app.tools import ClientTools
from voice.config import Config, ConfigError
from voice.core.events import Input
from voice.wire import infermedica, paths
from voice.wire.ces_frames import SessionConfig
from voice.wire.ces_link import CesLink, Opening
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


LOCAL = "ws://127.0.0.1:8765"
"""Where `voice serve` listens unless it is told otherwise."""

GOOGLE = "wss://ces.googleapis.com"


def path_of(config: Config) -> str:
    """Where the server listens below its host."""
    return paths.INFERMEDICA if config.server.backend == "infermedica" else paths.CES + config.ces.location


def url_of(config: Config) -> str:
    """The address of the configuration's server."""
    host = LOCAL if config.server.backend == "infermedica" else GOOGLE
    return config.server.url or host + path_of(config)


def make_link(
    config: Config,
    emit: Callable[[Input], None],
    *,
    url: str | None = None,
    token: str | None = None,
    new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
) -> Link:
    """The link that `config` asks for; `url` and `token` come before what it says. Raises ConfigError."""
    address = url_of(config) if url is None else url
    source = GivenToken(token) if token is not None else token_source(config)
    if config.server.backend == "infermedica":
        return Connection(address, source, conversation_input(config), emit, codec=infermedica)
    ces = config.ces
    session = SessionConfig(
        f"{ces.app}/sessions/{new_id()}",
        deployment=ces.named("deployments", ces.deployment),
        entry_agent=ces.named("agents", ces.entry_agent),
        time_zone=ces.time_zone,
        text_streaming=ces.text_streaming,
    )
    return CesLink(
        address,
        source,
        session,
        emit,
        opening=Opening(ces.opening_event, ces.variables),
        tools=ClientTools(ces.tools, hidden=frozenset({config.server.token_env})),
        heard_variable=ces.heard_variable,
        headers={"x-goog-user-project": ces.quota_project} if ces.quota_project else None,
    )
