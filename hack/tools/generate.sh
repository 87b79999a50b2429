#!/bin/sh
# Generates the names of analyses in api/v1alpha1, and from that package and the RBAC markers in
# controllers/: the deep copies, the CRD (as manifest and as chart template) and the operator's
# role (likewise). `git diff` is empty after it if everything was up to date.
set -eu
cd "$(dirname "$0")/../.."
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT

(cd hack/tools && go build -o "$bin/" sigs.k8s.io/controller-tools/cmd/controller-gen ./slimcrd ./chartrole)

go run ./api/gen -o api/v1alpha1/zz_generated.analyses.go
"$bin/controller-gen" object paths=./api/...
"$bin/controller-gen" crd:generateEmbeddedObjectMeta=true paths=./api/... output:crd:dir="$bin/crd"
"$bin/slimcrd" "$bin/crd/cairn.dev_tracedmpijobs.yaml" \
	config/crd/cairn.dev_tracedmpijobs.yaml charts/cairn/templates/crd.yaml
"$bin/controller-gen" rbac:roleName=cairn-operator paths=./controllers/... output:rbac:dir="$bin/rbac"
"$bin/chartrole" "$bin/rbac/role.yaml" config/rbac/role.yaml charts/cairn/templates/role.yaml
