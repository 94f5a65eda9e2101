"""What each kind of finding is told by; ../findings.py puts them together."""
