#!/bin/sh
# Trains Etude again: makes a Python environment once, then runs run.py (resumable).
set -e
cd "$(dirname "$0")"
env=${ETUDE_ENV:-work/env}
if [ ! -x "$env/bin/python" ]; then
	python3 -m venv "$env"
	"$env/bin/pip" install --quiet -r requirements.txt
fi
# Memory that is freed stays with the process: a step makes and drops large tensors, and fresh pages would cost more than the sums.
export MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=100000000000 MALLOC_TOP_PAD_=268435456 GLIBC_TUNABLES=glibc.malloc.hugetlb=1
exec "$env/bin/python" -W ignore run.py "$@"
