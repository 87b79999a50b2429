// Command chartrole writes the operator's role in two forms from the output of controller-gen: as a
// manifest, and as a template of the chart.
package main

import (
	"log"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

const chartHead = `{{- /* Generated from the markers in controllers/ by hack/tools/generate.sh; do not edit. */ -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ include "cairn.fullname" . }}-operator
  labels: {{- include "cairn.labels" . | nindent 4 }}
`

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: chartrole FROM MANIFEST CHART-TEMPLATE")
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatalf("chartrole: %v", err)
	}
}

func run(from, manifest, template string) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var role struct {
		Rules []any `json:"rules"`
	}
	if err := yaml.Unmarshal(raw, &role); err != nil {
		return err
	}
	rules, err := yaml.Marshal(role)
	if err != nil {
		return err
	}
	head := "# Generated from the markers in controllers/ by hack/tools/generate.sh; do not edit.\n"
	if err := write(manifest, append([]byte(head), raw...)); err != nil {
		return err
	}
	return write(template, append([]byte(chartHead), rules...))
}

func write(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
