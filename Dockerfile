# The locked environment in a container:  docker build -t dpucbvi . && docker run --rm dpucbvi make figures
FROM python:3.13-slim-bookworm

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
