"""The attempts of one message: looked up through brokers' indexes by the general worker, joined with stored history."""
