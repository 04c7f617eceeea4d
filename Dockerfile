# The locked environment in a container:  docker build -t dpucbvi . && docker run --rm dpucbvi make figures
# The digest is that of the index of all platforms, as docker-library/repo-info records it for this tag.
FROM python:3.13.14-slim-bookworm@sha256:67a1e1f215ccda113cfc024e8639049257e88f273898f595b61476d128d387e8

RUN apt-get update \
    && apt-get install --yes --no-install-recommends git=1:2.* make=4.* \
    && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home --uid 1000 researcher
USER 1000
WORKDIR /home/researcher/dpucbvi
COPY --chown=1000:1000 . .

# The same commands as on any machine: make builds .venv from requirements.lock.
RUN make .venv/.stamp

CMD ["make", "help"]
