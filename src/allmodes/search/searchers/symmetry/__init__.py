"""Images of known modes, where the function has symmetries."""
