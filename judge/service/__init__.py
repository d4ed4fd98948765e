"""The judge as a service: a durable queue of verdicts behind an HTTP API."""
