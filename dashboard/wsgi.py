"""The web server's application. What this process sends to the database is bounded; work in the background is not."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from dashboard.patience import bound_statements

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

application = get_wsgi_application()
bound_statements()
# Every page and resource is loaded with them: else whoever asks first waits seconds for it.
addresses = get_resolver().url_patterns
# What is loaded by now stays: the collector need not go through it with every request that makes many objects, nor
# begin at every few hundred of them.
gc.collect()
gc.freeze()
gc.set_threshold(25_000, 20, 20)
