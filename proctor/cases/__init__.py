"""Cases and suites: what an agent is asked, in what world, and what must come of it. Pure data; see docs/cases.md."""
