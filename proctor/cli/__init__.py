"""The `proctor` command: one module a command, loaded when it is called."""
