"""The page shows words of strangers to somebody who trusts it, without a network, on any screen, to any eye."""

import html.parser
import re

import pytest

from tests.report.story import Story, triage
from voice.core import events as ev
from voice.report.kinds import COLOURS, shade, tint
from voice.report.page import INLINE_LIMIT, clock, page, safe
from voice.report.record import Record
from voice.report.summary import summary
from voice.report.words import SpokenWord

EVIL = '\ud800<script>alert("x")</script><img src=x onerror=y>\x1b[2J[bold]${talk}$title\' onclick=z'


class Tags(html.parser.HTMLParser):
    """Collects the elements and checks that each is closed."""

    VOID = frozenset({"meta", "img", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict]] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.found)


def of(story: Story, **how) -> str:
    record = Record()
    story.tell(record)
    if "u3" in record.utterances:
        record.meant("No fever, but my neck is stiff.", 110.7, 112.6)
    words = {
        name: [SpokenWord(w.text, w.t_start - story.t0, w.t_end - story.t0, w.whole) for w in record.words(name)]
        for name in record.messages
    }
    made = summary(record, backend="a", flow="b", device="room", engines={"voice": "espeak"}, origin=story.t0)
    return page(made, words, **how)


def evil() -> Story:
    story = Story()
    story.message(1.0, EVIL, EVIL, kind=EVIL, turn=EVIL, heard=2, cut="voice")
    story.utterance(1.5, EVIL, EVIL, sent=4.0, played=EVIL, decisions=((1.6, "ignore", EVIL),))
    story.at(4.5, ev.Notice("x" + EVIL, EVIL))
    return story


class TestSafety:
    def test_text_of_strangers_stays_text(self):
        """A server, or a user who says "less than script", would run code in the operator's browser."""
        calm, tags = Tags(of(triage())), Tags(of(evil()))
        assert {name for name, _ in tags.found} <= {name for name, _ in calm.found} | {"dl", "dt", "dd"}
        assert tags.count("script") == 1
        assert not [a for _, attrs in tags.found for a in attrs if a.startswith("on")]

    def test_no_control_character_is_left(self):
        """Copied into a terminal, it would be obeyed."""
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", of(evil()))

    def test_a_place_of_the_template_in_a_text_stays_text(self):
        """A message could pull other parts of the page to where it stands."""
        assert "${talk}" in of(evil())

    @pytest.mark.parametrize("how", [{}, {"sound": b"x" * 10, "picture": b"y"}, {"sound": bytes(INLINE_LIMIT + 1)}])
    def test_nothing_is_loaded_from_anywhere(self, how):
        """Opening a patient's report would tell somebody about it."""
        text = of(triage(), **how)
        assert "http://" not in text
        assert "https://" not in text
        assert not re.search(r"""(?:src|href)="(?!data:|conversation\.wav")""", text)
        assert "url(" not in text
        assert "@import" not in text

    def test_safe_escapes_for_attributes_too(self):
        """A quotation mark would end the attribute."""
        assert safe("""<a b="c" d='e'>&\x07""") == "&lt;a b=&quot;c&quot; d=&#x27;e&#x27;&gt;&amp;"


class TestTranscript:
    def test_marks_what_was_not_heard(self):
        """The page would show the server's text as if it had been said."""
        assert "had chills during the last two days?</del>" in of(triage())
        assert of(triage()).count("<del>") == 2

    def test_names_the_cause_of_each_cut(self):
        """A reader would not know whom to ask."""
        text = of(triage())
        assert text.count("cut by voice<") == 1
        assert text.count("cut by voice before its first word") == 1

    def test_an_unspoken_message_stands_behind_the_one_it_waited_for(self):
        """A question would seem to come after the answer that made it unnecessary."""
        text = of(triage())
        assert text.index("had chills") < text.index("If you measured it") < text.index("but my neck is stiff")

    def test_says_what_the_user_meant_and_what_was_made_of_it(self):
        """Recognition errors would be blamed on the user."""
        text = of(triage())
        assert "recognised and sent as meant" in text
        assert "no words were recognised" in text
        assert "“Do you also have a fever, or have you”" in text
        assert "0.9 s, until the floor was free" in text

    def test_each_heard_word_has_its_time(self):
        """Words could not light up while they sound."""
        assert '<span data-a="7.90" data-b="8.17">Thank</span>' in of(triage())

    def test_of_nothing_says_so(self):
        """An empty page looks broken."""
        assert "Nothing was said." in of(Story())


class TestEverybody:
    def test_has_landmarks_headings_and_a_language(self):
        """A screen reader would read one long line."""
        tags = Tags(of(triage(), picture=b"y", sound=b"x"))
        assert [tags.count(name) for name in ("header", "main", "footer", "h1", "html")] == [1] * 5
        assert dict(tags.found)["html"]["lang"] == "en"
        assert tags.count("h2") == 5
        named = {
            attrs["aria-labelledby"] for name, attrs in tags.found if name == "section" and "aria-label" not in attrs
        }
        assert named == {attrs["id"] for name, attrs in tags.found if name == "h2"}

    def test_the_picture_has_words_in_its_place(self):
        """Who cannot see the picture would not know what is missing."""
        images = [attrs for name, attrs in Tags(of(triage(), picture=b"y")).found if name == "img"]
        assert len(images[0]["alt"]) > 80

    @pytest.mark.parametrize("scheme", [0, 1])
    def test_text_has_contrast(self, scheme):
        """WCAG 1.4.3: 4.5 to 1, in light and in dark."""
        blocks = re.findall(r":root \{(.*?)\}", of(Story()), re.DOTALL)
        ink = dict(re.findall(r"--([\w-]+): (#\w+)", blocks[scheme]))
        for text, grounds in {
            "ink": ("ground", "card", "you"),
            "soft": ("ground", "card", "you"),
            "cut": ("cut-ground",),
            "good": ("you",),
            "mark-ink": ("mark",),
        }.items():
            for ground in grounds:
                assert contrast(ink[text], ink[ground]) >= 4.5, (text, ground)

    def test_kinds_have_contrast_on_the_picture(self):
        """A pale name on a pale ground."""
        for kind in (*COLOURS, "unknown"):
            assert contrast(shade(kind), "#ffffff") >= 4.5
            assert contrast("#1b1f24", tint(kind)) >= 4.5


class TestSound:
    def test_is_in_the_page_while_it_is_short(self):
        """A page that is sent to a colleague would be silent."""
        assert 'src="data:audio/wav;base64,' in of(triage(), sound=b"RIFF")

    def test_is_linked_when_it_is_long(self):
        """A browser would choke on a page of hundreds of megabytes."""
        assert 'src="conversation.wav"' in of(triage(), sound=bytes(INLINE_LIMIT + 1))

    def test_is_absent_where_nothing_was_recorded(self):
        """A player that plays nothing."""
        assert "<audio" not in of(triage())


def test_clock_carries_over():
    """59.96 s would be shown as 0:60.0."""
    assert [clock(t) for t in (None, 0.0, 59.96, 61.25)] == ["–", "0:00.0", "1:00.0", "1:01.2"]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2."""

    def luminance(colour: str) -> float:
        colour = colour if len(colour) == 7 else "#" + "".join(2 * c for c in colour[1:])
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
