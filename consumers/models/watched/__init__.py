"""What polls read: clusters, groups, members, queues."""
