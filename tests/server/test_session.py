from __future__ import annotations

import asyncio

import pytest

from tests.server.raw import CREATE, create, error_of, raw, types
from tests.wire.lab import FLOW, flow_server
from voice.timeloop import run_virtual


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
            assume = {"opening.arrives": "snapshot"}
            first = create(opening_message_enabled=True)
            async with flow_server(assume=assume) as server, raw(server, first) as client:
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
