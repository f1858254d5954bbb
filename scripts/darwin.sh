#!/bin/sh
# Type-checks and links the whole program for Apple silicon from a machine without a Mac.
# Fyne needs two symbols from its own C code there; a copy of the module outside
# the repository gets them as Go, and -tags ci swaps GLFW for the test driver. The
# result never opens a window: it proves that every darwin line of ours compiles.
set -eu
cd "$(dirname "$0")/.."
work=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/clefbar/darwin
fyne=$work/fyne
from=$(go list -m -f '{{.Dir}}' fyne.io/fyne/v2)

if [ "$(cat "$work/from" 2>/dev/null)" != "$from" ]; then
	rm -rf "$work"
	mkdir -p "$work"
	cp -R "$from" "$fyne"
	chmod -R u+w "$fyne"
	printf '//go:build darwin && !cgo\n\npackage widget\n\nfunc isScrollerPageOnTap() bool { return false }\n' \
		>"$fyne/internal/widget/scroller_behavior_nocgo.go"
	printf '//go:build darwin && !cgo\n\npackage app\n\nimport "fyne.io/fyne/v2"\n\nfunc DefaultVariant() fyne.ThemeVariant { return 0 }\n' \
		>"$fyne/internal/app/theme_nocgo.go"
	printf '%s' "$from" >"$work/from"
fi
cp go.mod "$work/darwin.mod"
cp go.sum "$work/darwin.sum"
go mod edit -replace "fyne.io/fyne/v2=$fyne" "$work/darwin.mod"

export GOFLAGS="-modfile=$work/darwin.mod" GOOS=darwin GOARCH=arm64 CGO_ENABLED=0
go vet -tags ci ./...
go build -tags ci -o "$work/clefbar" ./app
file=$(od -An -tx1 -N4 "$work/clefbar" | tr -d ' ')
[ "$file" = cffaedfe ] || { echo "not a Mach-O file: $file" >&2; exit 1; }
echo "darwin/arm64: vetted and linked"
