from __future__ import annotations

import asyncio
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from tests.server.raw import CREATE, SIX, error_of, raw, types
from tests.wire.lab import FLOW, flow_server, uuid
from voice.server.flow_file import parse
from voice.server.rules import ServerRules
from voice.server.serve import FlowServer
from voice.timeloop import run_virtual


class TestToken:
    """Whoever has no token must not hear anybody's conversation."""

    @pytest.mark.parametrize("header", [None, "Bearer wrong", "Bearer ", "right", "Basic right"])
    def test_a_wrong_one_is_refused_in_both_styles(self, header: str | None) -> None:
        headers = {} if header is None else {"Authorization": header}

        async def main() -> None:
            async with flow_server(token="right") as server, raw(server, additional_headers=headers) as client:
                assert await client.closed() == 1008
            async with flow_server(token="right", assume={"refusal.style": "http"}) as server:
                with pytest.raises(InvalidStatus) as refused:
                    async with raw(server, additional_headers=headers):
                        pass
                assert refused.value.response.status_code == 403

        run_virtual(main())

    @pytest.mark.parametrize("refusal", ["close", "http"])
    def test_the_right_one_is_let_in(self, refusal: Any) -> None:
        async def main() -> None:
            headers = {"Authorization": "Bearer right"}
            async with (
                flow_server(token="right", assume={"refusal.style": refusal}) as server,
                raw(server, CREATE, additional_headers=headers) as client,
            ):
                assert (await client.next())["type"] == "conversation.created"

        run_virtual(main())


class TestResume:
    """A link that drops costs nothing but the drop."""

    def test_a_turn_outlives_its_socket_and_is_in_the_snapshot(self) -> None:
        async def main() -> None:
            async with flow_server() as server:
                async with raw(server, CREATE) as client:
                    known = (await client.next())["conversation"]["id"]
                    await client.say(1)
                    await client.until("conversation.assistant_message.delta")
                    client.socket.transport.abort()
                await asyncio.sleep(10)
                async with raw(server, {"type": "conversation.resume", "conversation_id": known}) as client:
                    resumed = await client.next()
                    assert resumed["type"] == "conversation.resumed"
                    assert set(resumed["conversation"]) == SIX
                    user, first, second = resumed["conversation"]["messages"]
                    assert set(user) == {"role", "id", "turn_id", "content"}
                    assert set(first) == {"role", "id", "turn_id", "kind", "content_parts"}
                    assert second["content_parts"] == [{"type": "text", "text": "Since which day have you had it?"}]
                    assert types(await client.turn(2, "Monday."))[-1] == "turn.completed"

        run_virtual(main())

    def test_in_the_middle_of_a_turn_the_rest_of_it_comes(self) -> None:
        async def main() -> None:
            async with flow_server() as server:
                async with raw(server, CREATE) as client:
                    known = (await client.next())["conversation"]["id"]
                    await client.say(1)
                    await client.until("conversation.assistant_message.delta")
                    client.socket.transport.abort()
                async with raw(server, {"type": "conversation.resume", "conversation_id": known}) as client:
                    (row,) = (await client.next())["conversation"]["messages"]
                    assert row["role"] == "user"
                    await client.until("conversation.turn.completed")
                    assert types(client.frames).count("assistant_message.completed") == 2

        run_virtual(main())

    def test_all_who_follow_a_conversation_get_its_events(self) -> None:
        async def main() -> None:
            async with flow_server() as server, raw(server, CREATE) as one:
                known = (await one.next())["conversation"]["id"]
                async with raw(server, {"type": "conversation.resume", "conversation_id": known}) as two:
                    await two.next()
                    frames = await one.turn(1)
                    await two.until("conversation.turn.completed")
                    assert two.frames[1:] == frames
                    await two.say(2, "Monday.")
                    await two.until("conversation.user_message.created")
                    assert (await one.next())["user_message"]["id"] == uuid(2)

        run_virtual(main())

    def test_the_oldest_conversation_is_forgotten_when_there_are_too_many(self) -> None:
        """A kiosk runs for months; its memory must not grow."""

        async def main() -> None:
            async with flow_server(rules=ServerRules(most_conversations=3)) as server:
                known = []
                for _ in range(5):
                    async with raw(server, CREATE) as client:
                        known.append((await client.next())["conversation"]["id"])
                assert list(server.conversations) == known[2:]
                async with raw(server, {"type": "conversation.resume", "conversation_id": known[0]}) as client:
                    assert error_of(await client.next())[0] == "conversation_not_found"

        run_virtual(main())


class TestHeartbeat:
    """A dead link has to be noticed, a living one to be kept."""

    def test_an_answered_ping_keeps_the_link(self) -> None:
        async def main() -> None:
            async with flow_server(rules=ServerRules(ping_interval=5)) as server, raw(server, CREATE) as client:
                await client.next()
                for _ in range(10):
                    assert await client.next() == {"type": "ping"}
                    await client.send({"type": "pong"})
                assert asyncio.get_running_loop().time() == pytest.approx(50)

        run_virtual(main())

    def test_two_unanswered_pings_end_it(self) -> None:
        async def main() -> None:
            async with flow_server() as server, raw(server, CREATE) as client:
                assert await client.closed() == 1011
                assert types(client.frames) == ["created", "ping", "ping"]
                assert asyncio.get_running_loop().time() == pytest.approx(90)

        run_virtual(main())


def test_stopping_ends_sockets_and_turns() -> None:
    """C5. A demo that ends must leave nothing behind."""

    async def main() -> None:
        before = asyncio.all_tasks()
        server = FlowServer(parse(FLOW % ""))
        await server.start()
        async with raw(server, CREATE) as client:
            await client.say(1)
            await client.until("conversation.assistant_message.delta")
            await server.stop()
            await server.stop()
            assert await client.closed() == 1001
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == before

    run_virtual(main())


def test_a_frame_over_the_limit_ends_that_socket_only() -> None:
    """Nobody can fill the server's memory."""

    async def main() -> None:
        async with flow_server() as server, raw(server, "x" * 70_000) as client:
            assert await client.closed() == 1009
            async with raw(server, CREATE) as other:
                assert (await other.next())["type"] == "conversation.created"

    run_virtual(main())


def test_a_client_that_floods_keeps_nobody_else_waiting() -> None:
    """Hurts everybody at the other desks, while one of them is out of order."""

    async def main() -> None:
        async with flow_server() as server, raw(server, CREATE) as flood, raw(server) as other:
            await flood.until("conversation.created")
            for number in range(300):
                await flood.say(number)
            await other.send(CREATE)
            await other.until("conversation.created")
            first = next(iter(server.conversations.values()))
            assert len(first.received) < 150

    run_virtual(main())


def test_stopping_does_not_wait_for_a_client_that_connects_and_says_nothing() -> None:
    """Hurts the operator whose Ctrl-C seems to do nothing, because of a scanner somewhere on the machine."""

    async def main() -> None:
        async with flow_server() as server:
            _, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
            writer.write(b"GET / HTTP/1.1\r\n")
            await asyncio.sleep(0.1)
            begun = asyncio.get_running_loop().time()
            await server.stop()
            assert asyncio.get_running_loop().time() - begun < 3
            writer.close()

    run_virtual(main())
