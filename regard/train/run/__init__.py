"""Run: the loop, and what keeps it exact: checkpoints, log, schedule, processes."""
