"""A language model plays by text: the position and the choices in, the number of a choice out.

`ask` stands for the model: it takes the strongest-looking choice by a rule. Replace it with a call of yours.
Needs: pip install 'nashdex[envs]'. Run: python examples/language_model.py --battles 3
"""

import argparse
import re

import numpy as np

from nashdex_play.envs import BattleEnv

PROMPT = "You play Pokémon. Answer with the number of one choice.\n\n{position}\n"


def ask(prompt: str) -> str:
    """Return a model's answer; here the last choice of the list, which is a move if there is one."""
    return f"I choose {re.findall(r'^([0-9]+): ', prompt, flags=re.MULTILINE)[-1]}."


def main() -> None:
    """Play, and print how many battles were won."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", default="gen9randombattle")
    parser.add_argument("--opponent", default="random")
    parser.add_argument("--battles", type=int, default=3)
    asked = parser.parse_args()
    env = BattleEnv(asked.format, asked.opponent, states=True)
    won = 0
    for battle in range(asked.battles):
        _, info = env.reset(seed=battle)
        terminated = truncated = False
        while not (terminated or truncated):
            answer = ask(PROMPT.format(position=info["text"]))
            number = re.search(r"[0-9]+", answer)
            # An answer without a legal number plays a legal action at random: the environment says so in `info`.
            action = int(number.group()) if number else -1
            _, _, terminated, truncated, info = env.step(np.int64(action))
        # A battle that failed is truncated and has no score: `info["failure"]` says why.
        won += info.get("score") == 1.0
    env.close()
    print(f"{won} of {asked.battles} battles won")


if __name__ == "__main__":
    main()
