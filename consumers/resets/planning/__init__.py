"""The dry run: present offsets, planned offsets, and the consequences. Brokers are asked, and nothing is changed."""
