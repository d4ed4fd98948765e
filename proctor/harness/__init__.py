"""The runner: an agent through the cases of a suite, trial by trial. See docs/running.md."""
