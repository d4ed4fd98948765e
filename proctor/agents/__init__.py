"""Agents under test, whatever they are made of: a task goes in, an answer comes out. See docs/agents.md."""
