"""``nashdex decide`` on real battles: what it answers, by lines and over HTTP, and what it refuses."""

import asyncio
import copy
import gzip
import io
import json
import math
import random
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import httpx
import pytest
import torch
from fastapi import FastAPI

from nashdex.core.errors import DataError
from nashdex.games.registry import showdown_game
from nashdex.policies.archive import save_policy
from nashdex.policies.networks.actor_critic import make_network
from nashdex.serve.lines import to_id
from nashdex.settings.networks import NetworkSettings, PointerPairsSettings, PointerSettings
from nashdex.store import open_store
from nashdex_bench.decide import Ask, asked, bench_decide, lines
from nashdex_cli.cli import run_command_line
from nashdex_play.decide.deciding import Adviser, answer_lines, open_adviser
from nashdex_play.decide.documents import Answer, RefusedError, parse_question
from nashdex_play.decide.service import Limits, service

pytestmark = pytest.mark.integration

FORMAT = "gen1randombattle"
DOUBLES = "gen9randomdoublesbattle"
SIZES = {"embedding_size": 4, "move_size": 8, "pokemon_size": 8, "context_size": 16, "scorer_size": 8}


class Client:
    """Asks a service in this process; an exception that it does not handle is raised here."""

    def __init__(self, app: FastAPI) -> None:
        self._runner = asyncio.Runner()
        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()

    def get(self, path: str) -> httpx.Response:
        return self._runner.run(self._client.get(path))

    def ask(self, method: str, content: bytes) -> httpx.Response:
        return self._runner.run(self._client.request(method, "/decide", content=content))

    def post(self, body: object) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        return self._runner.run(self._client.post("/decide", content=content, headers=headers))


def _stored(folder: Path, format_id: str, settings: NetworkSettings) -> str:
    arena = showdown_game(format_id).open_arena(num_gateways=1)
    space = arena.space
    arena.close()
    torch.manual_seed(3)
    network = make_network(space, settings)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
    origin = {"name": "made", "parent": None, "iteration": 0, "oracle": "clone"}
    named = save_policy(open_store(str(folder)), network, reward="win-loss", reward_version="1", **origin)  # type: ignore[arg-type]
    return f"{folder}#{named}"


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    settings = PointerSettings(**SIZES, predicts_opponent=True)
    return _stored(tmp_path_factory.mktemp("store"), FORMAT, settings)


@pytest.fixture(scope="module")
def adviser(policy: str) -> Iterator[Adviser]:
    opened = open_adviser(policy)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def battle() -> list[Ask]:
    return list(asked(FORMAT, seed=4))


@pytest.fixture(scope="module")
def client(adviser: Adviser) -> Iterator[Client]:
    with Client(service(adviser, Limits(body_bytes=1 << 20, batch=4))) as opened:
        yield opened


def _decide(adviser: Adviser, asks: list[Ask]) -> list[Answer]:
    answers = adviser.decide([parse_question(json.dumps(ask).encode()) for ask in asks])
    assert [str(each) for each in answers if isinstance(each, RefusedError)] == []
    return [each for each in answers if isinstance(each, Answer)]


def test_every_decision_of_a_battle_is_answered_alone_as_in_a_batch(adviser: Adviser, battle: list[Ask]) -> None:
    answers = _decide(adviser, battle)
    assert len(answers) == len(battle) > 64
    assert _decide(adviser, [battle[9]])[0].choice == answers[9].choice
    for ask, answer in zip(battle, answers, strict=True):
        commands = [each.choice for each in answer.actions]
        assert answer.choice in commands
        probabilities = [each.probability or 0.0 for each in answer.actions]
        assert probabilities == sorted(probabilities, reverse=True)
        assert math.isclose(sum(probabilities), 1.0, abs_tol=1e-5)
        assert answer.win_probability is not None
        assert answer.opponent is not None
        assert math.isclose(sum(each.probability for each in answer.opponent), 1.0, abs_tol=1e-5)
        turns = [line for line in ask["log"] if line.startswith("|turn|")]
        assert answer.turn == (int(turns[-1].removeprefix("|turn|")) if turns else 0)
        offered = [move["move"] for move in (ask["request"].get("active") or [{"moves": []}])[0]["moves"]]
        named = {each.name.removeprefix("use ") for each in answer.actions if each.name.startswith("use ")}
        assert named <= set(offered)


def test_the_predicted_choices_are_those_that_the_opponent_has_shown(adviser: Adviser, battle: list[Ask]) -> None:
    used = {to_id(line.split("|")[3]) for line in battle[-1]["log"] if line.startswith("|move|")}
    for answer in _decide(adviser, battle[-20:]):
        assert answer.opponent is not None
        moves = {each.name for each in answer.opponent if not each.name.startswith(("switch ", "unseen"))}
        assert moves <= used


@pytest.mark.slow
def test_doubles_are_answered_with_both_choices(tmp_path: Path) -> None:
    sizes = {"embedding_size": 4, "move_size": 8, "pokemon_size": 8, "context_size": 16}
    opened = open_adviser(_stored(tmp_path, DOUBLES, PointerPairsSettings(**sizes)))
    try:
        for answer in _decide(opened, list(asked(DOUBLES, seed=1))[:30]):
            assert answer.choice in [each.choice for each in answer.actions]
            assert math.isclose(sum(each.probability or 0.0 for each in answer.actions), 1.0, abs_tol=1e-5)
    finally:
        opened.close()


def test_lines_are_answered_by_lines_and_bad_ones_by_their_errors(adviser: Adviser, battle: list[Ask]) -> None:
    lines = [json.dumps(battle[0]), "", "{", json.dumps(battle[5]), "x" * (3 << 20), json.dumps(battle[6])]
    output = io.StringIO()
    with pytest.raises(DataError, match="2 of 5 questions had no answer"):
        answer_lines(adviser, io.BytesIO("\n".join(lines).encode()), output)
    answers = [json.loads(line) for line in output.getvalue().splitlines()]
    assert ["choice" in answer for answer in answers] == [True, False, True, False, True]
    assert "more than" in answers[3]["error"]


def test_a_scripted_policy_chooses_and_has_no_opinion(battle: list[Ask]) -> None:
    opened = open_adviser("max-power", FORMAT)
    try:
        (answer,) = _decide(opened, [battle[3]])
    finally:
        opened.close()
    assert answer.choice in [each.choice for each in answer.actions]
    assert (answer.value, answer.win_probability, answer.opponent, answer.actions[0].probability) == (None,) * 4


def test_a_question_after_a_silence_that_ended_the_gateway_is_answered(adviser: Adviser, battle: list[Ask]) -> None:
    (expected,) = _decide(adviser, [battle[7]])
    assert adviser._tracking is not None
    adviser._tracking.gateway.kill()
    (answer,) = _decide(adviser, [battle[7]])
    assert answer == expected


def test_http_answers_one_question_and_a_list(client: Client, battle: list[Ask], adviser: Adviser) -> None:
    (expected,) = _decide(adviser, [battle[7]])
    one = client.post(battle[7])
    assert (one.status_code, one.json()) == (200, expected.model_dump(mode="json"))
    several = client.post([battle[7], {"log": "", "seat": "p1"}])
    assert several.status_code == 200
    first, second = several.json()
    assert first["choice"] == expected.choice
    assert second["field"] == "log"
    assert client.get("/health").json()["format"] == FORMAT
    assert "/decide" in client.get("/openapi.json").json()["paths"]


def test_http_says_what_is_wrong_with_a_request(client: Client, battle: list[Ask]) -> None:
    def post(body: object) -> tuple[int, str | None]:
        answer = client.post(body)
        return answer.status_code, answer.json()["field"]

    assert post(b"{") == (422, None)
    assert post(b"[]") == (422, None)
    assert post([battle[0]] * 5) == (422, None)
    assert post(b'[{"log": 1, "seat": "p1"}]') == (422, "0.log")
    assert post(b" " * (2 << 20)) == (413, None)
    assert post(b'{"log": "", "seat": "p1", "\\ud800": 1}')[0] == 422
    assert client.get("/decide").status_code == 405
    assert client.get("/decide/").status_code == 404
    assert client.get("/elsewhere").status_code == 404


HOSTILE: tuple[Any, ...] = (
    *(None, True, -1, 0, 1e308, -1e308, 10**30, "", "\ud800", "\x00", "|", "p1a: x", "0/0", "999999999/1", "1e999/2"),
    *([], {}, [[]], {"__proto__": {"x": 1}}, {"constructor": 1}, ["x"] * 30, "|".join("x" * 50), "a" * 5000),
)


def _places(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _places(part, (*path, key))


def _altered(ask: Ask, draw: random.Random) -> bytes:
    """Return a question with one to three values replaced, lines mixed up, or bytes cut."""
    altered: Any = copy.deepcopy(ask)
    for _ in range(draw.randint(1, 3)):
        *path, last = draw.choice([place for place in _places(altered) if place])
        target = altered
        for key in path:
            target = target[key]
        old = target[last]
        mixed = old[: draw.randint(0, len(old))] + draw.choice(ask["log"])[-20:] if isinstance(old, str) else old
        target[last] = copy.deepcopy(draw.choice((draw.choice(HOSTILE), draw.choice(HOSTILE), mixed)))
        if not isinstance(altered.get("log"), list) or not isinstance(altered.get("request"), dict):
            break
    data = json.dumps(altered).encode()
    return data[: draw.randint(0, len(data))] if draw.random() < 0.1 else data


def test_http_says_how_a_question_is_sent(client: Client, battle: list[Ask]) -> None:
    question = json.dumps(battle[0]).encode()
    undeclared = client.ask("POST", content=question)
    assert (undeclared.status_code, "content-type: application/json" in undeclared.json()["error"]) == (422, True)
    compressed = client.post(gzip.compress(question))
    assert (compressed.status_code, "neither compressed" in compressed.json()["error"]) == (400, True)
    assert client.ask("PUT", content=question).headers["allow"] == "POST"


def test_health_answers_while_all_requests_are_open(adviser: Adviser) -> None:
    with Client(service(adviser, Limits.model_construct(concurrent=0))) as busy:
        assert busy.post({}).status_code == 503
        assert busy.get("/health").status_code == 200


@pytest.mark.slow
def test_hostile_requests_are_answered_or_refused_and_the_service_goes_on(client: Client, battle: list[Ask]) -> None:
    draw = random.Random(1)
    statuses = []
    for _ in range(400):
        body = _altered(draw.choice(battle[:40]), draw)
        statuses.append(client.post(body).status_code)
    assert set(statuses) <= {200, 400, 413, 422}
    assert statuses.count(200) < 300
    assert client.post(battle[0]).status_code == 200


@pytest.mark.slow
def test_the_command_answers_lines_and_http_and_stops_at_sigterm(battle: list[Ask], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "nashdex_cli", "decide", "random", "--format", FORMAT]
    done = subprocess.run(command, input=json.dumps(battle[0]) + "\n{\n", capture_output=True, text=True, check=False)
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert (done.returncode, "choice" in first, second["field"]) == (65, True, None)
    assert done.stderr.startswith("error: 1 of 2 questions had no answer")
    with subprocess.Popen([*command, "--listen", "0"], stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        try:
            assert process.stderr is not None
            address = process.stderr.readline().split()[-1]
            headers = {"content-type": "application/json"}
            asking = urllib.request.Request(f"{address}/decide", json.dumps(battle[0]).encode(), headers)  # noqa: S310
            with urllib.request.urlopen(asking, timeout=300) as answer:  # noqa: S310 - the address is ours
                assert json.load(answer)["choice"] == first["choice"]
            process.send_signal(signal.SIGTERM)
            assert process.wait(600) == 143
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"", b""),
        (b"POST /decide HTTP/1.1\r\nhost: x\r\n", b""),
        (b"GET /health HTTP/1.1\r\nhost: x\r\n\r\nGET /heal", b"HTTP/1.1 200"),
        (b"POST /decide HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{", b"HTTP/1.1 408"),
    ],
    ids=["nothing", "half of the headers", "half of the next request", "half of the body"],
)
def test_a_connection_that_is_too_slow_is_closed(slow_service: tuple[str, int], sent: bytes, answer: bytes) -> None:
    with socket.create_connection(slow_service) as connection:
        connection.sendall(sent)
        received = b"".join(iter(lambda: connection.recv(4096), b""))
    assert received.startswith(answer)
    assert bool(received) == bool(answer)


@pytest.fixture(scope="module")
def slow_service() -> Iterator[tuple[str, int]]:
    command = [sys.executable, "-m", "nashdex_cli", "decide", "random", "--format", FORMAT, "--listen", "0"]
    with subprocess.Popen([*command, "--seconds", "3"], stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            host, _, port = process.stderr.readline().split()[-1].removeprefix("http://").rpartition(":")
            yield host, int(port)
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nobody", "--format", FORMAT], 64),
        (["random"], 64),
        (["random", "--format", "kuhn_poker"], 64),
        (["random", "--format", FORMAT, "--listen", "nowhere"], 64),
        (["random", "--format", FORMAT, "--listen", "203.0.113.1:80"], 64),
        (["runs/none#newest", "--format", FORMAT], 65),
    ],
)
def test_a_wrong_command_line_is_one_message(
    arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["decide", *arguments]) == code
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
def test_the_benchmark_asks_alone_and_in_batches(policy: str) -> None:
    result = bench_decide(policy, FORMAT, questions=12, batch=5)
    assert (result.questions, result.batch, result.format, result.policy) == (12, 5, FORMAT, policy)
    assert result.p50_milliseconds <= result.p99_milliseconds
    one_by_one, batches = lines(result)
    assert "12 questions one after another" in one_by_one
    assert "in batches of 5" in batches
