# The virtual environment .venv and the requirements in it, pinned by hashes. To be sourced, after progress.sh.

# Debian's interpreter by its path: another one may come first on PATH, and headers and module must match.
make_venv() {
  if ! .venv/bin/python -c 'import sys; sys.exit(sys.base_prefix != "/usr")' 2>/dev/null; then
    say "making .venv"
    rm -rf .venv
    /usr/bin/python3 -m venv .venv
  fi
}

# Reads pip's lines: Collecting REQUIREMENT, for dependencies, too, and then Installing collected packages: NAME, NAME.
# $required_pins are NAME==VERSION of the lists' lines. Between two lines of pip's it is given none.
read_pip() {
  local words
  case "$1" in
    Collecting\ *)
      read -r -a words <<< "$1"
      if grep -qxF -e "${words[1]}" <<< "$required_pins"; then collected=$((collected + 1)); fi
      state="Python packages: collecting, $collected of $(wc -l <<< "$required_pins") requirements"
      ;;
    Installing\ collected\ packages:*)
      read -r -a words <<< "${1#*:}"
      installing=${#words[@]}
      touch .venv/headrace-installing
      ;;
    "")
      if [ "$installing" != 0 ]; then state="Python packages: $(count_installed) of $installing installed"; fi
      ;;
  esac
}

# The packages that pip has finished since it began to install.
count_installed() {
  find .venv/lib -name '*.dist-info' -newer .venv/headrace-installing | wc -l
}

# install_requirements LIST…: the last list names what is new, those before it what that must agree with. A file is
# installed only if a list has its hash, also for what a requirement needs in turn; nothing is built from sources, which
# would bring what no list names.
install_requirements() {
  local list=${!#} name stamp digest required_pins collected=0 installing=0
  name=$(basename "$list" .txt)
  stamp=.venv/headrace-$name
  digest=$(cat "$@" | sha256sum)
  [ "$(cat "$stamp" 2>/dev/null)" = "$digest" ] && return
  required_pins=$(sed -n 's/^\([^# ]*==[^ ]*\).*/\1/p' "$@" | sort -u)
  say "installing the Python packages of $name into .venv"
  with_progress read_pip .venv/bin/python -m pip install --disable-pip-version-check \
    --require-hashes --only-binary=:all: "${@/#/--requirement=}"
  echo "$digest" > "$stamp"
}
