"""What training asks of the device: that it computes, its memory, and the precision of forward passes."""
