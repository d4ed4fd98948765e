"""How what an agent did is compared with what it should have done: arguments, names of tools, calls."""
