"""Models over a real HTTP server on the loopback interface."""

from __future__ import annotations

import hashlib
import io
import re
import socket
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from voice.stt.base import RecogniserError
from voice.stt.choose import make_recogniser
from voice.stt.models import Model, ModelError, catalogue, fetch, find, folder, installed, locate
from voice.stt.moonshine import MoonshineRecogniser
from voice.stt.vosk import VoskRecogniser

NAME = "vosk-model-small-xx-0.1"


def archive(names: dict[str, bytes] | None = None) -> bytes:
    """A zip as the publisher makes it: one folder."""
    names = names or {
        f"{NAME}/am/final.mdl": bytes(range(256)) * 400,
        f"{NAME}/conf/mfcc.conf": b"--sample-frequency=16000",
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as bundle:
        for name, data in names.items():
            bundle.writestr(name, data)
    return buffer.getvalue()


@dataclass
class Host:
    """What the server serves, how it misbehaves, and what it was asked for."""

    data: bytes = field(default_factory=archive)
    cut_after: int | None = None
    ranges: bool = True
    asked: list[str] = field(default_factory=list)
    url: str = ""

    def model(self, **changes: object) -> Model:
        base = Model(NAME, "vosk", "xx", self.url, "Apache-2.0", ("conf/mfcc.conf",), len(self.data), self.sum)
        return replace(base, **changes)  # type: ignore[arg-type]

    @property
    def sum(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


@pytest.fixture
def host() -> Iterator[Host]:
    state = Host()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range", "")
            state.asked.append(asked)
            first = int(re.sub(r"\D", "", asked) or 0) if state.ranges else 0
            if first and first >= len(state.data):
                self.send_error(416)
                return
            body = state.data[first:]
            self.send_response(206 if first else 200)
            self.send_header("Content-Length", str(len(body)))
            if first:
                self.send_header("Content-Range", f"bytes {first}-{len(state.data) - 1}/{len(state.data)}")
            self.end_headers()
            self.wfile.write(body if state.cut_after is None else body[: state.cut_after])

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}/{NAME}.zip"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


def error(call: str, model: Model, dest: Path) -> str:
    """The one line that an operator sees."""
    with pytest.raises(ModelError) as caught:
        fetch(call, dest, models=[model])
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestFetch:
    def test_fetch(self, host: Host, tmp_path: Path):
        """The plain case: there, whole, verified, nothing left over; a second call does nothing."""
        steps: list[tuple[int, int | None]] = []
        got = fetch(NAME, tmp_path, lambda have, total: steps.append((have, total)), models=[host.model()])
        assert (got.path, got.sha256, got.checked) == (tmp_path / NAME, host.sum, "manifest")
        assert installed(tmp_path) == {NAME: tmp_path / NAME}
        assert [path.name for path in tmp_path.iterdir()] == [NAME]
        assert steps[-1] == (len(host.data), len(host.data))
        assert fetch("xx", tmp_path, models=[host.model()]).checked == "here already"
        assert len(host.asked) == 1

    def test_goes_on_where_it_stopped(self, host: Host, tmp_path: Path):
        """A kiosk on a bad line must not start 40 MB from the beginning again and again."""
        host.cut_after = 30_000
        assert "the same command again" in error(NAME, host.model(), tmp_path)
        have = (tmp_path / f"{NAME}.zip.part").stat().st_size
        assert 0 < have <= 30_000
        host.cut_after = None
        fetch(NAME, tmp_path, models=[host.model()])
        assert host.asked == ["", f"bytes={have}-"]
        assert (tmp_path / NAME / "am/final.mdl").read_bytes() == bytes(range(256)) * 400

    def test_a_server_without_ranges(self, host: Host, tmp_path: Path):
        """It sends everything again; appended to the first part, that would be rubbish."""
        host.cut_after, host.ranges = 30_000, False
        error(NAME, host.model(), tmp_path)
        host.cut_after = None
        assert fetch(NAME, tmp_path, models=[host.model()]).checked == "manifest"

    def test_the_rest_of_another_file(self, host: Host, tmp_path: Path):
        """The file on the server became shorter: begin anew instead of failing for ever."""
        model = host.model(size=None)
        (tmp_path / f"{NAME}.zip.part").write_bytes(b"x" * (len(host.data) + 5))
        assert "run the same command again" in error(NAME, model, tmp_path)
        assert fetch(NAME, tmp_path, models=[model]).checked == "manifest"


class TestTrust:
    def test_a_wrong_checksum(self, host: Host, tmp_path: Path):
        """Neither a damaged nor an exchanged model may ever be loaded."""
        said = error(NAME, host.model(sha256="0" * 64), tmp_path)
        assert host.sum in said
        assert "fetch it again" in said
        assert list(tmp_path.iterdir()) == []

    def test_trust_on_first_use(self, host: Host, tmp_path: Path):
        """Without a published sum the operator is told so, and a later exchange is noticed."""
        model = host.model(sha256=None)
        got = fetch(NAME, tmp_path, models=[model])
        assert got.checked == "first use"
        assert "UNVERIFIED" in got.note
        assert f'sha256 = "{host.sum}"' in got.note
        (tmp_path / NAME / "am/final.mdl").unlink()
        assert fetch(NAME, tmp_path, models=[model]).checked == "lock"
        (tmp_path / NAME / "am/final.mdl").unlink()
        host.data = archive({f"{NAME}/am/final.mdl": b"other", f"{NAME}/conf/mfcc.conf": b""})
        assert "models.lock" in error(NAME, host.model(sha256=None), tmp_path)

    @pytest.mark.parametrize("evil", ["../evil", f"{NAME}/../../evil", "/tmp/evil", "C:/evil", f"{NAME}\\..\\..\\evil"])
    def test_an_archive_that_writes_elsewhere(self, host: Host, tmp_path: Path, evil: str):
        """An archive is data from the network: it may not touch anything but its own folder."""
        host.data = archive({f"{NAME}/am/final.mdl": b"m", f"{NAME}/conf/mfcc.conf": b"c", evil: b"evil"})
        dest = tmp_path / "deep" / "models"
        assert "outside its folder" in error(NAME, host.model(), dest)
        assert not list(tmp_path.rglob("*evil*"))
        assert installed(dest) == {}

    def test_a_link_in_the_archive(self, host: Host, tmp_path: Path):
        """A symbolic link would let a later entry write through it."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as bundle:
            link = zipfile.ZipInfo(f"{NAME}/link")
            link.external_attr = 0o120777 << 16
            bundle.writestr(link, "/etc")
        host.data = buffer.getvalue()
        assert "outside its folder" in error(NAME, host.model(), tmp_path)

    @pytest.mark.parametrize(
        "data",
        [b"<html>please log in</html>", archive({f"{NAME}/README": b"?"}), archive({"am/final.mdl": b"", "b": b""})],
    )
    def test_something_else_than_a_model(self, host: Host, tmp_path: Path, data: bytes):
        """A captive portal's page is not a model; nothing half-made stays."""
        host.data = data
        error(NAME, host.model(sha256=None), tmp_path)
        assert installed(tmp_path) == {}


class TestErrors:
    def test_offline(self, host: Host, tmp_path: Path):
        """No network: the host's name, and what to do."""
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{closed.getsockname()[1]}/x.zip"
        said = error(NAME, host.model(url=url), tmp_path)
        assert "cannot download from 127.0.0.1" in said
        assert "check the network" in said

    def test_an_unknown_name(self, host: Host, tmp_path: Path):
        """A slip of the pen gets the right name shown."""
        assert NAME in error("vosk-model-small-xy-0.1", host.model(), tmp_path)

    def test_no_room(self, host: Host, tmp_path: Path):
        """Before 300 MB are fetched in vain."""
        assert "disk space" in error(NAME, host.model(size=10**18), tmp_path)

    def test_not_found(self, host: Host, tmp_path: Path):
        """The publisher moved the file."""
        host.data = b""
        (tmp_path / f"{NAME}.zip.part").write_bytes(b"12345")
        assert "127.0.0.1" in error(NAME, host.model(size=None, sha256=None), tmp_path)


class TestCatalogue:
    def test_every_entry_is_sound(self):
        """An entry with a slip in it would fail on a user's machine only."""
        models = catalogue()
        assert len({model.name for model in models}) == len(models)
        for model in models:
            assert model.engine == "vosk"
            assert model.url == f"https://alphacephei.com/vosk/models/{model.name}.zip"
            assert model.sha256 is None or re.fullmatch("[0-9a-f]{64}", model.sha256)
            assert model.size is None or 10_000_000 < model.size < 500_000_000
            assert model.licence in {"Apache-2.0", "MIT"}

    @pytest.mark.parametrize(
        ("wanted", "name"),
        [
            ("pl", "vosk-model-small-pl-0.22"),
            ("en", "vosk-model-small-en-us-0.15"),
            ("en_GB", "vosk-model-small-en-us-0.15"),
            ("EN-IN", "vosk-model-small-en-in-0.4"),
            ("de-AT", "vosk-model-small-de-0.15"),
            ("vosk-model-small-fr-0.22", "vosk-model-small-fr-0.22"),
        ],
    )
    def test_find(self, wanted: str, name: str):
        """A language is enough."""
        assert find(wanted).name == name

    def test_where_models_are(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
        """$VOICE_MODELS moves them to another disk."""
        monkeypatch.setenv("VOICE_MODELS", str(tmp_path / "m"))
        assert folder() == tmp_path / "m"
        assert installed() == {}
        with pytest.raises(ModelError, match="run: voice models fetch vosk-model-small-pl"):
            locate("pl")
        here = tmp_path / "m" / "vosk-model-small-pl-0.22"
        here.mkdir(parents=True)
        (here / "final.mdl").write_bytes(b"")
        assert locate("pl") == here
        monkeypatch.delenv("VOICE_MODELS")
        assert folder().parts[-2:] == ("voice", "models")


class TestChoose:
    def test_by_name(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
        """The configuration names the recogniser; every wrong name gets one line that helps."""
        monkeypatch.setenv("VOICE_MODELS", str(tmp_path))
        assert isinstance(make_recogniser("moonshine"), MoonshineRecogniser)
        assert isinstance(make_recogniser("vosk", str(tmp_path)), VoskRecogniser)
        for name, model, match in [
            ("vosk", "pl", "run: voice models fetch vosk-model-small-pl"),
            ("vosk", None, "run: voice models fetch vosk-model-small-en-us"),
            ("vosk", "xx", "no model is called"),
            ("moonshine", "pl", "has its one model inside"),
            ("whisper", None, "there are: moonshine, vosk"),
        ]:
            with pytest.raises(RecogniserError, match=match):
                make_recogniser(name, model)
