"""One CES session over as many connections as it takes, against the local server, on virtual time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosedError
from websockets.frames import Close

from tests.server.test_ces_socket import FLOW
from voice.core.client_inputs import ToolResponse
from voice.core.diagnostics import ToolCall
from voice.core.events import LinkDown, LinkUp, SendUserMessage
from voice.core.server_events import (
    ConversationClosed,
    GoingAway,
    MessageCompleted,
    ServerFault,
    TurnEnded,
    UserAccepted,
)
from voice.server.serve import FlowServer
from voice.timeloop import run_virtual
from voice.wire import paths
from voice.wire.ces_frames import SessionConfig
from voice.wire.ces_link import ANSWERED_WITHIN, CesLink, Opening, ToolRunner
from voice.wire.closing import SESSION_OVER, closed_by_google

SESSION = SessionConfig("projects/p/locations/us/apps/demo/sessions/call-1")


class Client:
    """A link, and all that came of it."""

    def __init__(self, url: str, **how: Any) -> None:
        self.seen: list[Any] = []
        how = {"opening": Opening("session_start"), "chance": lambda: 0.5, **how}
        self.link = CesLink(url, None, SESSION, self.seen.append, **how)

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.seen if isinstance(event, kind)]

    def texts(self) -> list[str]:
        return [message.text for message in self.of(MessageCompleted)]

    def say(self, words: str, heard: str | None = None) -> None:
        self.link.send(SendUserMessage(words, words, heard is not None, heard, ""))


@contextlib.asynccontextmanager
async def held(client: Client) -> AsyncIterator[None]:
    running = asyncio.create_task(client.link.run())
    try:
        yield
    finally:
        await client.link.close()
        await running


@contextlib.asynccontextmanager
async def talking(**how: Any) -> AsyncIterator[tuple[FlowServer, Client]]:
    server = FlowServer(FLOW)
    await server.start()
    client = Client(f"{server.url}{paths.CES}us", **how)
    try:
        async with held(client):
            await asyncio.sleep(4)
            yield server, client
    finally:
        await server.stop()


def inputs(server: FlowServer) -> list[Any]:
    return list(next(iter(server.sessions.values())).inputs)


class Maps(ToolRunner):
    """Knows one tool."""

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []

    async def run(self, call: ToolCall) -> ToolResponse:
        self.calls.append(call)
        response = {"output": "shown"} if call.display_name == "open_map" else {"error": "no such tool"}
        return ToolResponse(call.id, call.tool, call.toolset, call.tool_id, call.display_name, response)


def test_the_agent_is_greeted_once_however_often_the_link_breaks() -> None:
    """Nobody is welcomed again in the middle of a conversation."""

    async def main() -> None:
        async with talking(opening=Opening("session_start", {"customer": "4711"})) as (server, client):
            await server.drop_sockets()
            await asyncio.sleep(4)
            client.say("hello")
            await asyncio.sleep(4)
            assert [each.reconnects for each in client.of(LinkUp)] == [0, 1]
            assert inputs(server) == [
                {"variables": {"customer": "4711"}},
                {"event": {"event": "session_start"}},
                {"text": "hello"},
            ]

    run_virtual(main())


def test_a_text_that_was_not_taken_goes_out_again_and_one_that_was_does_not() -> None:
    """What a patient said arrives, and is answered once."""

    async def main() -> None:
        async with talking() as (server, client):
            client.say("first")
            await asyncio.sleep(4)
            await server.drop_sockets()
            client.say("second")
            await asyncio.sleep(4)
            assert [given["text"] for given in inputs(server) if "text" in given] == ["first", "second"]
            assert [taken.content for taken in client.of(UserAccepted)] == ["first", "second"]
            await asyncio.wait_for(client.link.flushed(), 1)

    run_virtual(main())


def test_every_tool_call_is_answered_and_the_conversation_goes_on() -> None:
    """An agent that waits for a tool for ever leaves the user in silence."""

    async def main(tools: Maps | None) -> None:
        async with talking(tools=tools) as (server, client):
            client.say("order")
            await asyncio.sleep(4)
            client.say("map")
            await asyncio.sleep(6)
            answers = [
                given["toolResponses"]["toolResponses"][0] for given in inputs(server) if "toolResponses" in given
            ]
            found = [(answer["displayName"], answer["response"]) for answer in answers]
            if tools is None:
                assert all("error" in response for _, response in found)
                assert len(found) == 2
            else:
                assert found == [("open_map", {"output": "shown"}), ("find", {"error": "no such tool"})]
                assert tools.calls[0].args == {"lat": 48.85}
            assert "Goodbye." in client.texts()

    run_virtual(main(Maps()))
    run_virtual(main(None))


def test_a_connection_that_is_announced_to_end_is_replaced_behind_the_turn() -> None:
    """The user hears the answer to its end and notices nothing."""

    async def main() -> None:
        async with talking() as (server, client):
            client.say("order")
            await asyncio.sleep(4)
            client.say("away")
            await asyncio.sleep(6)
            assert client.of(GoingAway)
            assert "I will be back." in client.texts()
            assert [each.fatal for each in client.of(LinkDown)] == [False]
            client.say("go on")
            await asyncio.sleep(4)
            assert client.texts()[-1] == "Goodbye."
            assert len(server.sessions) == 1

    run_virtual(main())


def test_the_end_of_the_session_is_told_behind_its_last_words() -> None:
    """The farewell is heard, and then the program says that it is over, and ends."""

    async def main() -> None:
        async with talking() as (_, client):
            for words in ("order", "x", "y"):
                client.say(words)
                await asyncio.sleep(6)
            kinds = [type(event) for event in client.seen if isinstance(event, MessageCompleted | ConversationClosed)]
            assert kinds[-2:] == [MessageCompleted, ConversationClosed]
            assert client.of(ConversationClosed)[0].metadata == {"reason": "done", "session_escalated": True}
            assert client.of(LinkDown)[-1].fatal

    run_virtual(main())


def test_what_was_heard_is_told_where_the_application_has_a_variable_for_it() -> None:
    """The agent may know what the user has not heard yet; "" is an answer, too."""

    async def main(name: str, heard: str) -> list[Any]:
        async with talking(heard_variable=name) as (server, client):
            client.say("wait", heard)
            await asyncio.sleep(4)
            client.say("order")
            await asyncio.sleep(4)
            return inputs(server)[1:]

    assert run_virtual(main("heard", "Hello.")) == [
        {"variables": {"heard": "Hello."}},
        {"text": "wait"},
        {"text": "order"},
    ]
    assert run_virtual(main("heard", ""))[0] == {"variables": {"heard": ""}}
    assert run_virtual(main("", "Hello.")) == [{"text": "wait"}, {"text": "order"}]


@contextlib.asynccontextmanager
async def acting(deed: Any) -> AsyncIterator[str]:
    """A server that does something to each connection once its configuration has come."""

    async def handle(socket: ServerConnection) -> None:
        await socket.recv()
        await deed(socket)

    async with serve(handle, "127.0.0.1", 0, ping_interval=None) as server:
        yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"


def test_a_server_that_takes_a_text_and_says_nothing_is_asked_again() -> None:
    """A connection that looks alive and is not does not leave the user waiting for ever."""
    connections: list[ServerConnection] = []

    async def deaf(socket: ServerConnection) -> None:
        connections.append(socket)
        await asyncio.sleep(9999)

    async def main() -> None:
        async with acting(deaf) as url:
            client = Client(url)
            async with held(client):
                client.say("hello")
                await asyncio.sleep(ANSWERED_WITHIN + 5)
                assert len(connections) == 2
                assert client.of(LinkDown) == [LinkDown("the server did not answer a text", fatal=False)]

    run_virtual(main())


def test_a_text_that_came_after_the_sessions_end_is_told_to_be_lost() -> None:
    """Nobody believes that an order was taken that no server has seen."""
    count = 0

    async def over(socket: ServerConnection) -> None:
        nonlocal count
        count += 1
        if count == 1:
            await socket.recv()
            await socket.send('{"sessionOutput": {"turnIndex": 1, "text": "Hi.", "turnCompleted": true}}')
            await asyncio.sleep(1)
            socket.transport.abort()
        else:
            await socket.close(1007, "generic::failed_precondition: the session has ended")

    async def main() -> None:
        async with acting(over) as url:
            client = Client(url)
            async with held(client):
                await asyncio.sleep(0.9)
                client.say("hello")
                await asyncio.sleep(5)
                assert client.of(ConversationClosed)
                assert [fault.code for fault in client.of(ServerFault)] == ["conversation_completed"]
                assert client.of(TurnEnded)

    run_virtual(main())


@pytest.mark.parametrize(
    ("code", "status", "answered", "again", "fatal", "words"),
    [
        (1007, "invalid_argument", False, False, True, "configuration"),
        (1007, "invalid_argument", True, False, False, "invalid_argument"),
        (1007, "failed_precondition", False, True, True, SESSION_OVER),
        (1007, "failed_precondition", False, False, True, "configuration"),
        (1008, "permission_denied", False, False, True, "token"),
        (1007, "unauthenticated", True, True, True, "token"),
        (1007, "not_found", False, False, True, "deployment"),
        (1011, "internal", False, False, False, "internal"),
        (1011, "unavailable", False, True, False, "unavailable"),
    ],
)
def test_why_google_closed_decides_whether_it_is_tried_again(
    code: int, status: str, answered: bool, again: bool, fatal: bool, words: str
) -> None:
    """An operator reads what to mend; a passing fault mends itself. What was said is not in the line."""
    error = ConnectionClosedError(Close(code, f"generic::{status}: of 'I am ill'"), None)
    lost = closed_by_google(error, answered=answered, again=again)
    assert (lost.fatal, words in lost.reason, "ill" in lost.reason) == (fatal, True, False)
