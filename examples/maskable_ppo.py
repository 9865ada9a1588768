"""MaskablePPO of sb3-contrib learns to beat a policy. Needs: pip install 'nashdex[envs]' sb3-contrib.

python examples/maskable_ppo.py --steps 200000 --opponent random
"""

import argparse
import time

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from nashdex_play.envs import BattleVectorEnv
from nashdex_play.envs.stable_baselines import BattleVecEnv


def score(model: MaskablePPO, opponent: str, battles: int, num_envs: int, seed: int) -> float:
    """Return the mean score of ``model`` in at least ``battles`` battles, the first of each environment alike."""
    env = BattleVectorEnv(num_envs, opponent=opponent)
    observations, _ = env.reset(seed=seed)
    scores: list[float] = []
    # Equally many battles of each environment: the first to end are the short ones.
    per_env = -(-battles // num_envs)
    num_ended = np.zeros(num_envs, dtype=np.int64)
    while (num_ended < per_env).any():
        actions, _ = model.predict(observations, action_masks=env.action_masks())
        observations, _, terminated, _, infos = env.step(actions)
        for number in np.flatnonzero(terminated):
            if num_ended[number] < per_env:
                scores.append(infos["final_info"]["score"][number])
            num_ended[number] += 1
    env.close()
    return float(np.mean(scores))


def main() -> None:
    """Train, print a table now and then, and at last the score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opponent", default="random")
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--envs", type=int, default=64)
    parser.add_argument("--rollout", type=int, default=64)
    parser.add_argument("--battles", type=int, default=256)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    env = BattleVecEnv(BattleVectorEnv(asked.envs, opponent=asked.opponent, reward="shaped"))
    env.seed(asked.seed)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=asked.rollout,
        batch_size=min(1024, asked.rollout * asked.envs),
        n_epochs=4,
        gamma=1.0,
        gae_lambda=0.9,
        learning_rate=5e-4,
        ent_coef=0.01,
        seed=asked.seed,
        device="cpu",
        verbose=1,
    )
    began, spent = time.monotonic(), time.process_time()
    model.learn(asked.steps, log_interval=5)
    print(f"{asked.steps} steps in {time.monotonic() - began:.0f} s, {time.process_time() - spent:.0f} s CPU of Python")
    env.close()
    print(
        f"score against {asked.opponent}: {score(model, asked.opponent, asked.battles, asked.envs, asked.seed + 1):.3f}"
    )


if __name__ == "__main__":
    main()
