"""One evaluation compares measured values with open incidents. It writes changes and their messages in one
transaction.
"""
