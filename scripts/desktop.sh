#!/bin/sh
# Runs the real program in a virtual display with a session bus and lets the desktop tests type, click and look.
# Pictures go into the folder that CLEFBAR_PICTURES names (make pictures: docs/).
set -eu
cd "$(dirname "$0")/.."
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/clefbar
mkdir -p "$cache"
[ -x bin/clefbar ] || go build -o bin/clefbar ./app
CLEFBAR_BIN=$PWD/bin/clefbar
export CLEFBAR_BIN
go test -c -tags desktop -o "$cache/desktop.test" ./app
cd app
dbus-run-session -- xvfb-run -a -s "-screen 0 2560x1600x24" \
	go tool test2json -t "$cache/desktop.test" -test.v=test2json -test.run 'TestFirstDecision|TestShelfOnScreen|TestShelfPictures' -test.timeout 5m >"$cache/desktop.json" || {
	grep -o '"Output":".*' "$cache/desktop.json" | sed 's/^"Output":"//; s/"}$//; s/\\n$//' >&2
	exit 1
}
