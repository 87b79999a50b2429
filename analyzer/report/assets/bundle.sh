#!/bin/bash
# Make echarts.min.js, the part of Apache ECharts that the report's page uses, from the versions in
# package-lock.json. The result is committed: building Cairn needs neither npm nor a network.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp package.json package-lock.json entry.js "$work"
(cd "$work" && npm ci --no-fund --no-audit && npm rebuild esbuild &&
  npx esbuild entry.js --bundle --minify --format=iife --legal-comments=none --outfile=bundle.js)
modules=$work/node_modules
version() { node -p "require('$modules/$1/package.json').version"; }
{
  echo "/*! Apache ECharts $(version echarts) (Apache-2.0), zrender $(version zrender) (BSD-3-Clause), tslib $(version tslib) (0BSD): see LICENSES.txt */"
  cat "$work/bundle.js"
} >echarts.min.js
{
  for package in echarts zrender tslib; do
    echo "=== $package $(version "$package") ==="
    for file in LICENSE LICENSE.txt NOTICE; do
      [ ! -f "$modules/$package/$file" ] || cat "$modules/$package/$file"
    done
    echo
  done
} >LICENSES.txt
ls -l echarts.min.js LICENSES.txt
