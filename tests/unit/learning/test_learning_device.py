"""The check of the device that training uses."""

import json

import pytest
import torch

from nashdex_cli.cli import run_command_line


def test_the_cpu_computes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["check-device", "--gpus=0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"device": "the CPU"}


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["check-device", "--gpus=1"]) == 64
    assert "torch finds no CUDA device in this pod" in capsys.readouterr().err


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_gpu_computes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["check-device", "--gpus=1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["device"] == torch.cuda.get_device_name()
