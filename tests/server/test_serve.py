"""The server against a plain WebSocket client that speaks JSON, on virtual time."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.wire.lab import FLOW, flow_server, uuid
from voice.server.flow_file import parse
from voice.server.rules import ServerRules
from voice.server.serve import FlowServer
from voice.timeloop import run_virtual

CREATE: dict[str, Any] = {"type": "conversation.create", "conversation": {"settings": {}, "assessment": {}}}
SIX = {"id", "status", "settings", "assessment", "messages", "is_terminated"}


class Raw:
    """One socket: sends objects, reads objects."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.frames: list[Any] = []

    async def send(self, frame: Any) -> None:
        await self.socket.send(frame if isinstance(frame, str | bytes) else json.dumps(frame))

    async def next(self) -> Any:
        text = await self.socket.recv()
        try:
            frame = json.loads(text)
        except ValueError:
            frame = {"type": "(not JSON)"}
        self.frames.append(frame)
        return frame

    async def until(self, kind: str) -> Any:
        while (frame := await self.next())["type"] != kind:
            pass
        return frame

    async def say(self, number: int, content: str = "A cough.", **fields: Any) -> None:
        body = {"id": uuid(number), "content": content, **fields}
        await self.send({"type": "conversation.user_message.create", "user_message": body})

    async def turn(self, number: int, content: str = "A cough.", **fields: Any) -> list[Any]:
        """Say something and read to the end of its turn; the turn's frames."""
        start = len(self.frames)
        await self.say(number, content, **fields)
        await self.until("conversation.turn.completed")
        return self.frames[start:]

    async def closed(self) -> int | None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                await self.next()
        return self.socket.close_code


@contextlib.asynccontextmanager
async def raw(server: FlowServer, first: Any = None, **how: Any) -> AsyncIterator[Raw]:
    async with connect(server.url, ping_interval=None, compression=None, proxy=None, **how) as socket:
        client = Raw(socket)
        if first is not None:
            await client.send(first)
        yield client


def types(frames: list[Any]) -> list[str]:
    return [frame["type"].removeprefix("conversation.") for frame in frames]


def create(assessment: Any = None, **settings: Any) -> dict[str, Any]:
    return {"type": "conversation.create", "conversation": {"settings": settings, "assessment": assessment or {}}}


def error_of(frame: Any) -> tuple[str, list[str]]:
    details = frame["error"].get("details", [])
    return frame["error"]["code"], [f"{detail['location']} {detail['type']}" for detail in details]


class TestFirstFrame:
    """Whoever gets the first frame wrong has to be told what is wrong with it."""

    def test_create_answers_with_the_six_fields_and_the_defaults(self) -> None:
        async def main() -> None:
            async with flow_server() as server, raw(server, create(channel="voice")) as client:
                created = await client.next()
                assert created["type"] == "conversation.created"
                assert set(created["conversation"]) == SIX
                assert created["conversation"]["settings"] == {
                    "language": "en",
                    "channel": "voice",
                    "ui_widgets_enabled": False,
                    "opening_message_enabled": False,
                    "risk_factors_enabled": True,
                    "geographic_risk_factors_enabled": False,
                    "handoff_policies": [],
                    "max_message_length": 1500,
                }
                assert created["conversation"]["messages"] == []

        run_virtual(main())

    def test_the_input_may_stand_at_top_level(self) -> None:
        """Whether it is nested is one of the open questions; a client of either opinion is served."""

        async def main() -> None:
            flat = {"type": "conversation.create", "settings": {"language": "pl"}, "assessment": {}}
            async with flow_server() as server, raw(server, flat) as client:
                assert (await client.next())["conversation"]["settings"]["language"] == "pl"

        run_virtual(main())

    @pytest.mark.parametrize(
        ("first", "code", "details"),
        [
            ("{", "invalid_payload", []),
            (b"\xff", "invalid_payload", []),
            ("[]", "invalid_payload", []),
            ({"no": "type"}, "invalid_payload", []),
            ({"type": "pong"}, "invalid_message_type", []),
            ({"type": "conversation.resume", "conversation_id": uuid(1)}, "conversation_not_found", []),
            ({"type": "conversation.resume"}, "invalid_payload", ["conversation_id uuid_type"]),
            (
                {"type": "conversation.resume", "conversation_id": "x"},
                "invalid_payload",
                ["conversation_id uuid_parsing"],
            ),
            (
                {"type": "conversation.create", "conversation": {"settings": {}}},
                "invalid_payload",
                ["conversation.assessment missing"],
            ),
            (create(channel="smoke"), "invalid_payload", ["conversation.settings.channel literal_error"]),
            (
                create(handoff_policies=["always"]),
                "invalid_payload",
                ["conversation.settings.handoff_policies.0 literal_error"],
            ),
            (create({"age": {"value": "52"}}), "invalid_payload", ["conversation.assessment.age.value int_type"]),
            (create({"age": {"value": 131}}), "invalid_payload", ["conversation.assessment.age value_error"]),
            (
                create({"age": {"value": 0, "unit": "year"}}),
                "invalid_payload",
                ["conversation.assessment.age value_error"],
            ),
        ],
    )
    def test_a_wrong_one_is_answered_and_the_socket_closed(self, first: Any, code: str, details: list[str]) -> None:
        async def main() -> None:
            async with flow_server() as server, raw(server, first) as client:
                assert error_of(await client.next()) == (code, details)
                assert await client.closed() == 1008
                assert server.conversations == {}

        run_virtual(main())

    def test_none_at_all_closes_the_socket_after_ten_seconds(self) -> None:
        async def main() -> None:
            async with flow_server() as server, raw(server) as client:
                assert await client.closed() == 1008
                assert 10 <= asyncio.get_running_loop().time() < 11

        run_virtual(main())


class TestToken:
    """Whoever has no token must not hear anybody's conversation."""

    @pytest.mark.parametrize("header", [None, "Bearer wrong", "Bearer ", "right", "Basic right"])
    def test_a_wrong_one_is_refused_in_both_styles(self, header: str | None) -> None:
        headers = {} if header is None else {"Authorization": header}

        async def main() -> None:
            async with flow_server(token="right") as server, raw(server, additional_headers=headers) as client:
                assert await client.closed() == 1008
            async with flow_server(token="right", rules=ServerRules(refusal="http")) as server:
                with pytest.raises(InvalidStatus) as refused:
                    async with raw(server, additional_headers=headers):
                        pass
                assert refused.value.response.status_code == 403

        run_virtual(main())

    @pytest.mark.parametrize("refusal", ["close", "http"])
    def test_the_right_one_is_let_in(self, refusal: Any) -> None:
        async def main() -> None:
            rules = ServerRules(refusal=refusal)
            headers = {"Authorization": "Bearer right"}
            async with (
                flow_server(token="right", rules=rules) as server,
                raw(server, CREATE, additional_headers=headers) as client,
            ):
                assert (await client.next())["type"] == "conversation.created"

        run_virtual(main())


class TestTurn:
    """What a client can rely on within one turn."""

    def test_the_order_of_events_and_the_pace(self) -> None:
        async def main() -> None:
            async with flow_server() as server, raw(server, CREATE) as client:
                await client.next()
                frames = await client.turn(1)
                assert types(frames) == [
                    "user_message.created",
                    *["assistant_message.delta"] * 2,
                    "assistant_message.completed",
                    *["assistant_message.delta"] * 4,
                    "assistant_message.completed",
                    "assessment.updated",
                    "turn.completed",
                ]
                deltas = [frame["assistant_message"] for frame in frames if frame["type"].endswith("delta")]
                assert [delta["delta"] for delta in deltas[:2]] == ["Thank yo", "u."]
                assert [(delta["kind"], delta["can_interrupt"]) for delta in deltas[1:3]] == [
                    ("acknowledgement", False),
                    ("follow_up", True),
                ]
                assert {frame["turn_id"] for frame in deltas} == {frames[-1]["turn_id"]}
                assert asyncio.get_running_loop().time() == pytest.approx(0.5 + 6 * 0.1)

        run_virtual(main())

    def test_the_end_is_told_and_later_messages_are_refused_on_an_open_socket(self) -> None:
        async def main() -> None:
            async with flow_server() as server, raw(server, CREATE) as client:
                await client.turn(1)
                frames = await client.turn(2, "Monday.")
                assert types(frames)[-3:] == ["assessment.updated", "completed", "turn.completed"]
                await client.say(3)
                assert error_of(await client.next()) == ("conversation_completed", [])
                await client.say(2)  # one it knows
                assert (await client.next())["type"] == "conversation.user_message.created"
                await client.send({"type": "conversation.settings.update", "settings": {"language": "de"}})
                assert (await client.next())["settings"]["language"] == "de"

        run_virtual(main())

    def test_a_child_is_told_so_and_the_conversation_terminated(self) -> None:
        async def main() -> None:
            flow = FLOW.replace('opening = "hello"', 'opening = "hello"\nminimum_age = 18\ntoo_young = "Sorry."')
            first = create({"age": {"value": 12}})
            async with flow_server(flow=flow) as server, raw(server, first) as client:
                frames = await client.turn(1)
                assert types(frames)[-2:] == ["terminated", "turn.completed"]
                await client.say(2)
                assert error_of(await client.next()) == ("conversation_terminated", [])
                (conversation,) = server.conversations.values()
                assert (conversation.status, conversation.is_terminated) == ("completed", True)

        run_virtual(main())

    def test_a_second_message_ends_the_first_turn_before_it_is_accepted(self) -> None:
        """Hurts whoever corrects themselves: two voices at once."""

        async def main() -> None:
            async with flow_server() as server, raw(server, CREATE) as client:
                await client.say(1)
                await client.until("conversation.assistant_message.delta")
                old = client.frames[-1]["assistant_message"]["turn_id"]
                frames = await client.turn(2, "A cold.", is_interrupted=True, played_content="Thank")
                assert types(frames)[:2] == ["turn.interrupted", "user_message.created"]
                assert frames[0]["turn_id"] == old
                assert all(frame["assistant_message"]["turn_id"] != old for frame in frames[2:-2])
                texts = [frame["assistant_message"]["content_parts"] for frame in frames if "completed" in frame["type"]
                         and "assistant_message" in frame]  # fmt: skip
                assert texts[1] == [{"type": "text", "text": "Since which day have you had it?"}]  # asked, not skipped
                assert frames[1]["user_message"]["is_interrupted"] is True
                assert frames[1]["user_message"]["played_content"] == "Thank"

        run_virtual(main())

    def test_the_same_id_twice_is_one_turn(self) -> None:
        """Hurts whoever is answered twice because a link dropped."""

        async def main() -> None:
            async with flow_server() as server, raw(server, CREATE) as client:
                await client.say(1)
                await client.say(1)
                await client.until("conversation.turn.completed")
                turns = {frame["user_message"]["turn_id"] for frame in client.frames if "user_message" in frame}
                assert len(turns) == 1
                (conversation,) = server.conversations.values()
                assert len(conversation.received) == 1

        run_virtual(main())

    def test_messages_without_an_id_are_different_messages(self) -> None:
        async def main() -> None:
            async with flow_server() as server, raw(server, CREATE) as client:
                for _ in range(2):
                    await client.send({"type": "conversation.user_message.create", "user_message": {"content": "x"}})
                    await client.until("conversation.turn.completed")
                (conversation,) = server.conversations.values()
                assert len({got.id for got in conversation.received}) == 2

        run_virtual(main())

    def test_a_handoff_is_told_only_to_whoever_asked_for_it(self) -> None:
        async def main() -> None:
            intent = '[[intent]]\nid = "h"\nmatch = ["nurse"]\nhandoff = "stop_intent_detected"\n'
            for policies in ([], ["stop_intent_handoff"]):
                first = create(handoff_policies=policies)
                async with flow_server(flow=FLOW.replace("%s", "") + intent) as server, raw(server, first) as client:
                    frames = await client.turn(1, "Nurse, please. My name is Anna.")
                    told = [frame["handoff"] for frame in frames if frame["type"] == "conversation.handoff.requested"]
                    request = "Nurse, please. My name is [NAME]."
                    assert told == ([{"reason": "stop_intent_detected", "user_request": request}] if policies else [])
                    assert types(await client.turn(2))[-1] == "turn.completed"

        run_virtual(main())


class TestLaterFrames:
    """A wrong frame concerns that frame only."""

    @pytest.mark.parametrize(
        ("frame", "code", "details"),
        [
            ("{", "invalid_payload", []),
            (CREATE, "invalid_message_type", []),
            ({"type": "conversation.mood"}, "invalid_message_type", []),
            ({"type": "conversation.user_message.create"}, "invalid_payload", ["user_message model_type"]),
            (
                {"type": "conversation.user_message.create", "user_message": {"content": ""}},
                "invalid_payload",
                ["user_message.content string_too_short"],
            ),
            (
                {"type": "conversation.user_message.create", "user_message": {"content": "x" * 1501}},
                "invalid_payload",
                ["user_message.content string_too_long"],
            ),
            (
                {"type": "conversation.user_message.create", "user_message": {"content": "x", "id": "7"}},
                "invalid_payload",
                ["user_message.id uuid_parsing"],
            ),
            (
                {"type": "conversation.user_message.create", "user_message": {"content": "x", "is_interrupted": "no"}},
                "invalid_payload",
                ["user_message.is_interrupted bool_type"],
            ),
            (
                {"type": "conversation.settings.update", "settings": {"channel": 3}},
                "invalid_payload",
                ["settings.channel literal_error"],
            ),
        ],
    )
    def test_are_answered_and_the_conversation_goes_on(self, frame: Any, code: str, details: list[str]) -> None:
        async def main() -> None:
            async with flow_server() as server, raw(server, CREATE) as client:
                await client.next()
                await client.send(frame)
                assert error_of(await client.next()) == (code, details)
                assert types(await client.turn(1))[-1] == "turn.completed"

        run_virtual(main())

    def test_the_length_is_counted_in_code_points_before_redaction(self) -> None:
        """A byte or UTF-16 count would cut off whoever writes with emoji or in Chinese."""

        async def main() -> None:
            flow = FLOW.replace('opening = "hello"', 'opening = "hello"\nmax_message_length = 20')
            async with flow_server(flow=flow) as server, raw(server, CREATE) as client:
                assert (await client.next())["conversation"]["settings"]["max_message_length"] == 20
                await client.turn(1, "\U0001f912" * 20)
                await client.say(2, "a.long.address@example.org")  # shorter once it is [EMAIL]
                assert error_of(await client.next())[1] == ["user_message.content string_too_long"]

        run_virtual(main())

    def test_settings_keep_what_an_update_leaves_out(self) -> None:
        async def main() -> None:
            async with flow_server() as server, raw(server, create(channel="voice")) as client:
                await client.next()
                await client.send({"type": "conversation.settings.update", "settings": {"language": "pl"}})
                updated = await client.next()
                assert updated["type"] == "conversation.settings.updated"
                assert (updated["settings"]["language"], updated["settings"]["channel"]) == ("pl", "voice")

        run_virtual(main())

    def test_an_error_never_quotes_what_was_said(self) -> None:
        """Hurts the person whose words end in the logs of the client."""

        async def main() -> None:
            async with flow_server() as server, raw(server, CREATE) as client:
                await client.next()
                for body in ({"content": ["private"]}, {"content": "private " * 1000}, "private"):
                    await client.send({"type": "conversation.user_message.create", "user_message": body})
                    assert "private" not in json.dumps(await client.next())

        run_virtual(main())


def test_what_is_told_and_kept_is_redacted() -> None:
    """Hurts the person whose name and number would be in every snapshot."""

    async def main() -> None:
        async with flow_server() as server, raw(server, CREATE) as client:
            await client.turn(
                1, "My name is Anna, 555 123 4567.", is_interrupted=True, played_content="Write to a@b.org"
            )
            told = next(frame["user_message"] for frame in client.frames if "user_message" in frame)
            assert (told["content"], told["played_content"]) == ("My name is [NAME], [PHONE].", "Write to [EMAIL]")
            (conversation,) = server.conversations.values()
            assert "Anna" not in repr(conversation.received) + repr(conversation.rows)

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


class TestOpening:
    """The assistant speaks first, in one of the ways that the pages leave open."""

    def test_as_live_events(self) -> None:
        async def main() -> None:
            async with flow_server() as server, raw(server, create(opening_message_enabled=True)) as client:
                await client.until("conversation.turn.completed")
                assert types(client.frames)[-2:] == ["assistant_message.completed", "turn.completed"]
                assert client.frames[1]["assistant_message"]["kind"] == "intro"
                assert "user_message.created" not in types(client.frames)

        run_virtual(main())

    def test_as_a_row_of_the_snapshot(self) -> None:
        async def main() -> None:
            rules = ServerRules(opening="snapshot")
            first = create(opening_message_enabled=True)
            async with flow_server(rules=rules) as server, raw(server, first) as client:
                (row,) = (await client.next())["conversation"]["messages"]
                assert row["content_parts"] == [{"type": "text", "text": "Hello. What is it?"}]
                assert types(await client.turn(1))[0] == "user_message.created"

        run_virtual(main())

    def test_a_message_over_it_preempts_it(self) -> None:
        async def main() -> None:
            async with flow_server() as server, raw(server, create(opening_message_enabled=True)) as client:
                await client.until("conversation.assistant_message.delta")
                frames = await client.turn(1)
                assert types(frames)[:2] == ["turn.interrupted", "user_message.created"]

        run_virtual(main())


WIDGET = (
    '{ kind = "follow_up", text = "Since which day have you had it?", widgets = [{ type = "hints", hints = ["a"] }] }'
)
WITH_WIDGET = FLOW.replace('{ kind = "follow_up", text = "Since which day have you had it?" }', WIDGET)


class TestFaults:
    """What a real server may do on a bad day, to order."""

    @staticmethod
    def one_turn(fault: str, flow: str = FLOW, **settings: Any) -> list[Any]:
        async def main() -> list[Any]:
            async with (
                flow_server(f"[step.faults]\n{fault}\n", flow=flow) as server,
                raw(server, create(**settings)) as client,
            ):
                await client.next()
                await client.say(1)
                with contextlib.suppress(ConnectionClosed):
                    while not client.frames[-1]["type"].startswith("conversation.turn."):
                        await client.next()
                return client.frames[1:]

        return run_virtual(main())

    @pytest.mark.parametrize("frames", [1, 2, 5])
    def test_the_socket_drops_after_so_many_frames_of_the_turn(self, frames: int) -> None:
        seen = self.one_turn(f"drop_after = {frames}")
        assert len(seen) == frames + 1  # and the acceptance before them

    def test_a_delay(self) -> None:
        async def main() -> None:
            async with flow_server("[step.faults]\ndelay = 30\n") as server, raw(server, CREATE) as client:
                await client.say(1)
                await client.until("conversation.assistant_message.delta")
                assert asyncio.get_running_loop().time() == pytest.approx(30.5)

        run_virtual(main())

    def test_a_delta_comes_twice(self) -> None:
        deltas = [
            f["assistant_message"]["delta"] for f in self.one_turn("duplicate_delta = true") if "delta" in f["type"]
        ]
        assert deltas[:3] == ["Thank yo", "Thank yo", "u."]

    def test_a_frame_that_is_no_json(self) -> None:
        assert types(self.one_turn("malformed = true")).count("(not JSON)") == 2

    def test_completed_differs_from_the_deltas(self) -> None:
        done = [f for f in self.one_turn('other_text = "it, please?"') if f["type"].endswith("message.completed")]
        assert done[1]["assistant_message"]["content_parts"][0]["text"] == "Since which day have youit, please?"

    def test_completed_comes_without_deltas(self) -> None:
        seen = types(self.one_turn("no_deltas = true"))
        assert "assistant_message.delta" not in seen
        assert seen.count("assistant_message.completed") == 2

    def test_the_widget_comes_before_the_text(self) -> None:
        seen = types(self.one_turn("widgets_first = true", WITH_WIDGET, ui_widgets_enabled=True))
        assert seen.index("assistant_message.ui_widget") == 4
        seen = types(self.one_turn("", WITH_WIDGET, ui_widgets_enabled=True))
        assert seen.index("assistant_message.ui_widget") == 8
        assert "assistant_message.ui_widget" not in types(self.one_turn("", WITH_WIDGET))

    def test_the_turn_fails_and_the_same_words_may_be_said_again(self) -> None:
        seen = self.one_turn("fail = true")
        assert seen[-1]["type"] == "conversation.turn.failed"
        assert seen[-1]["error"]["code"] == "engine_unavailable"

    def test_events_of_a_preempted_turn_come_late(self) -> None:
        async def main() -> None:
            async with flow_server("[step.faults]\nlate_events = 2\n") as server, raw(server, CREATE) as client:
                await client.next()
                await client.say(1)
                old = (await client.until("conversation.assistant_message.delta"))["assistant_message"]["turn_id"]
                frames = await client.turn(2)
                assert types(frames)[:4] == [
                    "turn.interrupted",
                    "user_message.created",
                    "assistant_message.delta",
                    "assistant_message.completed",
                ]
                assert [frame["assistant_message"]["turn_id"] for frame in frames[2:4]] == [old, old]

        run_virtual(main())


def test_a_read_back_is_one_delta_and_a_card_when_widgets_are_on() -> None:
    """The copy is made by the server in one piece; with a card, the text does not list the findings twice."""
    finding = '[[finding]]\nid = "r"\nname = "a rash that itches"\nmatch = ["rash"]\n'

    async def main() -> None:
        for enabled in (False, True):
            first = create(ui_widgets_enabled=enabled)
            async with flow_server(flow=FLOW.replace("%s", "") + finding) as server, raw(server, first) as client:
                await client.turn(1)
                frames = await client.turn(2, "Monday, and I have a rash.")
                ours = [
                    f["assistant_message"] for f in frames if f.get("assistant_message", {}).get("kind") == "read_back"
                ]
                spoken = "Let me confirm what I noted." if enabled else "I noted that you have a rash that itches."
                assert [message["delta"] for message in ours[:-1]] == [spoken]
                kinds = [part["type"] for part in ours[-1]["content_parts"]]
                assert kinds == (["text", "ui_widget"] if enabled else ["text"])

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
