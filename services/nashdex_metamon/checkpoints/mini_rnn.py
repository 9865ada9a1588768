"""MiniRNN: a decision's embedding, a GRU over the battle, and logits over nine actions."""

from torch import Tensor, nn

from nashdex.policies.memory import Inputs, Memory
from nashdex_metamon.checkpoints.architecture import MiniRnnArchitecture
from nashdex_metamon.checkpoints.turn import TurnEmbedding

_HIDDEN, _BEFORE = "hidden", "before"


class MiniRnn(nn.Module):
    """Implements ``policies.memory.RememberingNetwork``. Names of modules are from metamon's file."""

    def __init__(self, sizes: MiniRnnArchitecture, num_words: int, num_numbers: int, num_actions: int) -> None:
        super().__init__()
        self.turn_embedding = TurnEmbedding(sizes.turn, num_words, num_numbers)
        embedded = sizes.turn.num_scratch_tokens * sizes.turn.width
        self.rnn = nn.GRU(embedded, sizes.hidden_size, batch_first=True)
        self.out = nn.Linear(sizes.hidden_size, num_actions)

    def memory_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of one seat's memory, now and before its last decision."""
        return {_HIDDEN: (self.rnn.hidden_size,), _BEFORE: (self.rnn.hidden_size,)}

    def rewind(self, memory: Memory, slots: Tensor) -> None:
        """Forget the last decision of ``slots``."""
        memory[_HIDDEN][slots] = memory[_BEFORE][slots]

    def step(self, inputs: Inputs, memory: Memory, slots: Tensor) -> Tensor:
        """Return the logits of one decision a row, shape (N, A), and write the memory of ``slots``, shape (N,).

        Reads ``tokens`` (N, W) and ``numbers`` (N, F).
        """
        embedded = self.turn_embedding(inputs["tokens"], inputs["numbers"]).unsqueeze(1)
        before = memory[_HIDDEN][slots]
        _, hidden = self.rnn(embedded, before.unsqueeze(0))
        memory[_BEFORE][slots], memory[_HIDDEN][slots] = before, hidden[0]
        logits: Tensor = self.out(hidden[0])
        return logits

    def forward(self, tokens: Tensor, numbers: Tensor, previous: Tensor) -> Tensor:
        """Return the logits of whole battles, shape (N, T, A), from (N, T, W) and (N, T, F)."""
        del previous
        rows, decisions = tokens.shape[:2]
        embedded = self.turn_embedding(tokens.flatten(0, 1), numbers.flatten(0, 1)).view(rows, decisions, -1)
        logits: Tensor = self.out(self.rnn(embedded)[0])
        return logits
