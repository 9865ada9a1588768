"""PPO with masked actions in one file, in the manner of CleanRL. Needs: pip install 'nashdex[envs]'.

python examples/one_file_ppo.py --steps 200000 --opponent random

Shapes: T steps of a rollout, N battles at once, F observation values, A actions, B = T · N.
"""

import argparse

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from nashdex_play.envs import BattleVectorEnv


class Agent(nn.Module):
    """An actor and a critic on one body."""

    def __init__(self, num_inputs: int, num_actions: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(num_inputs, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh())
        self.actor, self.critic = nn.Linear(256, num_actions), nn.Linear(256, 1)

    def forward(self, observations_BF: Tensor, masks_BA: Tensor) -> tuple[Categorical, Tensor]:  # noqa: N803 - shapes
        """Return the distribution over legal actions, and values of shape (B,)."""
        hidden = self.body(observations_BF)
        logits = self.actor(hidden).masked_fill(~masks_BA, -1e9)
        return Categorical(logits=logits), self.critic(hidden)[:, 0]


def main() -> None:  # noqa: PLR0915 - one function, read from top to bottom
    """Train, and print the mean score of each tenth of the training."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opponent", default="random")
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--envs", type=int, default=64)
    parser.add_argument("--rollout", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--minibatch", type=int, default=1024)
    parser.add_argument("--learning-rate", type=float, default=5e-4)
    parser.add_argument("--gae-lambda", type=float, default=0.9)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    torch.manual_seed(asked.seed)
    torch.set_num_threads(1)
    env = BattleVectorEnv(asked.envs, opponent=asked.opponent, reward="shaped")
    now, _ = env.reset(seed=asked.seed)
    num_inputs, num_actions = now.shape[1], env.action_masks().shape[1]
    agent = Agent(num_inputs, num_actions)
    optimiser = torch.optim.Adam(agent.parameters(), lr=asked.learning_rate, eps=1e-5)
    size = (asked.rollout, asked.envs)
    observations, masks = torch.zeros(*size, num_inputs), torch.ones(*size, num_actions, dtype=torch.bool)
    actions, log_probs = torch.zeros(size, dtype=torch.int64), torch.zeros(size)
    values, rewards, dones = torch.zeros(size), torch.zeros(size), torch.zeros(size)
    num_rounds = max(1, asked.steps // (asked.rollout * asked.envs))
    scores: list[float] = []
    for round_number in range(num_rounds):
        for t in range(asked.rollout):
            observations[t], masks[t] = torch.from_numpy(now), torch.from_numpy(env.action_masks())
            with torch.no_grad():
                distribution, values[t] = agent(observations[t], masks[t])
            actions[t] = distribution.sample()
            log_probs[t] = distribution.log_prob(actions[t])
            now, reward, terminated, truncated, infos = env.step(actions[t].numpy())
            rewards[t] = torch.from_numpy(reward)
            dones[t] = torch.from_numpy((terminated | truncated).astype(np.float32))
            scores += [float(infos["final_info"]["score"][n]) for n in np.flatnonzero(terminated)]
        # Generalised advantage estimation (Schulman et al. 2016) with γ = 1.
        with torch.no_grad():
            following = agent(torch.from_numpy(now), torch.from_numpy(env.action_masks()))[1]
            advantages, last = torch.zeros(size), torch.zeros(asked.envs)
            for t in reversed(range(asked.rollout)):
                delta = rewards[t] + following * (1 - dones[t]) - values[t]
                advantages[t] = last = delta + asked.gae_lambda * (1 - dones[t]) * last
                following = values[t]
            returns = advantages + values
        flat = [part.flatten(0, 1) for part in (observations, masks, actions, log_probs, advantages, returns)]
        for _ in range(asked.epochs):
            for rows in torch.split(torch.randperm(asked.rollout * asked.envs), asked.minibatch):
                seen, legal, action, old, advantage, aim = (part[rows] for part in flat)
                distribution, value = agent(seen, legal)
                ratio = (distribution.log_prob(action) - old).exp()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                clipped = ratio.clamp(1 - asked.clip, 1 + asked.clip)
                loss = -torch.min(ratio * advantage, clipped * advantage).mean()
                loss += 0.5 * (value - aim).square().mean() - asked.entropy * distribution.entropy().mean()
                optimiser.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimiser.step()
        if scores and ((round_number + 1) % max(1, num_rounds // 10) == 0):
            steps = (round_number + 1) * asked.rollout * asked.envs
            print(f"{steps} steps: mean score {np.mean(scores):.3f} in {len(scores)} battles")
            scores = []
    if scores:
        print(f"mean score {np.mean(scores):.3f} in {len(scores)} battles")
    env.close()


if __name__ == "__main__":
    main()
