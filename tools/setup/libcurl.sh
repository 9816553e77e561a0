# libcurl for the library for far files: HTTP alone, with OpenSSL, as an archive. To be sourced, after packages.sh.
#
# Debian's own archive needs libraries of which there are no archives, so its source package is built, with its security
# updates. It is kept in ~/.cache/headrace-libcurl/VERSION-KEY, where KEY is of how it was built; delete the folder to
# build what Debian has now.

libcurl_options=(
  --disable-shared --enable-static --with-pic --with-openssl --without-ca-bundle --without-ca-path
  --enable-threaded-resolver --disable-verbose --disable-manual
  --disable-alt-svc --disable-cookies --disable-doh --disable-hsts --disable-mime --disable-netrc --disable-ntlm
  --disable-unix-sockets
  --disable-dict --disable-file --disable-ftp --disable-gopher --disable-imap --disable-ldap --disable-ldaps
  --disable-mqtt --disable-pop3 --disable-rtsp --disable-smb --disable-smtp --disable-telnet --disable-tftp
  --without-brotli --without-libidn2 --without-libpsl --without-librtmp --without-libssh2 --without-nghttp2
  --without-zlib --without-zstd
)
libcurl_flags="-O2 -ffunction-sections -fdata-sections -fvisibility=hidden"

# The same sources of packages as apt's (in ETC), of source packages: in FOLDER, as apt reads them.
write_source_lists() {
  local folder=$1 etc=${2:-/etc/apt} file
  mkdir -p "$folder/parts"
  for file in "$etc/sources.list" "$etc"/sources.list.d/*.list; do
    [ -f "$file" ] || continue
    sed -n 's/^[[:space:]]*deb[[:space:]]/deb-src /p' "$file" > "$folder/parts/$(basename "$file" .list).list"
  done
  for file in "$etc"/sources.list.d/*.sources; do
    [ -f "$file" ] || continue
    sed 's/^Types:.*/Types: deb-src/' "$file" > "$folder/parts/$(basename "$file")"
  done
}

# apt with lists and packages in FOLDER, which leaves the machine's as they are and needs no root.
source_apt() {
  local folder=$1
  shift
  mkdir -p "$folder"/{lists,cache}/partial
  apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$folder/parts" \
    -o Dir::State::Lists="$folder/lists" -o Dir::Cache="$folder/cache" -o APT::Sandbox::User="$(id -un)" \
    -o APT::Get::List-Cleanup=0 -o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}

fetch_curl_source() {
  local folder=$1
  write_source_lists "$folder"
  # Others' sources of packages may have no source packages.
  source_apt "$folder" update >"$folder/update.log" 2>&1 || true
  (cd "$folder" && source_apt "$folder" source --download-only curl >fetch.log 2>&1) \
    || { cat "$folder/update.log" "$folder/fetch.log" >&2; return 1; }
  dpkg-source --no-check -x "$folder"/curl_*.dsc "$folder/source" >"$folder/unpack.log" 2>&1
}

# Builds in FOLDER, and leaves include/ and libcurl.a in KEPT.
make_libcurl() {
  local folder=$1 kept=$2
  mkdir -p "$folder/build"
  (
    cd "$folder/build"
    CFLAGS=$libcurl_flags "$folder/source/configure" "${libcurl_options[@]}" && make -C lib -j2
  ) >"$folder/build.log" 2>&1 || { tail -n 40 "$folder/build.log" >&2; return 1; }
  mkdir -p "$kept.new/include/curl"
  cp "$folder"/source/include/curl/*.h "$kept.new/include/curl/"
  cp "$folder/build/lib/.libs/libcurl.a" "$folder/source/COPYING" "$folder/source/debian/copyright" "$kept.new/"
  rm -rf "$kept"
  mv "$kept.new" "$kept"
}

# Prints the folder of a libcurl that is kept, or of a new one.
install_libcurl() {
  local cache=${HEADRACE_LIBCURL:-$HOME/.cache/headrace-libcurl} key folder version kept
  key=$(printf '%s\n' "${libcurl_options[@]}" "$libcurl_flags" "$(gcc -dumpfullversion)" | sha256sum | cut -c-12)
  mkdir -p "$cache"
  kept=$(find "$cache" -mindepth 1 -maxdepth 1 -name "*-$key" | sort -V | tail -n 1)
  if [ -n "$kept" ]; then
    printf '%s\n' "$kept"
    return
  fi
  say "building libcurl, which takes two minutes"
  folder=$(mktemp -d)
  fetch_curl_source "$folder" || {
    rm -rf "$folder"
    die "curl's source package could not be had from Debian (see above): the sources in /etc/apt must be reachable"
  }
  version=$(sed -n 's/^Version: //p' "$folder"/curl_*.dsc | head -n 1)
  kept=$cache/$version-$key
  make_libcurl "$folder" "$kept" || { rm -rf "$folder"; die "libcurl could not be built (see above)"; }
  rm -rf "$folder"
  printf '%s\n' "$kept"
}
