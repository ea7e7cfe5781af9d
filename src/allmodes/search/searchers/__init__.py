"""Ways of looking for candidates: local searches, populations, annealing."""
