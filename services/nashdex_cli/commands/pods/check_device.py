"""``nashdex check-device``: check that the image computes on its step's device."""

from typing import Annotated

import typer

from nashdex_cli.commands.output import JsonOption, print_answer


def check_device(
    gpus: Annotated[int, typer.Option(min=0, help="GPUs that the pod requests; 0 checks the CPU.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Multiply two matrices on the device that training would use: the first GPU if there is one, else the CPU.

    Exits 64 if GPUs are requested and fewer are found, or the first cannot compute: no device in the pod, a torch
    without CUDA, or a driver that is too old for it.
    """
    from nashdex.learning.hardware import try_device

    name = try_device("cuda" if gpus else "cpu", num_gpus=gpus)
    print_answer({"device": name}, [f"computed on {name}"], as_json=as_json)
