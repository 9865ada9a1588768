"""Guarded optimiser steps: gradients, Adam, the guard, checkpoints, and what the next iteration continues with."""
