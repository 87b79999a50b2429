#!/usr/bin/env bash
# Check whether everything that is generated or formatted is up to date, and how commits are
# described. Names what is not, and the command that repairs it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
bad=0
complain() { printf 'verify: %s\n' "$*" >&2; bad=1; }

unformatted=$(git ls-files '*.go' | xargs gofmt -l)
[ -z "$unformatted" ] || complain "not formatted (gofmt -w): $unformatted"

# Commits since this is a rule; of a shallow clone, those that it has. Lines such as Signed-off-by say
# no reason.
LC_ALL=C.UTF-8 # characters, not bytes
commits=$(git log --no-merges --since-as-filter=2026-11-27T00:00Z --format='%h%n%s%n%b%x1e')
while IFS= read -r -d $'\x1e' commit; do
  { read -r hash; read -r subject; body=$(cat); } <<<"${commit#$'\n'}"
  [ ${#subject} -le 72 ] || complain "the subject of commit $hash has ${#subject} characters, more than 72 (git commit --amend)"
  grep -vqE '^([A-Z][A-Za-z-]+: .*|[[:punct:][:space:]]*)$' <<<"$body" ||
    complain "commit $hash has no body that says why (git commit --amend): $subject"
done <<<"$commits"

hack/lint.sh || complain "lint (make lint)"

# generate into a copy, so that a difference does not change the tree that is being verified
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy" 2>/dev/null || true
(cd "$copy" && go generate ./...) || complain "go generate"
while IFS= read -r -d '' file; do
  cmp -s "$file" "$copy/$file" || complain "out of date (make generate): $file"
done < <(git ls-files -z)

go mod tidy -diff >/dev/null || complain "go.mod is not tidy (go mod tidy)"
if [ -x "$BIN/helm" ]; then "$BIN/helm" lint --quiet charts/cairn || complain "helm lint charts/cairn"; fi
[ $bad = 0 ] || exit 1
say "verify: formatted, linted, generated files up to date"
