FROM python:3.13-slim AS build
WORKDIR /src
RUN python -m venv /opt/anoncup
ENV PATH=/opt/anoncup/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# The dependencies alone first: this layer is rebuilt only when the lock changes.
COPY requirements.lock .
RUN pip install --require-hashes -r requirements.lock
COPY pyproject.toml README.md ./
COPY app app
COPY anoncup anoncup
COPY workers workers
COPY migrations migrations
RUN pip install --no-deps --no-build-isolation .

FROM python:3.13-slim
# Volumes take the owner of the folder that they are first mounted on.
RUN useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin anoncup \
    && install -d -o anoncup -g anoncup -m 0700 /data /keys/private /var/cache/anoncup \
    && install -d -o anoncup -g anoncup -m 0755 /keys/public
COPY --from=build /opt/anoncup /opt/anoncup
# The compiled loops need a cache that can be written, and the rest of the image cannot.
ENV PATH=/opt/anoncup/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    ANONCUP_DATA=/data NUMBA_CACHE_DIR=/var/cache/anoncup
USER 10001:10001
WORKDIR /data
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "from urllib.request import ProxyHandler, build_opener; build_opener(ProxyHandler({})).open('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["anoncup", "serve", "--host", "0.0.0.0", "--port", "8000"]
