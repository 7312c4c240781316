from __future__ import annotations

import asyncio
import logging
from itertools import pairwise
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection

from tests.wire.lab import (
    TOKEN,
    Client,
    client_of,
    flow_server,
    odd_server,
    said,
    snapshot,
)
from voice.core.events import LinkDown, LinkUp
from voice.core.server_events import ServerFault, TurnEnded
from voice.timeloop import run_virtual
from voice.wire.reconnect import LinkRules


@pytest.mark.parametrize("refusal", ["close", "http"])
def test_a_refused_token_is_fatal_at_once_in_one_line_without_the_token(
    refusal: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Hurts the operator who would read retries for ever, and the owner of a token that stands in a log."""
    caplog.set_level(logging.DEBUG)

    async def main() -> None:
        assume = {"refusal.style": refusal}
        async with flow_server(token="another", assume=assume) as server, client_of(server.url, token=TOKEN) as client:
            await client.running
            (down,) = client.events
            assert isinstance(down, LinkDown)
            assert down.fatal
            assert "refused the token" in down.reason
            assert "\n" not in down.reason
            assert TOKEN not in repr(client.events)

    run_virtual(main())
    assert TOKEN not in caplog.text


def test_the_right_token_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    """The socket library logs the request's headers at debug level, and what the user said."""
    caplog.set_level(logging.DEBUG)

    async def main() -> None:
        async with flow_server(token=TOKEN) as server, client_of(server.url, token=TOKEN) as client:
            client.link.send(said(1, "My private complaint."))
            await client.until(TurnEnded)

    run_virtual(main())
    assert TOKEN not in caplog.text
    assert "private" not in caplog.text


@pytest.mark.parametrize(
    ("url", "token", "reason"),
    [
        ("http://127.0.0.1:1", None, "not a WebSocket address"),
        ("", None, "not a WebSocket address"),
        ("ws://[::1", None, "not a WebSocket address"),
        ("ws://host:99999999/", None, "not a WebSocket address"),
        ("ws://127.0.0.1:1", "", "the token is empty"),
        ("ws://127.0.0.1:1", "two\r\nlines", "characters that no token has"),
        ("ws://127.0.0.1:1", "tökén", "characters that no token has"),
        ("ws://clinic.example/x", "secret", "use wss://"),
    ],
)
async def test_settings_that_cannot_work_are_told_and_not_tried(url: str, token: str | None, reason: str) -> None:
    """Hurts the operator who mistyped one line, and whose token would go over the wire in the clear."""
    client = Client(url, token)
    await client.running
    (down,) = client.of(LinkDown)
    assert down.fatal
    assert reason in down.reason
    if token:
        assert token not in down.reason


async def test_an_unreachable_server_is_told_once_and_tried_again() -> None:
    """Hurts whoever reads a log that an outage has filled, and the kiosk that would give up."""
    rules = LinkRules(first_pause=0.001, longest_pause=0.001)
    async with odd_server(None) as url:  # type: ignore[arg-type]
        pass  # its port is free now
    async with client_of(url, rules=rules) as client:
        await client.until(LinkDown)
        await asyncio.sleep(0.2)
        (down,) = client.of(LinkDown)
        assert not down.fatal
        assert "cannot be reached" in down.reason


def test_a_forgotten_conversation_is_fatal() -> None:
    """A new one in its place would have forgotten what the patient said, without a word about it."""

    async def main() -> None:
        async with flow_server() as server, client_of(server.url) as client:
            await client.until(LinkUp)
            server.conversations.clear()
            await server.drop_sockets()
            await client.running
            assert client.of(LinkDown)[-1] == LinkDown(
                "the server refused the conversation: conversation_not_found", True
            )

    run_virtual(main())


def test_a_refused_first_frame_is_fatal_with_the_servers_code() -> None:
    """Hurts the operator with a mistake in the settings."""

    async def main() -> None:
        first = {"settings": {"channel": "smoke"}, "assessment": {}}
        async with flow_server() as server, client_of(server.url, first=first) as client:
            await client.running
            fault, down = client.events
            assert isinstance(fault, ServerFault)
            assert [(detail.location, detail.message) for detail in fault.details] == [
                ("conversation.settings.channel", "Input should be 'text' or 'voice'")
            ]
            assert down == LinkDown("the server refused the conversation: invalid_payload", True)

    run_virtual(main())


def test_after_a_finished_conversation_a_closed_link_stays_closed() -> None:
    """Hurts the operator who would read of reconnects to a conversation that is over."""

    async def script(socket: ServerConnection, number: int) -> None:
        await socket.recv()
        await socket.send(snapshot())
        await socket.send('{"type": "conversation.completed"}')
        await socket.close()

    async def main() -> None:
        async with odd_server(script) as url, client_of(url) as client:
            await client.running
            assert client.of(LinkDown) == [LinkDown("the conversation is over and the server closed the link", True)]

    run_virtual(main())


def test_a_close_without_code_1008_is_tried_again() -> None:
    """A server that restarts says 1001; the conversation goes on when it is back."""

    async def main() -> None:
        async with flow_server() as server, client_of(server.url) as client:
            await client.until(LinkUp)
            (socket,) = server.sockets
            await socket.close(1001)
            await client.until(LinkUp, 2)
            assert client.of(LinkDown) == [LinkDown("the server closed the link (close code 1001)", False)]

    run_virtual(main())


def test_pauses_grow_to_a_limit_and_start_small_again_after_success() -> None:
    """Hurts a server that comes back to a hundred kiosks at once, and a user who waits a minute for nothing."""
    times: list[float] = []
    enough = asyncio.Event()

    async def script(socket: ServerConnection, number: int) -> None:
        times.append(asyncio.get_running_loop().time())
        if number == 9:
            await socket.recv()
            await socket.send(snapshot())
        socket.transport.abort()
        if number == 11:
            enough.set()

    async def main() -> None:
        async with odd_server(script) as url, client_of(url):
            await enough.wait()

    run_virtual(main())
    pauses = [round(later - earlier, 2) for earlier, later in pairwise(times)]
    assert pauses[:9] == [0.5, 1, 2, 4, 8, 16, 20, 20, 20]
    assert pauses[9:11] == [0.5, 1]


def test_pauses_grow_for_a_server_that_takes_and_ends_one_socket_after_another() -> None:
    """Hurts a server that sends what no client can take: a hundred kiosks would ask for it twice a second, for good."""
    times: list[float] = []
    enough = asyncio.Event()

    async def script(socket: ServerConnection, number: int) -> None:
        times.append(asyncio.get_running_loop().time())
        await socket.recv()
        await socket.send(snapshot(resumed=number > 0))
        await asyncio.sleep(30.0 if number == 4 else 0.0)
        socket.transport.abort()
        if number == 6:
            enough.set()

    async def main() -> None:
        async with odd_server(script) as url, client_of(url):
            await enough.wait()

    run_virtual(main())
    pauses = [round(later - earlier, 1) for earlier, later in pairwise(times)]
    assert pauses == [0.5, 1, 2, 4, 30.5, 0.5]
