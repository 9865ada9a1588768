"""Settings that are each valid and do not go together: refused before a run begins, in one line."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import is_imported
from nashdex.core.section import changed_keys, without_effect
from nashdex.games.registry import FORMATS, check_inputs
from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.games.showdown.potential import POTENTIAL_SHARES
from nashdex.learning.rewards import REWARDS
from nashdex.metagame.opponents.registry import OPPONENT_RULES
from nashdex.oracles.interface import AnyOracle
from nashdex.oracles.registry import ORACLES, needs_actors
from nashdex.policies.networks.kinds import NETWORKS
from nashdex.policies.scripted.registry import SCRIPTED_POLICIES, is_scripted, scripted_policies_of
from nashdex.policies.sources import SOURCES
from nashdex.settings.external import is_external
from nashdex.settings.networks import EntitySettings, NetworkSettings, remembers
from nashdex.settings.opponents import TargetSettings
from nashdex.settings.population import stored_policy
from nashdex.settings.run import GateSettings, RunSettings, TeamStage
from nashdex.settings.solve import SolveSettings
from nashdex.settings.train import TrainSettings


def check_fit(settings: RunSettings) -> None:
    """Check that format, oracle, opponents and scripted policies go together, and that every key set has an effect.

    Raises:
        ConfigurationError: they do not; says which and what to do.
    """
    check_inputs(settings.format, has_teams=settings.teams is not None, has_matrix=settings.matrix is not None)
    problems = chain(
        _of_team_schedule(settings.format, settings.team_schedule, settings.iterations),
        without_effect(settings),
        _of_tree(settings.format, settings.train),
        _of_external(settings.format, settings.population.initial, settings.solve),
        _of_scripted(settings),
        _of_reward(settings.format, settings.train.reward),
        _of_network(settings.format, settings.network, settings.train),
        _of_device(settings.collect.device, settings.network, settings.train),
        _of_actors(settings),
        _of_oracle(settings),
        _of_opponents(settings),
        _of_gate(settings.gate, settings.train),
        _of_schedule(settings),
    )
    for problem in problems:
        raise ConfigurationError(problem)


def trains_networks(train: TrainSettings) -> bool:
    """Say whether the trained policies are networks; otherwise they are tables."""
    return ORACLES[train.oracle.kind].makes == "network"


def _of_team_schedule(format_id: str, stages: Sequence[TeamStage], iterations: int) -> Iterator[str]:
    if stages and not FORMATS[format_id].takes_teams:
        yield f"{format_id} takes no teams: leave `team_schedule` out"
    if stages and stages[-1].from_iteration >= iterations:
        yield (
            f"team_schedule has a stage from iteration {stages[-1].from_iteration}, and the last of the run's "
            f"iterations is {iterations - 1}: leave the stage out, or raise `iterations`"
        )


def _plays_battles(format_id: str) -> bool:
    """Say whether payoffs come from battles; otherwise they follow exactly from the game's tree."""
    return FORMATS[format_id].evidence.is_played


def _oracles(train: TrainSettings) -> tuple[AnyOracle, ...]:
    oracle = ORACLES[train.oracle.kind]
    return (oracle, ORACLES[train.first.kind]) if oracle.improves else (oracle,)


def _of_tree(format_id: str, train: TrainSettings) -> Iterator[str]:
    if not _plays_battles(format_id):
        return
    oracle, *first = _oracles(train)
    if oracle.needs_tree:
        able = _names(other for other in ORACLES.all().values() if other.answers_opponents and not other.needs_tree)
        yield (
            f"the oracle {oracle.name!r} reads a game's tree, which {format_id} is too large for; expected "
            f"train.oracle {able}, or a tabular format"
        )
    if first and first[0].needs_tree:
        yield (
            f"train.first {first[0].name!r} reads a game's tree, which {format_id} is too large for; expected "
            f"{_names(_makers_of_first(oracle, has_tree=False))}"
        )


def _names(oracles: Iterable[AnyOracle]) -> str:
    return " or ".join(repr(oracle.name) for oracle in oracles)


def _makers_of_first(oracle: AnyOracle, *, has_tree: bool) -> Iterator[AnyOracle]:
    """Yield the oracles that can make the first policy of ``oracle``, which improves it."""
    for other in ORACLES.all().values():
        if not other.improves and other.makes == oracle.makes and (has_tree or not other.needs_tree):
            yield other


def _of_scripted(settings: RunSettings) -> Iterator[str]:
    name, played = settings.format, FORMATS[settings.format]
    game, slots = played.game, played.num_slots
    able = ", ".join(repr(policy) for policy in scripted_policies_of(name, game, slots))
    key, members = "population.initial", settings.population.initial
    if isinstance(settings.opponents, TargetSettings):
        if changed_keys(settings.population):
            yield "population.initial has no effect with opponents 'target', whose policies are the first: leave it out"
        key, members = "opponents.mixture", tuple(p for p in settings.opponents.mixture if is_scripted(p))
    members = tuple(policy for policy in members if not is_external(policy))
    for policy in members:
        if not _plays(policy, name):
            yield f"{key} holds {policy!r}, which does not play {name}; expected some of {able}"
    teacher = settings.collect.teacher
    has_pupil = any(oracle.collects == "teacher" for oracle in _oracles(settings.train))
    if has_pupil and not _plays(teacher, name):
        yield f"collect.teacher {teacher!r} does not play {name}; expected one of {able}"


def _plays(policy: str, format_id: str) -> bool:
    """Say whether a ``PolicyName`` plays the format, as far as its name says."""
    played = FORMATS[format_id]
    game, slots = played.game, played.num_slots
    stored = stored_policy(policy)
    if stored is None:
        return SCRIPTED_POLICIES[policy].plays(format_id, game, slots)
    if stored.searches and not SOURCES["searching"].plays(game, slots):
        return False
    return not is_imported(stored.name) or SOURCES["imported"].plays(game, slots)


def _of_external(format_id: str, members: Sequence[str], solve: SolveSettings) -> Iterator[str]:
    external = next(filter(is_external, members), None)
    if external is None:
        return
    if FORMATS[format_id].game != SHOWDOWN:
        yield f"population.initial holds {external!r}, which does not play {format_id}; leave it out"
    elif all(map(is_external, members)):
        yield (
            "population.initial holds players of other programs alone, and no policy trains against them; add one such "
            "as 'random'"
        )
    elif solve.unplayed == "block":
        yield (
            f"population.initial holds {external!r}, whose battles are not played while its machine lacks it, and "
            "solve.unplayed is 'block'; expected 'bradley-terry' or 'interval'"
        )


def _of_reward(format_id: str, reward: str) -> Iterator[str]:
    played = FORMATS[format_id]
    if not REWARDS[reward].fits(played.game, played.num_slots):
        fitting = [name for name, other in REWARDS.all().items() if other.fits(played.game, played.num_slots)]
        able = " or ".join(map(repr, fitting))
        yield f"train.reward {reward!r} does not fit {format_id}; expected {able}"


def _of_network(format_id: str, network: NetworkSettings, train: TrainSettings) -> Iterator[str]:
    if isinstance(network, EntitySettings) and network.value_bins > 1 and train.reward not in POTENTIAL_SHARES:
        yield (
            f"network.value_bins is {network.value_bins}, whose bins reach from −1.5 to 1.5, and returns of "
            f"train.reward {train.reward!r} may lie outside; expected {' or '.join(POTENTIAL_SHARES)} as reward, or "
            "value_bins = 1"
        )
    kind, played = network.kind, FORMATS[format_id]
    if not NETWORKS[kind].fits(played.game, played.num_slots):
        fitting = [n for n, other in NETWORKS.all().items() if other.fits(played.game, played.num_slots)]
        able = " or ".join(map(repr, fitting))
        yield f"network.kind {kind!r} does not fit {format_id}; expected {able}"
    oracle, *first = _oracles(train)
    if network.init_from.policy_id is None:
        if oracle.makes != "network" and (changed := changed_keys(network)):
            yield (
                f"network.{changed[0]} has no effect with the oracle {oracle.name!r}, whose policies are tables: leave "
                "it out"
            )
        return
    if not first:
        yield f"network.init_from has no effect with the oracle {oracle.name!r}, which starts afresh: leave it out"
    elif not first[0].begins_from_policy:
        able = " or ".join(repr(name) for name, other in ORACLES.all().items() if other.begins_from_policy)
        yield f"network.init_from has no effect with train.first {train.first.kind!r}; expected {able}"
    elif train.first.kind == "fresh" and train.seeds > 1 and not network.init_from.parameters:
        yield (
            f"network.init_from copies all parameters and train.first 'fresh' changes none, so the {train.seeds} first "
            "policies of train.seeds would be one; expected parameters to copy, or train.first 'clone'"
        )


def _of_device(device: str, network: NetworkSettings, train: TrainSettings) -> Iterator[str]:
    oracle = _oracles(train)[0]
    if device == "cpu":
        return
    if oracle.makes != "network":
        yield f"collect.device {device!r} has no effect with the oracle {oracle.name!r}, whose policies are tables"
    elif remembers(network):
        yield (
            f"collect.device is {device!r}, and network.kind {network.kind!r} with a memory of the battle plays on the "
            'CPU alone; expected collect.device = "cpu", or a network without a memory'
        )


def _of_actors(settings: RunSettings) -> Iterator[str]:
    changed = changed_keys(settings.actors)
    if changed and settings.actors.shards and not needs_actors(settings):
        yield (
            f"actors.{changed[0]} has no effect with the oracle {settings.train.oracle.kind!r} and format "
            f"{settings.format!r}, where no actors play: leave it out"
        )


def _of_oracle(settings: RunSettings) -> Iterator[str]:
    train = settings.train
    oracles = _oracles(settings.train)
    for oracle in oracles:
        yield from oracle.problems(train.section_of(oracle.name), settings)
    oracle = oracles[0]
    if train.num_processes > 1 and not oracle.shares_steps:
        able = " or ".join(repr(name) for name, other in ORACLES.all().items() if other.shares_steps)
        yield (
            f"train.num_processes is {train.num_processes}, and the oracle {oracle.name!r} trains in one process: "
            f"leave it out, or use train.oracle {able}"
        )
    if train.seeds > 1 and not oracle.is_random:
        yield f"train.seeds = {train.seeds} has no effect with the oracle {oracle.name!r}: leave it out"
    if len(oracles) == 1 and train.first != type(train)().first:
        yield f"train.first has no effect with the oracle {oracle.name!r}, which starts from no network: leave it out"
    if len(oracles) > 1 and (oracles[1].improves or oracles[1].makes != oracle.makes):
        able = _names(_makers_of_first(oracle, has_tree=not _plays_battles(settings.format)))
        yield f"train.first {oracles[1].name!r} does not make the first {oracle.makes}; expected {able}"


def _of_opponents(settings: RunSettings) -> Iterator[str]:
    section = settings.opponents
    rule, oracle = OPPONENT_RULES[section.kind], ORACLES[settings.train.oracle.kind]
    if rule.is_fixed and settings.solve.unplayed == "block" and _plays_battles(settings.format):
        yield (
            f"opponents {section.kind!r} leaves cells between new policies unplayed, and solve.unplayed is 'block'; "
            "expected 'bradley-terry'"
        )
    if rule.needs_battles and not oracle.plays_battles:
        yield (
            f"opponents {section.kind!r} chooses opponents to play against, and the oracle {oracle.name!r} plays no "
            "battles; expected another rule, or another oracle"
        )
    yield from rule.problems(section)
    yield from _of_roles(rule.roles(section), settings.train, settings.gate, settings.iterations)


def _of_roles(roles: Sequence[str], train: TrainSettings, gate: GateSettings, iterations: int) -> Iterator[str]:
    """Yield the conflicts with a rule whose ``roles`` train in turn."""
    if not roles:
        return
    oracle = ORACLES[train.oracle.kind]
    if not oracle.improves:
        yield f"opponents.roles go on from networks, and the oracle {oracle.name!r} starts afresh; expected 'ppo'"
    elif oracle.learner(train.section_of(oracle.name)) == "first":
        yield (
            "train.oracle.start 'clone' makes every role of opponents.roles start over in each iteration; expected "
            "'newest'"
        )
    if gate.test != "none":
        yield (
            f"gate.test {gate.test!r} compares a policy with its parent, but an exploiter of opponents.roles "
            "need not beat its parent: remove gate.test"
        )
    if len(roles) >= iterations:
        yield (
            f"opponents.roles has {len(roles)} roles and iterations is {iterations}: one role trains in each "
            f"after the first, so {roles[-1]!r} at its end never does; expected iterations of at least {len(roles) + 1}"
        )


def _of_gate(gate: GateSettings, train: TrainSettings) -> Iterator[str]:
    if gate.test == "none":
        return
    oracle = ORACLES[train.oracle.kind]
    if not oracle.improves:
        yield (
            f"gate.test {gate.test!r} compares a policy with its parent, but policies of the oracle {oracle.name!r} "
            "have no parent: remove gate.test"
        )


def _of_schedule(settings: RunSettings) -> Iterator[str]:
    evaluate = settings.evaluate
    if evaluate.adaptive_battles and not _plays_battles(settings.format):
        yield f"evaluate.adaptive_battles: {settings.format} plays no battles to schedule; leave it out"
    for name, value in (
        ("evaluate.num_opponents", evaluate.num_opponents),
        ("population.retire_after_iterations", settings.population.retire_after_iterations),
    ):
        if not value:
            continue
        if not _plays_battles(settings.format):
            yield f"{name}: {settings.format} plays no battles to leave out; leave it out"
        elif OPPONENT_RULES[settings.opponents.kind].is_fixed:
            yield f"{name}: opponents {settings.opponents.kind!r} has policies play its target alone; leave it out"
        elif settings.solve.unplayed == "block":
            yield (
                f"{name} leaves cells unplayed, and solve.unplayed is 'block'; expected 'bradley-terry' or 'interval'"
            )
