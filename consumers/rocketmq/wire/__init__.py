"""The wire: frames, connections, TLS and access control, without what calls mean."""
