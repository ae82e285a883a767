# Hart as a service. Build: docker build -t hart .   Run: see "Docker" in README.md.

FROM python:3.11-slim AS build
WORKDIR /src
# Without pip: nothing installs anything in the running container.
RUN python -m venv --without-pip /opt/hart
COPY requirements.lock ./
RUN pip --python /opt/hart/bin/python install --no-cache-dir --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY agent_core/ agent_core/
COPY bot/ bot/
COPY channels/ channels/
COPY scheduler/ scheduler/
RUN pip --python /opt/hart/bin/python install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim
RUN useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin hart \
    && install -d -o hart -g hart -m 0700 /data
COPY --from=build /opt/hart /opt/hart
WORKDIR /app
COPY config.yaml channels.yaml ./
COPY examples/ examples/
COPY skills/ skills/

# The checked-in config.yaml takes the address to listen on from HART_HOST. Other machines than the
# container's own can reach this one, so Hart starts only when HART_WEB_TOKEN is set as well.
ENV PATH=/opt/hart/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HART_HOME=/data \
    HART_HOST=0.0.0.0

USER hart
VOLUME /data
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import http.client, sys; server = http.client.HTTPConnection('127.0.0.1', 8765, timeout=4); server.request('GET', '/healthz'); sys.exit(server.getresponse().status != 200)"]
CMD ["hart", "run", "--no-console"]
