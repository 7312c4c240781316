from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection

from tests.wire.lab import (
    TOKEN,
    accepted,
    client_of,
    flow_server,
    odd_server,
    said,
    snapshot,
    uuid,
)
from voice.core.events import LinkDown, LinkUp
from voice.core.server_events import (
    BadFrame,
    ConversationClosed,
    MessageCompleted,
    Ping,
    ServerFault,
    Snapshot,
    TurnEnded,
    UserAccepted,
)
from voice.server.rules import ServerRules
from voice.timeloop import run_virtual
from voice.wire.reconnect import LinkRules


def test_a_conversation_runs_from_create_to_its_end() -> None:
    """Hurts everybody."""

    async def main() -> None:
        async with flow_server(token=TOKEN) as server, client_of(server.url, token=TOKEN) as client:
            client.link.send(said(1))  # before the link is up
            await client.until(TurnEnded)
            client.link.send(said(2, "Monday."))
            await client.link.flushed()
            await client.until(ConversationClosed)
            assert [type(event) for event in client.events[:3]] == [LinkUp, Snapshot, UserAccepted]
            assert [event.text for event in client.of(MessageCompleted)] == [
                "Thank you.",
                "Since which day have you had it?",
                "Goodbye.",
            ]
            (conversation,) = server.conversations.values()
            assert [(got.id, got.content) for got in conversation.received] == [
                (uuid(1), "A cough."),
                (uuid(2), "Monday."),
            ]

    run_virtual(main())


@pytest.mark.parametrize("frames", range(1, 9))
def test_a_socket_that_drops_in_a_turn_is_replaced_and_nothing_is_asked_twice(frames: int) -> None:
    """C1. Hurts whoever would have to say it all again, or hear it twice."""

    async def main() -> None:
        fault = f"[step.faults]\ndrop_after = {frames}\n"
        async with flow_server(fault) as server, client_of(server.url) as client:
            client.link.send(said(1))
            await client.until(Snapshot, 2)
            await asyncio.sleep(5)
            (conversation,) = server.conversations.values()
            assert len(conversation.received) == 1
            assert client.of(LinkUp) == [LinkUp(0), LinkUp(1)]
            assert client.of(LinkDown) == [LinkDown("the link broke off", False)]
            assert len(server.sockets) == 1

    run_virtual(main())


@pytest.mark.parametrize("when", ["after the send", "before the snapshot", "with the message in the snapshot"])
def test_a_message_the_server_did_not_take_is_sent_again_once_under_its_id(when: str) -> None:
    """C1. Hurts the user whose sentence is lost, or answered twice."""
    got: list[tuple[int, str]] = []

    async def script(socket: ServerConnection, number: int) -> None:
        await socket.recv()
        if number == 0 and when == "before the snapshot":
            socket.transport.abort()
            return
        known = (uuid(1),) if number and when == "with the message in the snapshot" else ()
        await socket.send(snapshot(resumed=number > 0, users=known))
        async for frame in socket:
            body = json.loads(frame)["user_message"]
            got.append((number, body["id"]))
            if number == 0:
                socket.transport.abort()
                return
            await socket.send(accepted(body["id"]))

    async def main() -> None:
        async with odd_server(script) as url, client_of(url) as client:
            client.link.send(said(1))
            await client.until(LinkUp, 1 if when == "before the snapshot" else 2)
            await client.link.flushed()
            await asyncio.sleep(60)

    run_virtual(main())
    assert (
        got
        == {
            "after the send": [(0, uuid(1)), (1, uuid(1))],
            "before the snapshot": [(1, uuid(1))],
            "with the message in the snapshot": [(0, uuid(1))],
        }[when]
    )


def test_drops_within_ten_milliseconds_leave_one_loop_and_one_socket() -> None:
    """C1. Hurts the server, and the user who would hear every message from each socket."""

    async def main() -> None:
        async with flow_server() as server, client_of(server.url) as client:
            await client.until(LinkUp)
            await server.drop_sockets()
            await asyncio.sleep(0.01)
            await server.drop_sockets()
            await client.until(LinkUp, 2)
            await server.drop_sockets()
            await client.until(LinkUp, 3)
            await asyncio.sleep(30)
            assert len(server.sockets) == 1
            assert client.count(LinkUp) == 3
            assert len(server.conversations) == 1

    run_virtual(main())


def test_never_two_sockets_at_a_time() -> None:
    """Two sockets on one conversation double every message."""
    most = open_now = 0

    async def script(socket: ServerConnection, number: int) -> None:
        nonlocal most, open_now
        open_now += 1
        most = max(most, open_now)
        await socket.recv()
        await socket.send(snapshot(resumed=number > 0))
        await asyncio.sleep(0.2)
        await socket.close(1011)
        open_now -= 1

    async def main() -> None:
        async with odd_server(script) as url, client_of(url) as client:
            await client.until(LinkUp, 20)

    run_virtual(main())
    assert most == 1


def test_the_servers_heartbeat_is_answered_and_not_passed_on() -> None:
    """A heartbeat without an answer ends the conversation after two minutes of silence."""

    async def main() -> None:
        rules = ServerRules(ping_interval=30, missed_pongs=2)
        async with flow_server(rules=rules) as server, client_of(server.url) as client:
            await asyncio.sleep(3600)
            assert client.count(LinkUp) == 1
            assert client.count(LinkDown, Ping) == 0

    run_virtual(main())


def test_a_heartbeat_before_the_snapshot_is_answered() -> None:
    """A busy server may need its time to make the conversation."""
    got: list[Any] = []

    async def script(socket: ServerConnection, number: int) -> None:
        got.append(json.loads(await socket.recv())["type"])
        await socket.send('{"type": "ping"}')
        got.append(json.loads(await socket.recv())["type"])
        await socket.send(snapshot())
        await socket.wait_closed()

    async def main() -> None:
        async with odd_server(script) as url, client_of(url) as client:
            await client.until(LinkUp)

    run_virtual(main())
    assert got == ["conversation.create", "pong"]


@pytest.mark.parametrize("bound", [True, False])
def test_a_server_that_fell_silent_is_left_within_a_bounded_time(bound: bool) -> None:
    """C2. Hurts the visitor of a kiosk that would wait for ever."""

    async def script(socket: ServerConnection, number: int) -> None:
        await socket.recv()
        if bound:
            await socket.send(snapshot(resumed=number > 0))
        await socket.wait_closed()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with odd_server(script) as url, client_of(url) as client:
            down = await client.until(LinkDown)
            if bound:
                assert (down.reason, down.fatal) == ("the server fell silent", False)
                assert 75 <= loop.time() < 78
                await client.until(LinkUp, 2)
            else:
                assert (down.reason, down.fatal) == ("the server did not answer the first frame", False)
                assert 20 <= loop.time() < 23

    run_virtual(main())


def test_a_frame_over_the_limit_ends_the_socket_and_not_the_session() -> None:
    """Hurts everybody whose conversation one runaway frame would end."""

    async def script(socket: ServerConnection, number: int) -> None:
        await socket.recv()
        await socket.send(snapshot(resumed=number > 0))
        if number == 0:
            await socket.send("x" * (1024 * 1024 + 1))
        await socket.wait_closed()

    async def main() -> None:
        async with odd_server(script) as url, client_of(url) as client:
            down = await client.until(LinkDown)
            assert down == LinkDown("the server sent a frame that is longer than the limit", False)
            await client.until(LinkUp, 2)

    run_virtual(main())


def test_frames_that_cannot_be_used_do_not_end_the_socket() -> None:
    """Hurts everybody in mid-conversation."""

    async def script(socket: ServerConnection, number: int) -> None:
        await socket.recv()
        await socket.send(snapshot())
        for frame in ("{", b"\xff", "[]", '{"type": "news"}', '{"type": "conversation.completed"}'):
            await socket.send(frame)
        await socket.wait_closed()

    async def main() -> None:
        async with odd_server(script) as url, client_of(url) as client:
            await client.until(ConversationClosed)
            assert client.count(BadFrame) == 3
            assert client.count(LinkDown) == 0

    run_virtual(main())


def test_a_refused_message_is_not_sent_again() -> None:
    """A message that is too long would be refused at every reconnect, for ever."""

    async def main() -> None:
        async with flow_server() as server, client_of(server.url) as client:
            client.link.send(said(1, "x" * 1501))
            client.link.send(said(2))
            await client.until(ServerFault)
            await client.link.flushed()
            await server.drop_sockets()
            await client.until(LinkUp, 2)
            await asyncio.sleep(5)
            assert client.count(ServerFault) == 1
            (conversation,) = server.conversations.values()
            assert [got.id for got in conversation.received] == [uuid(2)]

    run_virtual(main())


def test_a_server_that_stops_reading_is_noticed_though_its_socket_stays_open() -> None:
    """C2. Hurts the user whose sentence lies in a buffer for ever."""

    async def script(socket: ServerConnection, number: int) -> None:
        await socket.recv()
        await socket.send(snapshot(resumed=number > 0))
        if number == 0:
            socket.transport.pause_reading()
        await asyncio.sleep(300)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with odd_server(script) as url, client_of(url, rules=LinkRules()) as client:
            await client.until(LinkUp)
            client.link.send(said(1))
            await client.until(LinkDown)
            assert loop.time() < 45
            await client.until(LinkUp, 2)

    run_virtual(main())


@pytest.mark.parametrize("variable", ["http_proxy", "https_proxy", "ws_proxy"])
def test_a_server_on_this_machine_is_reached_past_a_proxy(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a company's proxy the demo would not begin, and the token would go to the proxy unencrypted."""
    monkeypatch.setenv(variable, "http://127.0.0.1:9")

    async def main() -> None:
        async with flow_server() as server, client_of(server.url) as client:
            await client.until(LinkUp)
            assert client.of(LinkDown) == []

    run_virtual(main())


def test_messages_that_were_never_confirmed_are_counted_when_the_link_is_gone() -> None:
    """Hurts whoever said them: nobody would know that answers are missing from the interview."""

    async def main() -> None:
        async with flow_server(token=TOKEN) as server, client_of(server.url, token="another") as client:
            client.link.send(said(1))
            client.link.send(said(2))
            down = await client.until(LinkDown)
            assert down.fatal
            assert down.reason.endswith("; 2 user messages were not confirmed")

    run_virtual(main())


def test_a_message_that_is_not_accepted_on_a_standing_link_is_sent_over_the_next_one() -> None:
    """C1. Hurts the user whose sentence a proxy lost: they would wait for an answer that never comes."""
    got: list[tuple[int, str]] = []

    async def script(socket: ServerConnection, number: int) -> None:
        await socket.recv()
        await socket.send(snapshot(resumed=number > 0))
        async for frame in socket:
            body = json.loads(frame)["user_message"]
            got.append((number, body["id"]))
            if number:
                await socket.send(accepted(body["id"]))

    async def main() -> None:
        async with odd_server(script) as url, client_of(url) as client:
            client.link.send(said(1))
            await client.until(LinkUp, 2)
            await client.link.flushed()
            assert client.of(LinkDown) == [LinkDown("the server did not accept a user message", False)]
            assert asyncio.get_running_loop().time() < 2 * LinkRules().accept_within

    run_virtual(main())
    assert got == [(0, uuid(1)), (1, uuid(1))]


class Tokens:
    """A source that gives one token after another, and the last one for ever."""

    renewable = True

    def __init__(self, *tokens: str) -> None:
        self.left, self.asked = list(tokens), 0

    async def fetch(self) -> str:
        self.asked += 1
        return self.left.pop(0) if len(self.left) > 1 else self.left[0]


@pytest.mark.parametrize("refusal", [None, {"refusal.style": "http"}])
class TestRefusedTokens:
    """1008 after the upgrade and 401 or 403 in its place are one fault."""

    def test_a_stale_token_is_replaced_once_and_the_conversation_goes_on(self, refusal: Any) -> None:
        """Hurts the visitor of a kiosk whose token ran out in the night."""

        async def main() -> None:
            async with flow_server(token=TOKEN, assume=refusal) as server:
                tokens = Tokens("stale", TOKEN)
                async with client_of(server.url, token=tokens) as client:
                    await client.until(LinkUp)
                    assert tokens.asked == 2
                    assert [down.fatal for down in client.of(LinkDown)] == [False]

        run_virtual(main())

    def test_a_fresh_one_that_is_refused_too_is_the_end(self, refusal: Any) -> None:
        """Hurts the server that would be asked for ever, and the operator who is told nothing."""

        async def main() -> None:
            async with flow_server(token=TOKEN, assume=refusal) as server:
                tokens = Tokens("stale", "stale-too")
                async with client_of(server.url, token=tokens) as client:
                    await client.running
                    assert tokens.asked == 2
                    assert [down.fatal for down in client.of(LinkDown)] == [False, True]
                    assert "get a new one" in client.of(LinkDown)[1].reason
                    assert "stale" not in str(client.events)

        run_virtual(main())

    def test_one_that_cannot_be_renewed_is_not_tried_again(self, refusal: Any) -> None:
        async def main() -> None:
            async with flow_server(token=TOKEN, assume=refusal) as server, client_of(server.url, token="x") as client:
                await client.running
                assert [down.fatal for down in client.of(LinkDown)] == [True]

        run_virtual(main())
