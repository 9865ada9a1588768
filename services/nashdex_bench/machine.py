"""The machine on which a benchmark ran, and how fast it is, so that two results can be compared."""

import os
import platform
import time
from pathlib import Path
from typing import Final

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from nashdex.core.documents import Model
from nashdex.core.errors import ConfigurationError
from nashdex.core.machine import usable_cores
from nashdex.games.registry import showdown_game
from nashdex.games.showdown.gateway import check_installed, load_gateway_settings
from nashdex_bench.collect.measure import measure_raw

_SIZE: Final = 1024
"""Rows and columns of the matrices."""
_PRODUCTS: Final = 5
_FORMAT: Final = "gen1randombattle"
_SECONDS: Final = 2.0
"""Duration of the simulator's measurement; in the first half V8 compiles."""
_CPUINFO: Final = Path("/proc/cpuinfo")


class Machine(Model):
    """What a result's times depend on besides the code."""

    cpu: str = Field(description="The processor's name.")
    cores: PositiveInt = Field(description="Cores that this process may use.")
    load_average: NonNegativeFloat = Field(description="Processes that ran or waited, mean of the last minute.")
    matmul_gflops: PositiveFloat = Field(
        description="Billions of float32 operations a CPU-second in the fastest of some products of matrices."
    )
    raw_decisions_per_cpu_second: PositiveFloat | None = Field(
        description="Rate of the published simulator in gen1randombattle with random choices; null without Node."
    )


def measured_machine() -> Machine:
    """Return this machine, after some three seconds of measuring it."""
    return Machine(
        cpu=_cpu(),
        cores=usable_cores(),
        load_average=os.getloadavg()[0],
        matmul_gflops=_matmul_gflops(),
        raw_decisions_per_cpu_second=_raw_rate(),
    )


def _cpu() -> str:
    """Return the processor's name, or what Python knows of it where there is no Linux."""
    lines = _CPUINFO.read_text().splitlines() if _CPUINFO.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()


def _matmul_gflops() -> float:
    matrix = np.random.default_rng(0).random((_SIZE, _SIZE), dtype=np.float32)
    least_seconds = min(_seconds_of_product(matrix) for _ in range(_PRODUCTS))
    return 2 * _SIZE**3 / least_seconds / 1e9


def _seconds_of_product(matrix: np.ndarray) -> float:
    began_seconds = time.process_time()
    matrix @ matrix
    return time.process_time() - began_seconds


def _raw_rate() -> float | None:
    try:
        check_installed(load_gateway_settings())
    except ConfigurationError:
        return None
    return measure_raw(showdown_game(_FORMAT), _SECONDS, seed=0)
