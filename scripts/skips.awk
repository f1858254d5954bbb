# Reads what go test -json wrote and prints why tests were skipped: the last line that each has written.
function field(name,   at, rest) {
	at = index($0, "\"" name "\":\"")
	if (!at) return ""
	rest = substr($0, at + length(name) + 4)
	match(rest, /([^"\\]|\\.)*/)
	return substr(rest, 1, RLENGTH)
}
{ key = field("Package") "/" field("Test") }
/"Action":"output"/ {
	said = field("Output")
	if (said ~ /\.go:[0-9]+: /) { sub(/^ *[^ ]*\.go:[0-9]+: /, "", said); sub(/\\n$/, "", said); last[key] = said }
}
/"Action":"skip"/ && /"Test":/ { count[last[key]]++ }
END { for (why in count) printf "%4d  %s\n", count[why], why }
