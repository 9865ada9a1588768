"""What measures runs and policies from outside: experiments, panels, exploiters, coverage, costs, cards."""
