"""Watches the clock of each machine, and puts right what was recorded while it was wrong.

A clock is compared with the machine's uptime, which goes on evenly. Where it was set back, what was recorded under
times that have yet to come would be "the newest" until they come: it is put right at once, see `future_rows`. While a
clock is in doubt nothing is deleted by age: `consumers.clock.status` tells.
"""
