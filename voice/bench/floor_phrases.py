"""What people say in the scenes of `voice bench floor`, in two halves: one to tune with, one kept for the figures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases by what they are said for; numbers are spelt, so that a word is a word."""

    interruption: tuple[str, ...]
    stop: tuple[str, ...]
    backchannel: tuple[str, ...]
    """Words only: no synthetic voice can say "mm-hm", which is hummed instead (`voice.audio.noises.hum`)."""
    others: tuple[str, ...]
    """Said to somebody else in the room."""
    pause: tuple[tuple[str, str], ...]
    """One sentence with a pause for thought in it."""


TUNING = Phrases(
    interruption=(
        "I have a question about that",
        "can you say that again please",
        "no it is the left knee",
        "my daughter is seven years old",
        "it started last night",
        "I already told you that",
        "please speak a little slower",
        "that is not what I meant",
        "I would rather talk to a nurse",
        "what does that mean",
        "yes but only in the morning",
        "where is the waiting room",
    ),
    stop=("stop", "wait", "hold on", "no no", "stop talking please", "wait a moment"),
    backchannel=("yeah", "okay", "right", "I see", "uh-huh", "oh okay"),
    others=(
        "did you bring the car keys",
        "he said he would be late",
        "put your jacket on darling",
        "we can get a coffee afterwards",
        "look there is Susan over there",
    ),
    pause=(
        ("I have a headache", "and it started yesterday"),
        ("my name is Peter", "Peter Miller"),
        ("it hurts in my back", "when I bend over"),
        ("I take a pill", "for my blood pressure"),
    ),
)
"""Looked at while the program was being built."""

KEPT = Phrases(
    interruption=(
        "sorry I did not hear the last part",
        "my husband is allergic to nuts",
        "that is the wrong date",
        "how much will it cost me",
        "I feel dizzy when I stand up",
        "let me finish first",
        "it is getting worse every day",
        "can I see a doctor today",
        "I think you misunderstood me",
        "both of my ears hurt",
        "not today but on Friday",
        "who are you calling now",
    ),
    stop=("stop", "wait", "hang on", "no no no", "please stop", "hold on a second"),
    backchannel=("sure", "got it", "all right", "okay yeah", "ah I see", "go on"),
    others=(
        "have you seen my glasses",
        "the bus leaves in ten minutes",
        "tell your brother to sit down",
        "I forgot to feed the cat",
        "she works on the second floor",
    ),
    pause=(
        ("I was in hospital", "about two weeks ago"),
        ("my knee is swollen", "since the weekend"),
        ("I need an appointment", "for my little son"),
        ("it feels like pressure", "behind my eyes"),
    ),
)
"""Never looked at while building; for the figures that are published (`--kept`)."""

MESSAGES = (
    "Before we begin, let me tell you how this works. I will ask you a few short questions about how you feel today, "
    "and you can answer in your own words. If something is not clear, just tell me, and I will explain it in another "
    "way. When we are done, a nurse will read what you said and call you in.",
    "Please take a seat in the waiting area on the second floor, turn left after the elevator, and look for the blue "
    "door at the end of the corridor. Someone will meet you there in about ten minutes. You may bring a glass of water "
    "with you, but please do not eat anything before the doctor has seen you.",
    "Here is what I have noted so far. You have had a sore throat for three days, a slight fever in the evening, and "
    "no cough. You take one tablet for your blood pressure every morning, and you are not allergic to anything. I will "
    "now ask about your family, because some illnesses are common among relatives.",
    "The medicine should be taken twice a day after a meal, with plenty of water, and never together with alcohol. "
    "Most people feel better within two days. If the pain comes back, or if you notice a rash, stop taking the "
    "tablets and call us at once, at any time of the day or night.",
)
"""What the program says meanwhile; long enough for every scene."""
