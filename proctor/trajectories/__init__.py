"""Trajectories from files, message lists, spans and the proxy's sessions."""
