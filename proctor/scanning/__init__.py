"""Looking for secrets on tapes that are there already, whoever recorded them."""
