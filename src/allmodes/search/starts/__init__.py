"""Where local searches begin."""
