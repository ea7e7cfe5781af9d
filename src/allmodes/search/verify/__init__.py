"""Is a candidate an optimum, of what kind, and is it one that is known already?"""
