# The graphmem API. `docker compose up` builds and runs it beside Neo4j.

FROM python:3.11-slim-bookworm AS build
WORKDIR /build
ENV UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never UV_COMPILE_BYTECODE=1
COPY requirements/uv.txt requirements/runtime.txt requirements/build.txt requirements/
RUN pip install --no-cache-dir --require-hashes -r requirements/uv.txt
RUN uv venv /opt/graphmem \
    && uv pip install --no-cache --python /opt/graphmem --require-hashes -r requirements/runtime.txt
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY graphmem graphmem
COPY api api
COPY client client
COPY cypher cypher
# Even what builds the wheel is held to the hashes of the lock file.
RUN uv build --no-cache --wheel --build-constraint requirements/build.txt --require-hashes --out-dir dist \
    && uv pip install --no-cache --python /opt/graphmem --no-deps dist/*.whl

FROM python:3.11-slim-bookworm
RUN useradd --system --uid 10001 --create-home graphmem && install -d -o graphmem -m 700 /var/lib/graphmem
COPY --from=build /opt/graphmem /opt/graphmem
ENV PATH=/opt/graphmem/bin:$PATH PYTHONUNBUFFERED=1 ORT_DISABLE_TELEMETRY=1 GRAPHMEM_HOME=/var/lib/graphmem
USER graphmem
VOLUME /var/lib/graphmem
EXPOSE 8000
# Whether this process lives: nothing is put right by starting it again while the database is away (/healthz).
HEALTHCHECK --interval=15s --timeout=20s --start-period=120s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/livez', timeout=15)"]
CMD ["graphmem", "serve", "--host", "0.0.0.0", "--port", "8000"]
