"""Search by values alone: many small evolution strategies, started where nothing is known yet."""
