"""MiniRNN: a decision's embedding, a GRU over the battle, and logits over nine actions."""

from torch import Tensor, nn

from nashdex.metamon.checkpoints.architecture import MiniRnnArchitecture
from nashdex.metamon.checkpoints.memory import Memory
from nashdex.metamon.checkpoints.turn import TurnEmbedding

_HIDDEN = "hidden"


class MiniRnn(nn.Module):
    """Implements ``checkpoints.memory.MemoryNetwork``. Names of modules are those of metamon's file."""

    uses_previous = False

    def __init__(self, sizes: MiniRnnArchitecture, num_words: int, num_numbers: int, num_actions: int) -> None:
        super().__init__()
        self.turn_embedding = TurnEmbedding(sizes.turn, num_words, num_numbers)
        embedded = sizes.turn.num_scratch_tokens * sizes.turn.width
        self.rnn = nn.GRU(embedded, sizes.hidden_size, batch_first=True)
        self.out = nn.Linear(sizes.hidden_size, num_actions)

    def memory_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of one seat's memory, zero at a battle's start."""
        return {_HIDDEN: (self.rnn.hidden_size,)}

    def step(self, tokens: Tensor, numbers: Tensor, previous: Tensor, memory: Memory, slots: Tensor) -> Tensor:
        """Return the logits of one decision a row, shape (N, A), and write the memory of ``slots``, shape (N,)."""
        del previous
        embedded = self.turn_embedding(tokens, numbers).unsqueeze(1)
        _, hidden = self.rnn(embedded, memory[_HIDDEN][slots].unsqueeze(0))
        memory[_HIDDEN][slots] = hidden[0]
        logits: Tensor = self.out(hidden[0])
        return logits

    def forward(self, tokens: Tensor, numbers: Tensor, previous: Tensor) -> Tensor:
        """Return the logits of whole battles, shape (N, T, A), from (N, T, W) and (N, T, F)."""
        del previous
        rows, decisions = tokens.shape[:2]
        embedded = self.turn_embedding(tokens.flatten(0, 1), numbers.flatten(0, 1)).view(rows, decisions, -1)
        logits: Tensor = self.out(self.rnn(embedded)[0])
        return logits
