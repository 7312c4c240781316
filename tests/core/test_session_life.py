"""Any order of events, and a long life: one report for each message, and nothing that grows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.stage import BLOCK, RATE, WORD, Stage, WordEngine
from voice.core.events import DeviceLost, LinkDown, Shutdown, Tick, Typed, UserCut
from voice.core.evidence import Partial, SpeechPaused, SpeechResumed, SpeechStarted, Utterance
from voice.core.script import speakable, words_of
from voice.core.server_events import (
    ConversationClosed,
    HistoryRow,
    MessageCompleted,
    MessageDelta,
    Snapshot,
    TurnEnded,
    UserAccepted,
)
from voice.core.speaking import REMEMBERED

TEXTS = ("One two three. ", "Four, five; six! ", "Seven", " eight nine. ", "您好。", "...", " ", "")
SAID = ("", "ok", "stop", "my knee hurts", "you", "yes")
KINDS = ("follow_up", "acknowledgement", "intro")
SNAPSHOT = Snapshot("c1", resumed=True, completed=False, terminated=False, max_message_length=1500, rows=())

message = st.integers(0, 5)
"""Message n belongs to turn n // 2 and is of kind n % 3."""
utterance = st.sampled_from(("x1", "x2", "x3"))

ACTIONS = st.one_of(
    st.tuples(st.just("run"), st.sampled_from((0.05, 0.3, 1.0, 3.0))),
    st.tuples(st.just("delta"), message, st.sampled_from(TEXTS)),
    st.tuples(st.just("completed"), message, st.sampled_from(TEXTS)),
    st.tuples(st.just("accepted"), st.integers(0, 2)),
    st.tuples(st.just("turn"), st.integers(0, 2), st.sampled_from(("completed", "interrupted", "failed"))),
    st.tuples(st.just("started"), utterance),
    st.tuples(st.just("paused"), utterance),
    st.tuples(st.just("resumed"), utterance),
    st.tuples(st.just("partial"), utterance, st.sampled_from(SAID)),
    st.tuples(st.just("utterance"), utterance, st.sampled_from(SAID)),
    st.tuples(st.just("typed"), st.sampled_from(SAID)),
    st.tuples(st.just("hand"), st.sampled_from(("key", "touch"))),
    st.tuples(st.just("device")),
    st.tuples(st.just("link down")),
    st.tuples(st.just("snapshot"), message, st.sampled_from(TEXTS)),
    st.tuples(st.just("closed")),
    st.tuples(st.just("tick")),
)


def act(stage: Stage, action: tuple[Any, ...], now: float) -> None:
    name, kind = action[0], lambda n: KINDS[n % 3]
    turn: Callable[[int], str] = lambda n: f"t{n // 2}"  # noqa: E731
    match action:
        case ("run", seconds):
            stage.run(seconds)
        case ("delta", n, text):
            stage.feed(MessageDelta(f"m{n}", turn(n), kind(n), None, text))
        case ("completed", n, text):
            stage.feed(MessageCompleted(f"m{n}", turn(n), kind(n), None, text))
        case ("accepted", n):
            stage.feed(UserAccepted("u", f"t{n}", "words"))
        case ("turn", n, outcome):
            stage.feed(TurnEnded(f"t{n}", outcome))
        case ("started", x):
            stage.feed(SpeechStarted(x, now))
        case ("paused", x):
            stage.feed(SpeechPaused(x, now))
        case ("resumed", x):
            stage.feed(SpeechResumed(x))
        case ("partial", x, text):
            stage.feed(Partial(x, text, 0.5))
        case ("utterance", x, text):
            stage.feed(Utterance(x, text, now - 0.6, now))
        case ("typed", text):
            stage.feed(Typed(text))
        case ("hand", cause):
            stage.feed(UserCut(cause))
        case ("device",):
            stage.feed(DeviceLost("unplugged"))
        case ("link down",):
            stage.feed(LinkDown("reset", fatal=False))
        case ("snapshot", n, text):
            stage.feed(replace(SNAPSHOT, rows=(HistoryRow("assistant", f"m{n}", turn(n), text, kind(n)),)))
        case ("closed",):
            stage.feed(ConversationClosed(terminated=False))
        case ("tick",):
            stage.feed(Tick())
        case _:
            raise AssertionError(name)


class TestAnyOrder:
    @settings(max_examples=250, deadline=None)
    @given(actions=st.lists(ACTIONS, min_size=6, max_size=40), latency=st.sampled_from((0.0, 0.2)))
    def test_each_message_has_exactly_one_report(self, actions: list[tuple[Any, ...]], latency: float) -> None:
        """H10. A message without a report is a hole in the record of a medical conversation; two reports contradict
        each other. And a conversation that cannot be ended holds up the next person."""
        stage = Stage(latency=latency, block=5 * BLOCK)
        owed: set[str] = set()
        allowed: set[str] = set()
        for action in actions:
            open_before = not stage.ended
            act(stage, action, stage.now)
            if open_before and action[0] in ("delta", "completed", "snapshot"):
                allowed.add(f"m{action[1]}")
                if action[0] != "delta" or not any(earlier[0] in ("link down", "snapshot") for earlier in actions):
                    owed.add(f"m{action[1]}")
        stage.feed(Shutdown())
        assert len(stage.ended) == 1
        assert owed <= set(stage.closed) <= allowed  # `closed` itself refuses a second report
        self.check(stage)

    def check(self, stage: Stage) -> None:
        words = 0
        for report in stage.closed.values():
            assert report.source.startswith(report.heard)
            words += sum(speakable(report.heard[start:end]) for start, end in words_of(report.heard))
        voiced = np.count_nonzero(np.abs(stage.sound) > 0.01) / RATE
        assert words * WORD <= voiced + 1e-6  # never a word that did not leave the loudspeaker
        for said in stage.sent:
            assert said.is_interrupted == (said.played_content is not None)
            assert said.content.strip()
        after = stage.outputs[stage.outputs.index(next(o for o in stage.outputs if type(o).__name__ == "Ended")) + 1 :]
        assert after == []

    @settings(max_examples=100, deadline=None)
    @given(actions=st.lists(ACTIONS, min_size=6, max_size=30))
    def test_no_order_leaves_the_session_stuck(self, actions: list[tuple[Any, ...]]) -> None:
        """Whatever went before: the answer to a new question is spoken. A kiosk that says nothing looks broken."""
        stage = Stage(block=10 * BLOCK)
        for action in actions:
            if action[0] != "closed":
                act(stage, action, stage.now)
        for n in range(3):  # the server ends what it began, and the ears end what they heard
            stage.feed(TurnEnded(f"t{n}", "completed"), Utterance(f"x{n + 1}", "", stage.now, stage.now))
        stage.run(12.0)
        stage.feed(UserAccepted("u", "t9", "words"))
        stage.says("One two three.", message="m9", turn="t9")
        stage.run(6.0)
        assert stage.heard["m9"] == "One two three."


def held_by(root: object) -> int:
    """The number of objects that hang on `root`: members, items, attributes, down to the leaves."""
    seen: set[int] = set()
    todo: list[object] = [root]
    while todo:
        item = todo.pop()
        if id(item) in seen or isinstance(item, type) or callable(item):
            continue
        seen.add(id(item))
        todo.extend(children(item))
    return len(seen)


def children(item: object) -> Iterable[object]:
    if isinstance(item, dict):
        return [*item.keys(), *item.values()]
    if isinstance(item, (list, tuple, set, frozenset)) or type(item).__name__ == "deque":
        return list(item)  # type: ignore[call-overload]
    if is_dataclass(item):
        return [getattr(item, field.name) for field in fields(item)]
    return list(getattr(item, "__dict__", {}).values())


class TestLongLife:
    def test_a_thousand_messages_leave_nothing_behind(self) -> None:
        """C3. A kiosk that runs for a month would slow down, and then die at night."""
        stage = Stage(engine=WordEngine(word=0.02), block=10 * BLOCK)

        def turns(first: int, count: int) -> None:
            for n in range(first, first + count):
                stage.feed(UserAccepted(f"u{n}", f"t{n}", "words"))
                stage.says("One two, three.", message=f"m{n}", turn=f"t{n}")
                stage.run(0.3)
                if n % 2:
                    stage.run(0.1)
                    stage.spoken_at_once("my knee hurts", name=f"x{n}")
                stage.turn_ended(f"t{n}")
                stage.run(0.2)
            stage.outputs.clear()
            stage.asked.clear()
            stage.loudspeaker.clear()

        turns(0, 2 * REMEMBERED + 100)  # as much as is remembered on purpose
        before = held_by(stage.session)
        turns(10_000, 1000)
        assert abs(held_by(stage.session) - before) <= 4
        assert before < 8 * REMEMBERED
        assert sys.getsizeof(stage.session.speaking.playhead._tracks) < 1000
