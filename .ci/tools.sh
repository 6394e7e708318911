# Functions of the scripts beside this one. They source it at the top of the repository.

# TOOLS is the folder of installed and built tools, hidden from git and from go.
TOOLS="$PWD/.ci/tools"

# HELM is the version of helm that the scripts install, and KUBERNETES the version that they
# render the chart for.
HELM=v3.22.0
KUBERNETES=v1.33.0

# need_helm installs helm as $TOOLS/helm.
need_helm() { tool helm "helm.sh/helm/v3/cmd/helm@$HELM"; }

step() { printf '\n=== %s (%ss)\n' "$*" "$SECONDS"; }

# one_at_a_time COMMAND... runs a command that no other script may run meanwhile.
one_at_a_time() {
	mkdir -p "$TOOLS"
	flock "$TOOLS/lock" "$@"
}

# tool NAME PACKAGE@VERSION installs a Go tool, unless that version is installed.
tool() {
	if ! go version -m "$TOOLS/$1" 2>/dev/null | grep -q "^	mod	.*	${2#*@}	"; then
		GOBIN="$TOOLS" one_at_a_time go install "$2"
	fi
}

# module MODULE@VERSION prints the folder of a module's source.
module() { go mod download -json "$1" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p'; }

# build_gridhook FILE builds the program in this folder as it is released.
build_gridhook() { CGO_ENABLED=0 go build -trimpath -mod=readonly -o "$1" ./cmd/gridhook; }

# debian PACKAGE... installs Debian packages, which needs root.
debian() {
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		echo "$* not found: only root on Debian can install it here" >&2
		return 1
	fi
	one_at_a_time apt-get update -qq
	DEBIAN_FRONTEND=noninteractive one_at_a_time apt-get install -qqy --no-install-recommends "$@" >/dev/null
}

# need_node checks that there is npm, and Node 20 or later.
need_node() {
	command -v npm >/dev/null || debian nodejs npm
	local version
	version="$(node --version)"
	if [ "$(cut -d. -f1 <<<"${version#v}")" -lt 20 ]; then
		echo "Node $version is too old: install 20 or later" >&2
		return 1
	fi
}

# need_python checks that there is Python 3.9 or later.
need_python() {
	command -v python3 >/dev/null || debian python3
	if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))'; then
		echo "$(python3 --version) is too old: install 3.9 or later" >&2
		return 1
	fi
}

# fetch FOLDER TARGET copies an npm project and installs the packages of its lock file,
# unless they are installed.
fetch() {
	mkdir -p "$2"
	cp -R "$1/." "$2/"
	if ! cmp -s "$1/package-lock.json" "$2/fetched.json"; then
		(cd "$2" && npm ci --no-audit --no-fund --loglevel=error)
		cp "$1/package-lock.json" "$2/fetched.json"
	fi
}
