"""The player decides which words count as heard and how fast the voice falls silent."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.audio.base import BLOCK, RATE
from voice.audio.player import Player
from voice.core.events import Span, Stamp

BLOCK_S = BLOCK / RATE


def tone(count: int, level: float = 0.5, hz: float = 220.0) -> np.ndarray:
    return (level * np.sin(2 * np.pi * hz * np.arange(count) / RATE)).astype(np.float32)


class Sink:
    """A loudspeaker that keeps what it is given; block `k` leaves it at `start + k * 10 ms`."""

    def __init__(self, player: Player, start: float = 100.0) -> None:
        self.player, self.start = player, start
        self.heard = np.zeros(0, np.float32)

    def run(self, blocks: int = 1, size: int = BLOCK) -> np.ndarray:
        before = self.heard.size
        for _ in range(blocks):
            out = np.full(size, np.nan, np.float32)
            self.player.render(out, self.start + self.heard.size / RATE)
            self.heard = np.append(self.heard, out)
        return self.heard[before:]


class TestEverySample:
    def test_one_and_a_half_blocks(self):
        """A device that only takes whole blocks must not cost the last word its end."""
        player = Player()
        pcm = tone(240)
        player.enqueue("m", 0, pcm)
        heard = Sink(player).run(3)
        assert np.array_equal(heard[:240], pcm)
        assert not heard[240:].any()
        assert player.played().spans == (Span(0, "m", 0, 0, 240),)

    @given(
        sizes=st.lists(st.integers(0, 400), max_size=8), blocks=st.lists(st.integers(1, 500), min_size=1, max_size=8)
    )
    def test_any_packing_any_block_size(self, sizes, blocks):
        """Whatever pieces the voice delivers, the ledger places each sample on the frame that carried it."""
        player = Player()
        pcm = np.random.default_rng(1).uniform(-1, 1, sum(sizes)).astype(np.float32)
        at = 0
        for size in sizes:
            player.enqueue("m", 0, pcm[at : at + size])
            at += size
        sink = Sink(player)
        while player.queued():
            for size in blocks:
                sink.run(1, size)
        assert np.array_equal(sink.heard[: pcm.size], pcm)
        assert player.played().spans == ((Span(0, "m", 0, 0, pcm.size),) if pcm.size else ())

    def test_the_caller_may_reuse_its_buffer(self):
        """A synthesiser that fills one buffer again and again must not change what is queued."""
        player = Player()
        pcm = tone(BLOCK)
        player.enqueue("m", 0, pcm)
        kept = pcm.copy()
        pcm[:] = 0
        assert np.array_equal(Sink(player).run(), kept)

    def test_the_end_is_known_from_the_count(self):
        """An engine that never says that it finished must not leave the conversation hanging."""
        player = Player()
        player.enqueue("m", 0, tone(1000))
        assert player.queued() == 1000 / RATE
        Sink(player).run(7)
        assert player.queued() == 0
        assert sum(span.count for span in player.played().spans) == 1000

    def test_clauses_are_told_apart_and_spans_merge(self):
        """One span a clause keeps an hour of speech a short list."""
        player = Player()
        for clause in (0, 1):
            for _ in range(5):
                player.enqueue("m", clause, tone(200))
        player.enqueue("n", 0, tone(200))
        Sink(player).run(20)
        assert player.played().spans == (
            Span(0, "m", 0, 0, 1000),
            Span(1000, "m", 1, 0, 1000),
            Span(2000, "n", 0, 0, 200),
        )
        assert player.played().spans == ()


class TestWhatIsNotHeard:
    def test_an_underrun_is_in_no_span(self):
        """A gap in the sound must not count as words."""
        player = Player()
        sink = Sink(player)
        player.enqueue("m", 0, tone(100))
        sink.run(2)
        player.enqueue("m", 0, tone(60))
        sink.run(1)
        assert player.played().spans == (Span(0, "m", 0, 0, 100), Span(320, "m", 0, 100, 60))

    def test_silence_is_in_no_span(self):
        """The pause before a sentence is not a word that was heard."""
        player = Player()
        player.silence(0.005)
        player.enqueue("m", 0, tone(80))
        heard = Sink(player).run(2)
        assert not heard[:80].any()
        assert np.array_equal(heard[80:160], tone(80))
        assert player.played().spans == (Span(80, "m", 0, 0, 80),)

    def test_a_sleeping_sink_is_woken_and_not_paid_for(self):
        """A Bluetooth loudspeaker that sleeps must not swallow the first word, nor count its own waking."""
        player = Player(lead_in=0.3, idle_after=2.0)
        player.enqueue("m", 0, tone(BLOCK))
        heard = Sink(player).run(31)
        lead_in = heard[: round(0.3 * RATE)]
        assert 0 < np.abs(lead_in).max() < 0.003
        assert np.array_equal(heard[round(0.3 * RATE) :], tone(BLOCK))
        assert player.played().spans == (Span(4800, "m", 0, 0, BLOCK),)

    @pytest.mark.parametrize(("pause", "woken"), [(1.9, False), (2.1, True)])
    def test_only_after_a_long_pause(self, pause, woken):
        """A lead-in within a conversation would make every answer late."""
        player = Player(lead_in=0.1, idle_after=2.0)
        sink = Sink(player)
        player.enqueue("m", 0, tone(BLOCK))
        sink.run(11)
        sink.run(round(pause / BLOCK_S))
        frame = player.frames
        player.enqueue("m", 1, tone(BLOCK))
        sink.run(12)
        assert player.played().spans[-1].frame == frame + (1600 if woken else 0)

    def test_queued_silence_lets_the_sink_sleep_too(self):
        """Three seconds of asked-for silence put a sink to sleep as surely as an empty queue."""
        player = Player(lead_in=0.1)
        sink = Sink(player)
        player.enqueue("m", 0, tone(BLOCK))
        player.silence(3.0)
        player.enqueue("m", 1, tone(BLOCK))
        sink.run(400)
        assert player.played().spans[-1].frame == 1600 + BLOCK + 48000 + 1600


class TestStop:
    @pytest.mark.parametrize("fade", [0.002, 0.010, 0.012])
    def test_silence_within_a_block_and_a_fade_without_a_click(self, fade):
        """The user who says "stop" hears it stop, and hears no crack."""
        player = Player(fade=fade)
        pcm = tone(RATE, hz=440)
        player.enqueue("m", 0, pcm)
        sink = Sink(player)
        sink.run(37)
        stopped = player.stop()
        after = sink.run(5)
        assert stopped.frame == 37 * BLOCK
        assert np.flatnonzero(after).max() < fade * RATE
        worst = np.abs(np.diff(sink.heard)).max()
        assert worst <= np.abs(np.diff(pcm)).max() + 0.5 * np.pi / (2 * fade * RATE)

    def test_at_once_and_nothing_of_the_fade_counts(self):
        """Half a word in a fade must never be reported as heard."""
        player = Player()
        player.enqueue("m", 0, tone(RATE))
        sink = Sink(player)
        sink.run(10)
        stopped = player.stop()
        assert stopped.spans == (Span(0, "m", 0, 0, 1600),)
        sink.run(10)
        assert player.played().spans == ()
        assert player.queued() == 0

    def test_two_seconds_of_five(self):
        """A cut at 2.0 s of a 5.0 s message is at 2.0 s, within one block."""
        player = Player()
        player.enqueue("m", 0, tone(5 * RATE))
        Sink(player).run(200)
        stopped = player.stop()
        heard = sum(span.count for span in stopped.spans) / RATE
        assert abs(heard - 2.0) <= BLOCK_S

    def test_a_sink_that_takes_six_seconds_at_once(self):
        """With a deep buffer the written position runs ahead; the stamp still says what left the loudspeaker."""
        player = Player()
        player.enqueue("m", 0, tone(10 * RATE))
        sink = Sink(player, start=100.0)
        sink.run(600)
        stopped = player.stop()
        assert stopped.stamp == Stamp(599 * BLOCK, pytest.approx(105.99))
        heard_at_101 = stopped.stamp.frame + (101.0 - stopped.stamp.time) * RATE
        assert heard_at_101 == pytest.approx(1 * RATE)

    def test_late_audio_of_a_dead_message_is_dropped(self):
        """After "stop", the rest of the sentence must not come out of the loudspeaker."""
        player = Player()
        generation = player.generation
        assert player.enqueue("m", 0, tone(1000), generation)
        sink = Sink(player)
        sink.run()
        player.stop()
        sink.run(2)
        assert not player.enqueue("m", 0, tone(1000), generation)
        assert not sink.run(10).any()
        assert player.enqueue("n", 0, tone(BLOCK), player.generation)
        assert np.array_equal(sink.run(), tone(BLOCK))

    def test_the_next_message_waits_for_the_fade(self):
        """An answer queued right after the cut begins behind the fade, whole."""
        player = Player(fade=0.010)
        player.enqueue("m", 0, tone(RATE))
        sink = Sink(player)
        sink.run(3)
        player.stop()
        player.enqueue("n", 0, tone(BLOCK))
        sink.run(3)
        assert player.played().spans == (Span(4 * BLOCK, "n", 0, 0, BLOCK),)
        assert np.array_equal(sink.heard[4 * BLOCK : 5 * BLOCK], tone(BLOCK))

    def test_at_the_end_of_the_queue(self):
        """The last samples before an empty queue fade too, instead of breaking off."""
        player = Player()
        player.enqueue("m", 0, np.full(BLOCK + 10, 0.5, np.float32))
        sink = Sink(player)
        sink.run()
        player.stop()
        sink.run(3)
        assert np.abs(np.diff(sink.heard)).max() < 0.01

    def test_twice_and_with_nothing_to_stop(self):
        """Two causes for one cut give one set of spans."""
        player = Player()
        assert player.stop().spans == ()
        player.enqueue("m", 0, tone(RATE))
        sink = Sink(player)
        sink.run(2)
        assert len(player.stop().spans) == 1
        assert player.stop().spans == ()
        sink.run(1)
        assert not sink.run(3).any()

    @pytest.mark.parametrize("fade", [0.0, 0.013])
    def test_a_fade_is_short(self, fade):
        """A fade of zero clicks; a long one is heard as not stopping."""
        with pytest.raises(ValueError, match="fade"):
            Player(fade=fade)


class TestDuck:
    def test_down_within_one_block_and_back(self):
        """When somebody speaks the voice steps back at once, and positions go on."""
        player = Player(duck_db=-20)
        pcm = np.full(10 * BLOCK, 0.5, np.float32)
        player.enqueue("m", 0, pcm)
        sink = Sink(player)
        sink.run(2)
        player.duck(True)
        sink.run(3)
        player.duck(False)
        sink.run(3)
        heard = sink.heard.reshape(-1, BLOCK)
        assert np.allclose(heard[3:5], 0.05)
        assert np.array_equal(heard[6:].ravel(), pcm[6 * BLOCK : 8 * BLOCK])
        assert np.abs(np.diff(sink.heard)).max() < 0.008
        assert player.played().spans == (
            Span(0, "m", 0, 0, 320, 1.0),
            Span(320, "m", 0, 320, 640, pytest.approx(0.1)),
            Span(960, "m", 0, 960, 320, 1.0),
        )

    def test_a_cut_ends_it(self):
        """The answer to an interruption is not whispered."""
        player = Player()
        player.enqueue("m", 0, tone(RATE))
        player.duck(True)
        sink = Sink(player)
        sink.run(2)
        player.stop()
        sink.run(1)
        player.enqueue("n", 0, tone(BLOCK))
        assert np.array_equal(sink.run(1), tone(BLOCK))


def test_stopping_while_the_device_renders():
    """A cut from another thread never loses or doubles a sample of the account."""
    player = Player()
    player.enqueue("m", 0, tone(60 * RATE))
    sink = Sink(player)
    thread = threading.Thread(target=sink.run, args=(2000,))
    thread.start()
    while not player.frames:
        pass
    stopped = player.stop()
    thread.join()
    assert sum(span.count for span in stopped.spans) == stopped.frame
    assert not sink.heard[stopped.frame + 160 :].any()
