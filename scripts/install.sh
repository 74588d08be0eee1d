#!/bin/sh
# Installs chuhe-worker from a release: fetches the archive for this machine, holds it against its SHA-256, and puts the
# program where programs are.
#
#   CHUHE_RELEASES=https://… scripts/install.sh [FOLDER]
#
# There is no release yet; until there is, build from source as README says. FOLDER is ~/.local/bin unless given.
set -eu

fail() { echo "install.sh: $*" >&2; exit 2; }

releases=${CHUHE_RELEASES:-}
[ -n "$releases" ] || fail "no release is there yet: build from source (README), or say in CHUHE_RELEASES where releases are"
folder=${1:-$HOME/.local/bin}

case "$(uname -s)" in
    Linux) system=linux ;;
    Darwin) system=macos ;;
    *) fail "there are no releases for $(uname -s)" ;;
esac
case "$(uname -m)" in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "there are no releases for $(uname -m)" ;;
esac
name=chuhe-worker-$system-$machine

if command -v curl >/dev/null 2>&1; then
    fetch() { curl --fail --silent --show-error --location --proto '=https,file' --output "$2" "$1"; }
elif command -v wget >/dev/null 2>&1; then
    fetch() { wget --quiet --output-document="$2" "$1"; }
else
    fail "neither curl nor wget is there"
fi
if command -v sha256sum >/dev/null 2>&1; then
    hash() { sha256sum "$1" | cut -d ' ' -f 1; }
else
    hash() { shasum -a 256 "$1" | cut -d ' ' -f 1; }
fi

new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
fetch "$releases/$name" "$new/chuhe-worker" || fail "$releases/$name could not be fetched"
fetch "$releases/$name.sha256" "$new/sha256" || fail "$releases/$name.sha256 could not be fetched"
expected=$(cut -d ' ' -f 1 "$new/sha256")
found=$(hash "$new/chuhe-worker")
[ "$expected" = "$found" ] || fail "what came has the SHA-256 $found, not $expected; nothing was installed"

chmod 755 "$new/chuhe-worker"
mkdir -p "$folder"
# Beside first, so that a worker that runs keeps its file until the new one is whole.
cp "$new/chuhe-worker" "$folder/.chuhe-worker.new"
mv "$folder/.chuhe-worker.new" "$folder/chuhe-worker"
echo "installed $folder/chuhe-worker; next: $folder/chuhe-worker configure"
