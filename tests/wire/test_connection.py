from __future__ import annotations

import asyncio
import json
import logging
from itertools import pairwise
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection

from tests.wire.lab import FIRST, QUIET, Client, accepted, client_of, flow_server, odd_server, said, snapshot, uuid
from voice.core.events import (
    BadFrame,
    ConversationClosed,
    LinkDown,
    LinkUp,
    MessageCompleted,
    Ping,
    ServerFault,
    Snapshot,
    TurnEnded,
    UserAccepted,
)
from voice.server.rules import ServerRules
from voice.timeloop import run_virtual
from voice.wire.connection import LinkRules

TOKEN = "tok-3f9a-secret"


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


@pytest.mark.parametrize("refusal", ["close", "http"])
def test_a_refused_token_is_fatal_at_once_in_one_line_without_the_token(
    refusal: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Hurts the operator who would read retries for ever, and the owner of a token that stands in a log."""
    caplog.set_level(logging.DEBUG)

    async def main() -> None:
        rules = ServerRules(refusal=refusal)
        async with flow_server(token="another", rules=rules) as server, client_of(server.url, token=TOKEN) as client:
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
            assert fault.details == ("conversation.settings.channel: Input should be 'text' or 'voice'",)
            assert down == LinkDown("the server refused the conversation: invalid_payload", True)

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


def test_closing_twice_and_before_running_is_safe() -> None:
    """Shutdown comes from more than one side."""

    async def main() -> None:
        async with flow_server() as server:
            client = Client(server.url)
            await client.link.close()
            await client.link.close()
            await client.running
            await client.link.run()
            assert client.events == []
            other = Client(server.url)
            await other.until(LinkUp)
            await asyncio.gather(other.link.close(), other.link.close())
            assert other.running.done()
            assert other.running.exception() is None

    run_virtual(main())


class TestClosedAtEveryAwaitPoint:
    """C5: whenever the program ends, nothing of the link is left running."""

    class Steps:
        """Counts the suspensions of the link's own tasks; calls `cut` at the n-th."""

        def __init__(self, cut_at: int) -> None:
            self.left, self.cut = cut_at, lambda: None

        def factory(self, loop: asyncio.AbstractEventLoop, coro: Any, **how: Any) -> asyncio.Task[Any]:
            ours = getattr(coro, "__qualname__", "").startswith(("Connection.", "_write"))
            return asyncio.Task(self._counted(coro) if ours else coro, loop=loop, **how)

        async def _counted(self, coro: Any) -> Any:
            return await _Counted(coro, self)

        def step(self) -> None:
            self.left -= 1
            if self.left == 0:
                asyncio.get_running_loop().call_soon(self.cut)

    @staticmethod
    async def cut_short(at: int, how: str) -> bool:
        """One conversation with a reconnect, ended at the `at`-th await; whether it got that far."""
        async with flow_server("[step.faults]\ndrop_after = 3\n", token=TOKEN) as server:
            loop = asyncio.get_running_loop()
            steps = TestClosedAtEveryAwaitPoint.Steps(at)
            before = asyncio.all_tasks()
            loop.set_task_factory(steps.factory)
            client = Client(server.url, TOKEN, QUIET)
            closing: list[asyncio.Task[None]] = []
            if how == "cancel":
                steps.cut = client.running.cancel
            else:
                steps.cut = lambda: closing.append(asyncio.create_task(client.link.close()))
            client.link.send(said(1))
            await asyncio.wait([client.running], timeout=8)
            reached = steps.left <= 0
            loop.set_task_factory(None)
            if not reached:
                client.running.cancel()
            await asyncio.wait([client.running, *closing])
            assert client.running.cancelled() == (how == "cancel" or not reached)
            assert [task for task in asyncio.all_tasks() if task.get_name().startswith("voice.wire")] == []
            await asyncio.sleep(5)  # the server notices, and its turn ends by itself
            assert server.sockets == set()
            assert asyncio.all_tasks() == before
            return reached

    @pytest.mark.parametrize("how", ["cancel", "close"])
    def test_nothing_is_left(self, how: str) -> None:
        at = 1
        while run_virtual(self.cut_short(at, how)):
            at += 1
        assert at > 15  # the whole life was walked through: open, bind, a turn, a drop, a pause, a resume


class _Counted:
    """An awaitable that runs a coroutine and reports each of its suspensions."""

    def __init__(self, coro: Any, steps: TestClosedAtEveryAwaitPoint.Steps) -> None:
        self._coro, self._steps = coro, steps

    def __await__(self) -> Any:
        call, value = self._coro.send, None
        while True:
            try:
                waiting = call(value)
            except StopIteration as stop:
                return stop.value
            self._steps.step()
            try:
                call, value = self._coro.send, (yield waiting)
            except BaseException as error:
                call, value = self._coro.throw, error


def test_first_is_what_the_server_was_told() -> None:
    """The language and the channel of the kiosk are in the first frame or nowhere."""

    async def main() -> None:
        async with flow_server() as server, client_of(server.url, first=FIRST) as client:
            snapshot = await client.until(Snapshot)
            assert snapshot.settings["channel"] == "voice"

    run_virtual(main())
