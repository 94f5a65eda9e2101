# One image for web, workers, beat and commands: what differs is the command (docker-compose.yml).
FROM python:3.11-slim-bookworm

# The home: secret key, lake, Spark's scratch. The database and Redis are other containers.
ENV CONSUMERSCOPE_HOME=/var/lib/consumerscope \
    PATH=/opt/consumerscope/.venv/bin:$PATH \
    PIP_NO_CACHE_DIR=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1

RUN useradd --system --uid 10001 --home-dir /var/lib/consumerscope --create-home consumerscope

WORKDIR /opt/consumerscope

# Java and the locked packages, by the program that `make run` uses; again only when one of these files changes.
COPY requirements.lock ./
COPY dashboard/setup.py dashboard/
COPY dashboard/demo/__init__.py dashboard/demo/java.py dashboard/demo/java.py dashboard/demo/
RUN python dashboard/setup.py && rm -rf /var/lib/apt/lists/*

COPY manage.py pyproject.toml ./
COPY consumers consumers
COPY dashboard dashboard
COPY templates templates
COPY static static

USER consumerscope
VOLUME /var/lib/consumerscope
EXPOSE 8000

# Loopback unless told otherwise: GUNICORN_CMD_ARGS names another address.
CMD ["gunicorn", "dashboard.wsgi", "--worker-class", "dashboard.patience.PatientWorker", "--workers", "2", "--threads", "4", "--no-control-socket"]
