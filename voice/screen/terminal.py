"""The conversation in a terminal: who spoke, what was heard, what was cut and what the server was told.

| who       | line                                                                                     |
|-----------|------------------------------------------------------------------------------------------|
| assistant | a message when it is over: heard text as it is, unheard text struck, behind the cut mark  |
| user      | an utterance when it is over, as recognised                                              |
| floor     | a decision: lowered, back, cut, held, ignored, with its reason                            |
| server    | what was sent, whether it interrupted, and what was heard until then                     |
| notice    | what an operator should know                                                             |

On a terminal the newest lines are live below the finished ones: what is being said with its heard part bright, and
what is being recognised. Elsewhere (a file, a build's log) only finished lines are written, one line each.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from voice.core import events as ev
from voice.core.evidence import Partial, SpeechStarted, Utterance
from voice.screen.plain import one_line

_WHO_WIDTH = 9
_STYLES = {"assistant": "bold cyan", "user": "bold green", "floor": "yellow", "server": "bold magenta"}
_NOTICE_STYLE = "bold red"
_LIVE_LIMIT = 320
"""Characters of a message in the live part: it must stay smaller than the screen, or it cannot be redrawn."""

_DECISIONS = {
    "duck": "▼ voice lowered",
    "resume": "▲ voice back",
    "cut": "✂ voice stopped",
    "hold": "◆ answer held back",
    "release": "◇ held answer released",
    "ignore": "○ not for us",
}
"""`take` needs no line: what was sent follows at once."""


class TerminalCaptions:
    """An observer that shows the conversation on a console. Never raises; close it (or use `with`) at the end."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._t0: float | None = None
        self._live: Live | None = None
        self._dead = False
        self._saying: tuple[str, str, str, int] | None = None
        """Message id, kind, text and heard characters of what is being said."""
        self._hearing = ""
        self._listening = False
        self._lowered = False
        self._show: dict[type, Callable[[float, Any], None]] = {
            ev.Caption: self._caption,
            ev.MessageClosed: self._closed,
            SpeechStarted: self._speech,
            Partial: self._partial,
            Utterance: self._utterance,
            ev.Typed: self._typed,
            ev.FloorChanged: self._floor,
            ev.Duck: self._duck,
            ev.VoiceStopped: self._stopped,
            ev.SendUserMessage: self._sent,
            ev.Notice: self._notice,
            ev.LinkUp: self._link_up,
            ev.Ended: self._ended,
        }

    def __enter__(self) -> TerminalCaptions:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __call__(self, t: float, item: ev.Input | ev.Output) -> None:
        """Show one value. A console that fails (a closed pipe) ends the captions, not the conversation."""
        if self._dead:
            return
        try:
            if self._t0 is None:
                self._t0 = t
            if (show := self._show.get(type(item))) is not None:
                show(t, item)
        except (Exception, SystemExit):  # rich ends the program when a pipe is closed
            self._dead = True
            self.close()

    def close(self) -> None:
        """Leave the terminal as it was found. Safe to call twice."""
        live, self._live = self._live, None
        if live is not None:
            with contextlib.suppress(Exception, SystemExit):
                live.update(Text(""), refresh=True)
            with contextlib.suppress(Exception, SystemExit):
                live.stop()

    # ------------------------------------------------------------------ finished lines

    def _line(self, t: float, who: str, text: Text) -> None:
        minutes, seconds = divmod(round(t - (self._t0 or 0.0), 1), 60)
        time = f"{minutes:.0f}:{seconds:04.1f}"
        style = _STYLES.get(who, _NOTICE_STYLE)
        self._encode(text)
        if not self._console.is_terminal:
            line = Text.assemble(f"{time:>7}  {who:<{_WHO_WIDTH}}  ", text)
            self._console.print(line, soft_wrap=True, highlight=False)
            return
        self._console.print(self._row(Text(f"{time:>7}", "dim"), Text(who, style), text))
        self._redraw()

    @staticmethod
    def _row(time: Text, who: Text, text: Text) -> Table:
        row = Table.grid(padding=(0, 2))
        row.add_column(width=7, no_wrap=True)
        row.add_column(width=_WHO_WIDTH, no_wrap=True)
        row.add_column(overflow="fold")
        row.add_row(time, who, text)
        return row

    def _encode(self, text: Text) -> None:
        """Signs that the console's encoding lacks become question marks."""
        encoding = self._console.encoding
        text.plain = text.plain.encode(encoding, "replace").decode(encoding)

    # ------------------------------------------------------------------ the live part

    def _redraw(self) -> None:
        if not self._console.is_terminal or self._dead:
            return
        rows = []
        if self._saying is not None:
            _, kind, text, heard = self._saying
            first = max(0, min(heard - _LIVE_LIMIT // 2, len(text) - _LIVE_LIMIT))
            before, after = one_line(text[first:heard]), one_line(text[heard : first + _LIVE_LIMIT])
            shown = Text.assemble((f"{one_line(kind)}  ", "cyan"), (before, "bold"))
            shown.append((" " if before and after else "") + after, "dim")
            who = Text("▼ quiet" if self._lowered else "▶ speaks", "yellow" if self._lowered else "bold cyan")
            self._encode(who)
            self._encode(shown)
            rows.append(self._row(Text(""), who, shown))
        if self._listening:
            hearing = Text(f"{one_line(self._hearing)[-_LIVE_LIMIT:]} …".strip(), "italic green")
            who = Text("● hears", "bold green")
            self._encode(who)
            self._encode(hearing)
            rows.append(self._row(Text(""), who, hearing))
        if self._live is None:
            if not rows:
                return
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(Group(*rows), refresh=True)

    # ------------------------------------------------------------------ the assistant

    def _caption(self, t: float, event: ev.Caption) -> None:
        self._saying = (event.id, event.kind, event.text, event.heard)
        self._redraw()

    def _closed(self, t: float, event: ev.MessageClosed) -> None:
        if self._saying is not None and self._saying[0] == event.id:
            self._saying = None
        heard, rest = one_line(event.heard), one_line(event.source[len(event.heard) :])
        text = Text.assemble((one_line(event.kind), "cyan"), "  ")
        text.append(heard, "bold")
        if event.cut is not None:
            text.append(f"{' ' if heard else ''}✂ ", "bold red")
        if rest:
            text.append(f"{'' if event.cut is not None or not heard else ' '}⟨not heard: ", "red dim")
            text.append(rest, "dim strike")
            text.append("⟩", "red dim")
        if event.cut is not None:
            text.append(f" cut by {event.cut.replace('_', ' ')}", "bold red")
        if event.heard_is_estimate:
            text.append(" (estimate)", "dim")
        self._line(t, "assistant", text)

    def _duck(self, t: float, event: ev.Duck) -> None:
        self._lowered = event.down
        self._redraw()

    def _stopped(self, t: float, event: ev.VoiceStopped) -> None:
        self._lowered = False
        self._redraw()

    # ------------------------------------------------------------------ the user

    def _speech(self, t: float, event: SpeechStarted) -> None:
        self._listening, self._hearing = True, ""
        self._redraw()

    def _partial(self, t: float, event: Partial) -> None:
        self._hearing = event.text
        self._redraw()

    def _utterance(self, t: float, event: Utterance) -> None:
        self._listening, self._hearing = False, ""
        words = one_line(event.text)
        self._line(t, "user", Text(words, "bold") if words else Text("(a sound without words)", "dim"))

    def _typed(self, t: float, event: ev.Typed) -> None:
        self._line(t, "user", Text.assemble(("typed  ", "green"), (one_line(event.text), "bold")))

    # ------------------------------------------------------------------ decisions and messages

    def _floor(self, t: float, event: ev.FloorChanged) -> None:
        if (what := _DECISIONS.get(event.decision)) is None:
            return
        text = Text(what, "bold red" if event.decision == "cut" else "")
        if event.reason:
            text.append(f": {one_line(event.reason)}", "dim")
        self._line(t, "floor", text)

    def _sent(self, t: float, event: ev.SendUserMessage) -> None:
        text = Text.assemble(("→ ", "magenta"), (f"“{one_line(event.content)}”", "bold"))
        if event.is_interrupted:
            text.append("  is_interrupted, heard ", "red")
            text.append(f"“{one_line(event.played_content or '')}”" if event.played_content else "nothing", "red")
        if event.held > 0:
            text.append(f"  after {event.held:.1f} s", "dim")
        self._line(t, "server", text)

    def _notice(self, t: float, event: ev.Notice) -> None:
        self._line(t, "notice", Text(f"{one_line(event.code)}: {one_line(event.text)}"))

    def _link_up(self, t: float, event: ev.LinkUp) -> None:
        times = f" again ({event.reconnects})" if event.reconnects else ""
        self._line(t, "server", Text(f"connected{times}", "dim"))

    def _ended(self, t: float, event: ev.Ended) -> None:
        self._saying, self._listening = None, False
        self._line(t, "server", Text(f"the conversation is over: {one_line(event.reason)}", "dim"))
        self.close()
