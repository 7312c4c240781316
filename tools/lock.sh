#!/usr/bin/env bash
# Renews the lock files from pyproject.toml. Needs a package index; needs no environment of this project.
#
# usage: tools/lock.sh [PACKAGE ...]     without names everything is renewed, else only these packages
#
# Read the differences before you commit them: word marks, echo and recognition were measured on the versions that
# pyproject.toml pins with ==.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

uv=$(command -v uv || true)
if [[ -z $uv ]]; then
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check uv
  uv=$folder/venv/bin/uv
fi

upgrade=(--upgrade)
(($#)) && upgrade=("${@/#/--upgrade-package=}")

# No index and no path of this machine goes into a lock; the versions serve every Python from 3.11 on.
compile() {
  "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
    --no-annotate "${upgrade[@]}" "$@"
}

printf 'setuptools>=77\n' | compile - -o requirements-build.lock
compile pyproject.toml -o requirements.lock
compile --extra test --constraint requirements.lock pyproject.toml -o requirements-test.lock
wc -l requirements*.lock
