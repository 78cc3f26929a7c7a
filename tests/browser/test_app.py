"""The app as a program: the command, the server, what it refuses."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from flask import Flask

from browser import create_app
from browser.__main__ import main

from .files import write_run


def test_it_can_be_embedded() -> None:
    server = Flask("mine")
    app = create_app(server=server, url_base_pathname="/tables/")
    assert app.server is server
    client = server.test_client()
    assert client.get("/tables/").status_code == 200
    layout = client.get("/tables/_dash-layout").get_json()
    assert "/tables/match" in str(layout)


def test_a_wsgi_server_is_there() -> None:
    from browser import wsgi

    assert isinstance(wsgi.server, Flask)
    assert wsgi.server is wsgi.server
    with pytest.raises(AttributeError):
        _ = wsgi.nothing


def test_two_apps_share_nothing() -> None:
    one, two = create_app(), create_app()
    assert one.server is not two.server
    assert one.callback_map.keys() == two.callback_map.keys()


def test_headers_and_debug() -> None:
    app = create_app()
    answer = app.server.test_client().get("/")
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe-eval" not in policy
    script = re.search(r"script-src ([^;]*)", policy)
    assert script is not None
    assert "unsafe-inline" not in script[1]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert not app.server.debug
    sources = re.findall(r'(?:src|href)="([^"]*)"', answer.get_data(as_text=True))
    assert sources
    assert all(each.startswith("/") for each in sources)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--workload", "/no/such/place"], "there is no such directory"),
        (["--runs", "/no/such/place"], "there is no such directory"),
        (["--workload", "."], "no workload, it has no filters/"),
        (["--port", "99999"], "a port is a number"),
        (["--broker", "7001"], "--broker: '7001' is no address"),
        (["--broker", "203.0.113.9:80"], "203.0.113.9 is not this machine"),
        (["--host", "203.0.113.9"], "cannot listen"),
    ],
)
def test_what_cannot_be_served_is_told_in_a_line(
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err
    assert captured.err.startswith("browser: ")
    assert captured.err.count("\n") == 1


def test_a_port_that_is_taken_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["--port", str(taken.getsockname()[1])]) == 2
    assert "cannot listen at 127.0.0.1" in capsys.readouterr().err


def test_the_command_serves_a_workload_at_this_machine_only(tmp_path: Path) -> None:
    write_run(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "browser", "--workload", tmp_path / "workload", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/", line)
        assert found, line
        with urllib.request.urlopen(found[0]) as answer:
            assert b"posetlib browser" in answer.read()
    finally:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "")
