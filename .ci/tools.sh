# What the scripts beside this one have in common. It is sourced at the top of the
# repository, and not run.

# TOOLS is where they keep what they install and build, hidden from git and from go.
TOOLS="$PWD/.ci/tools"

step() { printf '\n=== %s (%ss)\n' "$*" "$SECONDS"; }

# tool NAME PACKAGE@VERSION installs a tool of Go, unless it is there in that version.
tool() {
	if ! go version -m "$TOOLS/$1" 2>/dev/null | grep -q "^	mod	.*	${2#*@}	"; then
		GOBIN="$TOOLS" go install "$2"
	fi
}

# module MODULE@VERSION prints the folder of a module's source.
module() { go mod download -json "$1" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p'; }

# build_gridhook FILE builds the program in this folder as it is released.
build_gridhook() { CGO_ENABLED=0 go build -trimpath -mod=readonly -o "$1" ./cmd/gridhook; }

# debian PACKAGE... installs packages of Debian, for whom can.
debian() {
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		echo "$*: not there, and only root on Debian can install it here" >&2
		return 1
	fi
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -qqy --no-install-recommends "$@" >/dev/null
}

# need_node wants npm, and node 20 or later.
need_node() {
	command -v npm >/dev/null || debian nodejs npm
	local version
	version="$(node --version)"
	if [ "$(cut -d. -f1 <<<"${version#v}")" -lt 20 ]; then
		echo "node 20 or later is needed, and this is $version: install a newer one" >&2
		return 1
	fi
}

# need_python wants Python 3.9 or later.
need_python() {
	command -v python3 >/dev/null || debian python3
	if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))'; then
		echo "Python 3.9 or later is needed, and this is $(python3 --version): install a newer one" >&2
		return 1
	fi
}

# fetch FOLDER TARGET copies a folder of npm's and fetches what its lock file pins,
# unless it is there.
fetch() {
	mkdir -p "$2"
	cp -R "$1/." "$2/"
	if ! cmp -s "$1/package-lock.json" "$2/fetched.json"; then
		(cd "$2" && npm ci --no-audit --no-fund --loglevel=error)
		cp "$1/package-lock.json" "$2/fetched.json"
	fi
}
