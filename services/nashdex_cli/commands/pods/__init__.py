"""Commands that pods call: steps, and what runs beside them."""
