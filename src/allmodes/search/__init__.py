"""How modes are searched for: searchers propose candidates, a verifier judges them, an archive remembers."""
