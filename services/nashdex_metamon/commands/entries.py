"""The entries of ``nashdex.commands``."""

from typing import Final

from nashdex_cli.commands.added import Command
from nashdex_metamon.commands import bench, data, policy

_METAMON: Final = "metamon's views and baselines"

DATA: Final = Command(run=data.app, panel="Data and foreign policies")
POLICY_IMPORT: Final = Command(run=policy.import_policy)
POLICY_IMPORT_POPULATION: Final = Command(run=policy.import_population)
BENCH_VIEW: Final = Command(run=bench.view, panel=_METAMON)
BENCH_PARITY: Final = Command(run=bench.parity, panel=_METAMON)
BENCH_BASELINES: Final = Command(run=bench.baselines, panel=_METAMON)
