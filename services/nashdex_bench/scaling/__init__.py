"""How the steps that compute (plan, solve, report) and the exporter grow with policies, iterations, shards, battles."""
