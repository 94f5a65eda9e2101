"""Makes a checkout ready: Java, an environment in .venv, the locked packages.

Run as `python3 dashboard/setup`, before anything is installed: only the standard library may be imported here.
"""
