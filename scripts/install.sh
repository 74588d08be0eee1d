#!/bin/sh
# Installs chuhe-worker from a release: reads the release file for this machine, fetches its
# program, checks the SHA-256, and installs it. Releases have the layout of the worker's updates
# (worker/src/update.rs), so an update later replaces this very file.
#
#   [CHUHE_RELEASES=…] [CHUHE_UPDATE_KEY=…] sh install.sh [FOLDER]
#
# CHUHE_RELEASES is the folder of a release, or its address (https://…). By default it is the folder
# of this script, if a release is there, and else the address where the release was published. With
# minisign on this machine, the release's signature is checked as well, by the key of the release
# that this script came with, or by CHUHE_UPDATE_KEY. FOLDER is ~/.local/bin by
# default.
set -eu

fail() { echo "install.sh: $*" >&2; exit 2; }

case "${1-}" in
    -h | --help) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p;}' "$0"; exit ;;
    -*) fail "'$1' is not an option; the argument is the folder for the program" ;;
esac
[ $# -lt 2 ] || fail "'$2' comes after the folder for the program, which is one argument"
folder=${1:-${HOME:+$HOME/.local/bin}}
[ -n "$folder" ] || fail "HOME is not set: name the folder for the program"

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
# A release has its address here.
home=
releases=${CHUHE_RELEASES:-$(dirname "$0")}
[ -n "${CHUHE_RELEASES-}" ] || [ -z "$home" ] || [ -e "$releases/$name.release" ] || releases=$home

case "$releases" in
    # Of the network only TLS is trusted, except for this machine itself.
    https://* | http://127.0.0.1:* | http://localhost:*)
        if command -v curl >/dev/null 2>&1; then
            fetch() { curl --fail --silent --show-error --location --proto-redir =https --output "$2" "$1"; }
        elif command -v wget >/dev/null 2>&1; then
            fetch() { wget --quiet --output-document="$2" "$1"; }
        else
            fail "neither curl nor wget is there"
        fi
        ;;
    http://*) fail "$releases: releases are fetched by https only" ;;
    *) fetch() { cp "${1#file://}" "$2" 2>/dev/null; } ;;
esac
if command -v sha256sum >/dev/null 2>&1; then
    hash() { sha256sum "$1" | cut -d ' ' -f 1; }
else
    hash() { shasum -a 256 "$1" | cut -d ' ' -f 1; }
fi

new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
get() { fetch "$releases/$1" "$new/$2" || fail "$releases/$1 could not be fetched"; }
fetch "$releases/$name.release" "$new/release" ||
    fail "$releases/$name.release could not be fetched; does CHUHE_RELEASES name a release for $system-$machine?"
# A release has its key here.
key=${CHUHE_UPDATE_KEY-}
if [ -n "$key" ] && command -v minisign >/dev/null 2>&1; then
    get "$name.release.minisig" release.minisig
    minisign -V -q -P "$key" -m "$new/release" || fail "the release's signature is not by this key"
elif [ -n "${CHUHE_UPDATE_KEY-}" ]; then
    fail "a key was given, but minisign, which checks signatures, is not there"
elif [ -n "$key" ]; then
    echo "install.sh: the release's signature is not checked, since minisign is not there" >&2
fi
said() { sed -n "s/.*\"$1\": *\"\([0-9a-z._-]*\)\".*/\1/p" "$new/release"; }
version=$(said version)
expected=$(said sha256)
[ "$(said system)" = "$system-$machine" ] && [ -n "$version" ] && [ -n "$expected" ] ||
    fail "$releases/$name.release is no release for $system-$machine"
get "$name-$version" chuhe-worker
found=$(hash "$new/chuhe-worker")
[ "$expected" = "$found" ] || fail "the program has the SHA-256 $found, not $expected; nothing was installed"

chmod 755 "$new/chuhe-worker"
mkdir -p "$folder" 2>/dev/null || fail "$folder is no folder, and could not be made one"
# Copied beside and renamed: a running worker keeps its file until the new one is complete.
[ ! -d "$folder/chuhe-worker" ] || fail "$folder/chuhe-worker is a folder"
# An update that was cut short leaves such a file, which is not executable.
{ rm -f "$folder/.chuhe-worker.new" && cp "$new/chuhe-worker" "$folder/.chuhe-worker.new"; } 2>/dev/null || fail "$folder cannot be written to"
mv "$folder/.chuhe-worker.new" "$folder/chuhe-worker"
echo "installed $folder/chuhe-worker $version; next: $folder/chuhe-worker configure"
