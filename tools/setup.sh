#!/usr/bin/env bash
# Sets up what `make demo` or `make test` needs; nothing to do takes a moment.
#
# usage: tools/setup.sh demo|test
#
# 1. Debian packages of tools/packages.txt that are missing, with apt.
# 2. A virtual environment in .venv, with a Python of 3.11 or newer ($PYTHON, if set, is asked first).
# 3. The packages of the lock file, each checked against its hash, and this project, editable.
#
# What was done is remembered in .venv/set-up-for-demo and -test; a change of the locks, of pyproject.toml, of this
# script or of the folder does it anew.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly OLDEST="3.11"
readonly VENV=".venv"
readonly PACKAGES="tools/packages.txt"

say() { printf 'setup: %s\n' "$*"; }

fail() {
  printf 'setup: %s\n' "$*" >&2
  exit 1
}

packages_for() { awk -v what="$1" '$1 == what { print $2 }' "$PACKAGES"; }

missing_of() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || printf '%s ' "$package"
  done
}

# Runs a command quietly; shows what it printed only if it fails.
quietly() {
  local printed
  if ! printed=$("$@" 2>&1 </dev/null); then
    printf '%s\n' "$printed" | tail -n 20 >&2
    return 1
  fi
}

as_root() {
  if ((EUID == 0)); then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo -n env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

may_be_root() {
  ((EUID == 0)) && return
  command -v sudo >/dev/null || return 1
  sudo -n true 2>/dev/null && return
  [[ -t 0 ]] && sudo -v # a person sits here: let them type their password
}

# Installs Debian packages. Returns 1, with the reason in $why_not, if that is not possible.
why_not=""
install() {
  local lists=(/var/lib/apt/lists/*_Packages*)
  if ! command -v apt-get >/dev/null; then
    why_not="there is no apt-get here"
  elif ! may_be_root; then
    why_not="this needs root or sudo"
  else
    say "installing Debian packages: $*"
    if [[ ! -e ${lists[0]} ]] || ! quietly as_root apt-get install -y --no-install-recommends "$@" 2>/dev/null; then
      quietly as_root apt-get update || true # an unreachable third-party list is no reason to stop
      quietly as_root apt-get install -y --no-install-recommends "$@" || why_not="apt-get failed"
    fi
  fi
  [[ -z $why_not ]]
}

able() { # has this Python the right version, and can it make an environment with pip?
  "$1" -c "import sys, venv, ensurepip; sys.exit(sys.version_info < (${OLDEST/./, }))" >/dev/null 2>&1
}

find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3 /usr/bin/python3 python3.14 python3.13 python3.12 python3.11; do
    if able "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

stamp_of() {
  local lock=$1
  { pwd -P && cat pyproject.toml requirements-build.lock "$lock" "$PACKAGES" tools/setup.sh; } | sha256sum
}

install_system() {
  local wanted missing
  mapfile -t wanted < <(packages_for demo; [[ $1 == test ]] && packages_for test)
  command -v dpkg-query >/dev/null || {
    say "not a Debian system: install yourself what stands for ${wanted[*]}"
    return
  }
  read -ra missing <<<"$(missing_of "${wanted[@]}")"
  ((${#missing[@]})) || return 0
  install "${missing[@]}" && return
  [[ $1 == demo ]] || fail "missing: ${missing[*]} ($why_not); run: sudo apt-get install ${missing[*]}"
  say "going on without ${missing[*]} ($why_not): the simulated room is used instead of a sound card"
}

make_environment() {
  local python venv
  read -ra venv <<<"$(packages_for python | tr '\n' ' ')"
  python=$(find_python) || {
    install "${venv[@]}" || fail "no Python >= $OLDEST with venv ($why_not); run: sudo apt-get install ${venv[*]}"
    python=$(find_python) || fail "no Python >= $OLDEST here; install one and name it: PYTHON=/path/to/python3 make demo"
  }
  [[ -x $VENV/bin/python ]] && able "$VENV/bin/python" && [[ $(cat "$VENV/folder" 2>/dev/null) == "$(pwd -P)" ]] && return
  say "making $VENV with $("$python" --version)"
  "$python" -m venv --clear "$VENV"
  pwd -P >"$VENV/folder"
}

# Installs with pip; each step is quiet unless it fails.
pip_install() {
  quietly "$VENV/bin/python" -m pip install --no-input --disable-pip-version-check --quiet "$@" ||
    fail "pip could not install what is needed; see above (is a package index reachable?)"
}

install_python() {
  say "installing Python packages ($1)"
  pip_install --require-hashes -r requirements-build.lock
  pip_install --require-hashes --no-build-isolation -r "$1"
  pip_install --no-deps --no-build-isolation --editable .
}

main() {
  local what=${1:-} lock stamp
  case $what in
    demo) lock=requirements.lock ;;
    test) lock=requirements-test.lock ;;
    *) fail "usage: tools/setup.sh demo|test" ;;
  esac
  stamp=$(stamp_of "$lock")
  [[ $(cat "$VENV/set-up-for-$what" 2>/dev/null) == "$stamp" ]] && return
  install_system "$what"
  make_environment
  install_python "$lock"
  printf '%s\n' "$stamp" >"$VENV/set-up-for-$what"
  say "ready"
}

main "$@"
