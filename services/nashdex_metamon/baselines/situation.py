"""One decision as a baseline judges it: the battle of one seat, its arithmetic and its random numbers."""

from dataclasses import dataclass
from random import Random

from poke_env.battle import Battle, Move, Pokemon, PokemonType, SideCondition, Weather

from nashdex_metamon.baselines.arithmetic import ROLLS, SURE_HIT, Arithmetic, Assumption


@dataclass(slots=True)
class Situation:
    """What one seat can ask about its decision. The active Pokémon of both sides are known."""

    battle: Battle
    arithmetic: Arithmetic
    random: Random

    @property
    def own(self) -> Pokemon:
        """The own active Pokémon."""
        pokemon = self.battle.active_pokemon
        assert pokemon is not None
        return pokemon

    @property
    def foe(self) -> Pokemon:
        """The opponent's active Pokémon."""
        pokemon = self.battle.opponent_active_pokemon
        assert pokemon is not None
        return pokemon

    @property
    def is_forced(self) -> bool:
        """Whether the seat has to switch."""
        return bool(self.battle.force_switch)

    @property
    def moves(self) -> list[Move]:
        """The moves that the request offers, in its order."""
        return list(self.battle.available_moves)

    @property
    def bench(self) -> list[Pokemon]:
        """The Pokémon that the request offers to switch to, in its order."""
        return list(self.battle.available_switches)

    def advantage(self, attacking: PokemonType | None, target: Pokemon | None = None) -> float:
        """Return the effectiveness of a type on ``target``, by default the opponent's active Pokémon."""
        return self.arithmetic.type_advantage(attacking, target or self.foe)

    def accuracy(self, move: Move, user: Pokemon | None = None) -> float:
        """Return the chance that a move of ``user``, by default the own active Pokémon, hits."""
        return self.arithmetic.accuracy(move, user or self.own, self.foe)

    def damage(
        self,
        move: Move,
        roll: str | float,
        assume: Assumption = "uniform",
        *,
        crit: bool = False,
        round_up: bool = True,
        user: Pokemon | None = None,
    ) -> float:
        """Return the damage of one hit of a move by ``user``, by default the own active Pokémon."""
        return self.arithmetic.damage(
            move,
            user or self.own,
            self.foe,
            roll=ROLLS[roll] if isinstance(roll, str) else roll,
            assume=assume,
            crit=crit,
            round_up=round_up,
            screens=frozenset[SideCondition](self.battle.opponent_side_conditions),
            weather=frozenset[Weather](self.battle.weather),
        )

    def expected_damage(self, move: Move, assume: Assumption = "uniform") -> float:
        """Return the damage on average. Critical hits count as if they never missed."""
        crit = self.arithmetic.crit_chance(move, self.own)
        normal = self.accuracy(move) * move.expected_hits * (1 - crit) * self.damage(move, "mean", assume)
        return normal + crit * self.damage(move, "mean", assume, crit=True)

    def worst_case(self, move: Move, user: Pokemon | None = None) -> float:
        """Return the least damage; 0 for a move that can miss."""
        if self.accuracy(move, user) < SURE_HIT:
            return 0.0
        return move.n_hit[0] * self.damage(move, "min", "best", round_up=False, user=user)

    def damage_roll(self, move: Move) -> float:
        """Return the damage of one draw of accuracy and roll."""
        hits = self.random.random() <= self.accuracy(move)
        return move.expected_hits * hits * self.damage(move, self.random.uniform(0.85, 1.0))

    def outspeed_chance(self, own: Pokemon | None = None) -> float:
        """Return the chance that ``own``, by default the active Pokémon, is faster."""
        speed = self.arithmetic.stat(own or self.own, "spe", "uniform")
        self.arithmetic.assume(self.foe, "worst")
        low = self.arithmetic.boosted(self.foe, "spe", "worst")
        high = self.arithmetic.boosted(self.foe, "spe", "best")
        return max(0.0, min(1.0, (speed - low) / (high + 1 - low)))

    def switch_score(self, pokemon: Pokemon, defense: float, offense: float, speed: float = 0.0) -> float:
        """Return how good it is to bring in ``pokemon``, by types and speed."""
        score = -defense * sum(self.advantage(type_, pokemon) for type_ in self.foe.types)
        attacking = {move.type for move in pokemon.moves.values() if move.base_power > 0}
        score += offense * sum(self.advantage(type_) for type_ in pokemon.types if type_ in attacking)
        return score + speed * self.arithmetic.boosted(pokemon, "spe", "uniform")
