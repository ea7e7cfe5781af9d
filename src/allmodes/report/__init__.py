"""What people look at: plots and tables. Reads results, computes nothing."""
