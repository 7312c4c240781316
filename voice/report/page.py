"""The report as one HTML page that needs nothing but itself.

Every text from outside goes through `safe`; the template's places are filled once, so a text that looks like a
place stays text.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from string import Template
from typing import Any

from voice.report.align import Piece, align
from voice.report.kinds import colour
from voice.report.words import SpokenWord

INLINE_LIMIT = 8_000_000
"""Bytes of sound up to which it is put into the page (about two minutes): browsers stay quick with it."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

_LATENCIES = {
    "onset_to_duck": ("Voice lowered", "from the onset of the user's voice until the loudspeaker is quieter"),
    "onset_to_cut": ("Voice cut", "from the onset of the user's voice until the loudspeaker is silent"),
    "end_of_speech_to_sent": ("Answer sent", "from the end of the user's voice until the message left"),
    "delta_to_first_sample": ("Voice started", "from the first text of a message until its first sound"),
}


def safe(text: object) -> str:
    """Text for HTML, between tags or in a quoted attribute; characters that nobody can see are left out."""
    return html.escape(_CONTROL.sub("", str(text)), quote=True)


def clock(t: float | None) -> str:
    """Seconds as m:ss.d."""
    if t is None:
        return "–"
    minutes, seconds = divmod(round(t, 1), 60)
    return f"{minutes:.0f}:{seconds:04.1f}"


def page(
    summary: Mapping[str, Any],
    words: Mapping[str, Sequence[SpokenWord]],
    *,
    title: str = "A spoken conversation",
    picture: bytes | None = None,
    sound: bytes | None = None,
    sound_name: str = "conversation.wav",
) -> str:
    """The page. `summary` as `voice.report.summary.summary` makes it; `words` by message id, in seconds of the
    report; `picture` a PNG, `sound` a WAV file, linked by `sound_name` when it is too long to be put inside."""
    template = Template(files("voice.report").joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=safe(title),
        facts=safe(_facts(summary)),
        figures="\n".join(_figures(summary)),
        player=_player(sound, sound_name),
        talk="\n".join(_talk(summary, words)) or '<li class="line">Nothing was said.</li>',
        picture=_picture(picture),
        latency=_latency(summary["latency_ms"]),
        trouble=_trouble(summary),
        engines="\n".join(f"<dt>{safe(k)}</dt><dd>{safe(v)}</dd>" for k, v in _ran_on(summary).items()),
    )


def _facts(summary: Mapping[str, Any]) -> str:
    ends = [entry["t_end"] for entry in (*summary["messages"], *summary["utterances"]) if entry["t_end"] is not None]
    return f"{summary['backend']} · {summary['flow']} · {summary['device']} · {clock(max(ends, default=0.0))} min"


def _figures(summary: Mapping[str, Any]) -> list[str]:
    messages, utterances = summary["messages"], summary["utterances"]
    cuts = sum(message["cut"] is not None for message in messages)
    figures: list[tuple[object, str]] = [
        (len(messages), "messages of the server"),
        (sum(bool(message["heard"]) for message in messages), "of them heard, wholly or in part"),
        (cuts, "cut"),
        (sum(entry["sent"] is not None for entry in utterances), f"of {len(utterances)} utterances sent"),
        (summary["reconnects"], "reconnects"),
        (len(summary["errors"]), "errors"),
    ]
    return [f"<li><b>{safe(value)}</b>{safe(label)}</li>" for value, label in figures]


def _player(sound: bytes | None, name: str) -> str:
    if sound is None:
        return ""
    inside = len(sound) <= INLINE_LIMIT
    source = "data:audio/wav;base64," + base64.b64encode(sound).decode() if inside else safe(name)
    return (
        '<section class="player" aria-label="The conversation as sound">'
        f'<audio controls preload="metadata" src="{source}"></audio>'
        '<p class="facts">Left: the loudspeaker. Right: the user. Words light up while they sound.</p></section>'
    )


def _picture(picture: bytes | None) -> str:
    if picture is None:
        return ""
    data = base64.b64encode(picture).decode()
    alt = (
        "Timeline of the conversation. Lanes for the assistant's words, the floor, the user and the messages to the "
        "server; cuts are vertical lines. The transcript above holds the same in words."
    )
    return (
        '<section aria-labelledby="picture"><h2 id="picture">Timeline</h2><div class="card wide picture" tabindex="0" '
        f'role="region" aria-label="Timeline picture"><img alt="{safe(alt)}" src="data:image/png;base64,{data}"></div>'
        "</section>"
    )


# --------------------------------------------------------------------------- the transcript


def _talk(summary: Mapping[str, Any], words: Mapping[str, Sequence[SpokenWord]]) -> list[str]:
    rows: list[tuple[float, int, str]] = []
    at = 0.0
    for message in summary["messages"]:
        # One that was never spoken stands behind the message that it waited for.
        if message["t_start"] is not None:
            at = message["t_start"]
        elif message["cut"] is None:
            at = message["t_end"]
        rows.append((at, 0, _message(message, words.get(message["id"], ()))))
    rows += [(entry["t_start"], 1, _utterance(entry)) for entry in summary["utterances"]]
    return [row for _, _, row in sorted(rows, key=lambda entry: entry[:2])]


def _message(message: Mapping[str, Any], words: Sequence[SpokenWord]) -> str:
    source, heard = message["source"], message["heard"]
    timed = "".join(_timed(piece) for piece in align(heard, words)) if heard else ""
    rest = source[len(heard) :]
    blank = rest[: len(rest) - len(rest.lstrip())]
    unheard = safe(blank)
    if rest.strip():
        unheard += f'<del><span class="hidden">Not heard: </span>{safe(rest[len(blank) :])}</del>'
    about = [f"<time>{clock(message['t_start'])}</time>", f'<span class="kind">{safe(message["kind"])}</span>']
    if not message["can_interrupt"]:
        about.append("<span>may not be interrupted</span>")
    if message["heard_is_estimate"]:
        about.append("<span>heard text is an estimate</span>")
    if message["cut"] is not None:
        cause = safe(str(message["cut"]).replace("_", " "))
        never = "" if message["t_start"] is not None else " before its first word"
        about.append(f'<span class="cut">cut by {cause}{never}</span>')
    elif not heard and source.strip():
        about.append('<span class="cut">never spoken</span>')
    return (
        f'<li class="them" style="--kind: {colour(message["kind"])}"><p class="about">'
        f'<span class="hidden">Assistant</span>{" ".join(about)}</p><p class="words">{timed}{unheard}</p></li>'
    )


def _timed(piece: Piece) -> str:
    if piece.t_start is None or piece.t_end is None:
        return safe(piece.text)
    return f'<span data-a="{piece.t_start:.2f}" data-b="{piece.t_end:.2f}">{safe(piece.text)}</span>'


def _utterance(entry: Mapping[str, Any]) -> str:
    about = [f"<time>{clock(entry['t_start'])}</time>", '<span class="kind">User</span>']
    meant, recognised, sent = entry["meant"], entry["recognised"], entry["sent"]
    rows: list[tuple[str, str]] = []
    if entry["input"] == "typed":
        about.append("<span>typed</span>")
    elif sent is not None and _bare(sent) == _bare(recognised) and meant in (None, sent, recognised):
        about.append(
            f'<span class="good">{"sent as recognised" if meant is None else "recognised and sent as meant"}</span>'
        )
    else:
        if meant is not None:
            rows.append(("meant", safe(meant)))
        rows.append(("recognised", safe(recognised) or "no words"))
        if sent is not None:
            rows.append(("sent", safe(sent)))
    if sent is None:
        about.append('<span class="unsent">not sent</span>')
        rows.append(("not sent", safe(entry["not_sent_because"])))
    if entry["is_interrupted"]:
        about.append('<span class="cut">interrupted</span>')
        rows.append(
            ("heard until then", f"“{safe(entry['played_content'])}”" if entry["played_content"] else "nothing")
        )
    if entry["held_ms"]:
        rows.append(("held", f"{entry['held_ms'] / 1000:.1f} s, until the floor was free"))
    body = "".join(f"<dt>{label}</dt><dd>{text}</dd>" for label, text in rows)
    times = f'data-a="{entry["t_start"]:.2f}" data-b="{entry["t_end"]:.2f}"'
    shown = safe(sent or recognised or meant or "a sound")
    return (
        f'<li class="you"><p class="about">{" ".join(about)}</p><p class="words"><span {times}>{shown}</span></p>'
        + (f"<dl>{body}</dl></li>" if rows else "</li>")
    )


def _bare(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s']", " ", text.lower()).split())


# --------------------------------------------------------------------------- tables


def _latency(latency: Mapping[str, Mapping[str, float]]) -> str:
    if not latency:
        return "<p>Nothing to measure: nobody was cut and nothing was sent.</p>"
    rows = "".join(
        f'<tr><th scope="row">{safe(label)}</th><td>{safe(meaning)}</td>'
        + "".join(f'<td class="n">{latency[name][key]:.0f}</td>' for key in ("p50", "p95", "n"))
        + "</tr>"
        for name, (label, meaning) in _LATENCIES.items()
        if name in latency
    )
    head = '<th scope="col">What</th><th scope="col">Measured</th>' + "".join(
        f'<th scope="col" class="n">{name}</th>' for name in ("median, ms", "p95, ms", "n")
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _trouble(summary: Mapping[str, Any]) -> str:
    rows = [("error", entry) for entry in summary["errors"]] + [("notice", entry) for entry in summary["notices"]]
    if not rows:
        return "<p>None.</p>"
    body = "".join(
        f"<tr><td><time>{clock(entry['t'])}</time></td><td>{what}</td><td>{safe(entry['code'])}</td>"
        f"<td>{safe(entry['text'])}</td></tr>"
        for what, entry in sorted(rows, key=lambda row: row[1]["t"])
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("When", "What", "Code", "Text"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _ran_on(summary: Mapping[str, Any]) -> dict[str, object]:
    return {"backend": summary["backend"], "flow": summary["flow"], "device": summary["device"], **summary["engines"]}
