"""What is done with dead letters: brokers are asked for them, shown one, and sent them again.

Run by tasks of the general worker only; nothing else opens a socket to a broker for them.
"""
