#!/bin/bash
# Makes the archive that others build against: make_package.sh OUT.tar VERSION_HEADER LIBRARIES… -- HEADERS… --
# FILES…
# It holds include/, lib/ and share/, with paths relative to itself, so it works wherever it is unpacked.
set -euo pipefail
out=$1 version_header=$2
shift 2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/include "$root"/lib "$root"/share/cmake/headrace "$root"/share/pkgconfig

while [ "$1" != -- ]; do
  install -m 755 "$1" "$root/lib/"
  shift
done
shift
while [ "$1" != -- ]; do
  install -m 644 "$1" "$root/include/"
  shift
done
shift

version=$(sed -n 's/.*kVersion = "\(.*\)".*/\1/p' "$version_header")
for file in "$@"; do
  name=$(basename "$file" .in)
  case "$name" in
    *.pc) folder=share/pkgconfig ;;
    *) folder=share/cmake/headrace ;;
  esac
  sed "s/@VERSION@/$version/" "$file" > "$root/$folder/$name"
  chmod 644 "$root/$folder/$name"
done
# The same files give the same archive.
tar --create --file="$out" --sort=name --owner=0 --group=0 --numeric-owner --mtime=2020-01-01 --format=ustar \
  -C "$root" include lib share
