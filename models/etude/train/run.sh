#!/bin/sh
# Trains Etude again: makes a Python environment once, then runs run.py (resumable).
set -e
cd "$(dirname "$0")"
env=${ETUDE_ENV:-work/env}
if [ ! -x "$env/bin/python" ]; then
	python3 -m venv "$env"
	"$env/bin/pip" install --quiet -r requirements.txt
fi
exec "$env/bin/python" -W ignore run.py "$@"
