"""What the benches let the program say: messages of the forms that kiosks and desks use."""

from __future__ import annotations

MESSAGES = (
    "Good morning. My name is Clara, and I will ask you six short questions before the nurse sees you.",
    "Is it a dull pain, a stabbing pain, or more of a burning feeling?",
    "Your visit with Dr. Lewandowska is on Tuesday, 14 April 2026, at 10:45 in room 212C.",
    "That comes to $86.50 in total. I will charge it to the card ending in 3391.",
    "Please write down your ticket number: K 4 7 - 0 9 3. Once more: K 4 7 - 0 9 3.",
    "Take 1 tablet of 400 mg every 8 hours, with food, and no more than 3 tablets in 24 hours.",
    "Sorry, I did not understand. You can answer with yes, no, or not sure.",
    "From what you say, this is most likely an ear infection. It is not a diagnosis. If you get a fever above "
    "39.5 degrees, or if you feel dizzy, call 112.",
    "OK. When did it begin: this morning, yesterday, or earlier than that?",
    "The counter on ul. Mokotowska 17 is open Mon.-Thu. from 7:30 a.m. to 6 p.m., and on Fri. until 1 p.m.",
    "There are two ways to go on. Either I book you a video call for today at 5:15 p.m., or you wait here for "
    "about 40 minutes.",
    "Walk past the stairs, turn right after about 30 m, and sit down in front of door number 9.",
    "I will now read back what I noted: a sore throat for 3 days, no fever, no cough, and a pain of 6 out of 10.",
    "Do you smoke, or did you smoke in the last 12 months?",
    "Thank you, Anna. We will send the report to anna.k@example.org within 2 days.",
    "Before we start, please know that I am a computer program, that this call is not recorded, and that you can "
    "say stop whenever you like.",
)
"""Used while the program is being built."""

KEPT = (
    "Hello. You are number 23 in the queue, and it will take about a quarter of an hour.",
    "Does anyone in your family have asthma, hay fever, or a heart condition?",
    "The parcel weighs 2.35 kg and costs £7.20 to send; it should arrive on 3 June.",
    "Your code is 5 8 1 2 - B. Please say it back to me.",
    "Please come on an empty stomach at 7:50 a.m., bring your ID, and plan for 1.5 hours.",
    "Let me check. That was Ms. O'Brien, born on 9 Nov. 1961, is that right?",
    "It can be many things. Often it is only a strain; sometimes it needs an X-ray. Shall we find out?",
    "The next train to Gdynia leaves at 16:08 from platform 4, and a seat is 31.40 zł.",
)
"""Never looked at while building; for the figures that are published (`--kept`)."""
