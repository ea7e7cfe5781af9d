"""How modes are searched for: launches, populations, annealing; the archive of what was found."""
