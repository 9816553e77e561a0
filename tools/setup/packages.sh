# Debian packages by the lists of their names. To be sourced, after progress.sh.

# Reads apt's reports (APT::Status-Fd): dlstatus:NUMBER:PERCENT:TEXT and pmstatus:PACKAGE:PERCENT:TEXT. $packages_wanted
# are to be installed.
read_apt() {
  case "$1" in
    Get:* | Hit:*) state="packages: reading what there is" ;;
    dlstatus:*) state="packages: ${1#dlstatus:*:*:}" ;;
    pmstatus:*:*:Unpacking\ *) unpacked=$((unpacked + 1)) ;;
    pmstatus:*:*:Installed\ *) installed=$((installed + 1)) ;;
  esac
  if [[ $1 == pmstatus:* ]]; then state="packages: $unpacked of $packages_wanted unpacked, $installed set up"; fi
}

# The names in the lists that are not installed.
missing_packages() {
  local wanted
  wanted=$(grep -hv '^#' "$@")
  # shellcheck disable=SC2086
  comm -23 <(printf '%s\n' $wanted | sort) \
           <(dpkg-query -W -f='${db:Status-Status} ${Package}\n' $wanted 2>/dev/null | sed -n 's/^installed //p' | sort)
}

# Installs what the lists name. Fails with a sentence where that is impossible.
install_packages() {
  local missing sudo="" packages_wanted unpacked=0 installed=0
  missing=$(missing_packages "$@" | tr '\n' ' ')
  [ -z "$missing" ] && return
  command -v apt-get >/dev/null || die "this needs Debian 12 (apt-get); missing: $missing"
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "run as root or install sudo; missing packages: $missing"
    sudo=sudo
  fi
  say "installing $missing"
  # Fails where apt only warns, too: it would go on with old lists, and install what has been replaced since.
  if ! with_progress read_apt $sudo apt-get update -q --error-on=any -o Acquire::Retries=3; then
    die "the package lists could not be updated (see above); with old ones, versions with known faults could be installed." \
      "Repair or disable the source that failed (in /etc/apt), or install what is missing yourself, then run this again." \
      "Missing: $missing"
  fi
  # shellcheck disable=SC2086
  packages_wanted=$(apt-get install -s --no-install-recommends $missing | grep -c '^Inst ') || true
  # On a descriptor of its own, which apt closes in dpkg; opened behind sudo, which closes all but the first three.
  # shellcheck disable=SC2086
  with_progress read_apt $sudo env DEBIAN_FRONTEND=noninteractive sh -c 'exec apt-get "$@" 3>&1' apt-get \
    install -y -q --no-install-recommends -o APT::Status-Fd=3 -o Dpkg::Use-Pty=0 $missing
}
