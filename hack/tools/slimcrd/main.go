// Command slimcrd writes Cairn's CRD in two forms from the output of controller-gen: as a manifest,
// and as a template of the chart. It removes the descriptions below mpiJobTemplate.spec: they are
// Kubernetes' own and 80% of the file. "kubectl explain" still explains Cairn's own fields.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// chartHead keeps the CRD, and with it all TracedMPIJobs, when the chart is uninstalled. The CRD is
// a template and not in crds/, because Helm never upgrades the files there.
const (
	chartHead = "{{- /* Generated from api/v1alpha1 by hack/tools/generate.sh; do not edit. */ -}}\n{{- if .Values.crd.install }}\n"
	chartTail = "{{- end }}\n"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: slimcrd FROM MANIFEST CHART-TEMPLATE")
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatalf("slimcrd: %v", err)
	}
}

func run(from, manifest, template string) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var crd map[string]any
	if err := yaml.Unmarshal(raw, &crd); err != nil {
		return err
	}
	for _, version := range lookUp(crd, "spec")["versions"].([]any) {
		spec := lookUp(version.(map[string]any), "schema", "openAPIV3Schema", "properties", "spec",
			"properties", "mpiJobTemplate", "properties", "spec")
		dropDescriptions(lookUp(spec, "properties"))
	}
	slim, err := yaml.Marshal(crd)
	if err != nil {
		return err
	}
	if err := write(manifest, append([]byte("# Generated from api/v1alpha1 by hack/tools/generate.sh; do not edit.\n"), slim...)); err != nil {
		return err
	}

	lookUp(crd, "metadata", "annotations")["helm.sh/resource-policy"] = "keep"
	slim, err = yaml.Marshal(crd)
	if err != nil {
		return err
	}
	if bytes.Contains(slim, []byte("{{")) {
		return fmt.Errorf("%s has {{, which Helm would take for a template", from)
	}
	return write(template, append([]byte(chartHead), append(slim, chartTail...)...))
}

// lookUp follows path through nested maps.
func lookUp(in map[string]any, path ...string) map[string]any {
	for _, key := range path {
		next, ok := in[key].(map[string]any)
		if !ok {
			log.Fatalf("slimcrd: the CRD has no %s in %v", key, path)
		}
		in = next
	}
	return in
}

// dropDescriptions removes the description of every schema in properties, at any depth. A property
// with the name "description" is kept.
func dropDescriptions(properties map[string]any) {
	for _, schema := range properties {
		dropFromSchema(schema)
	}
}

func dropFromSchema(schema any) {
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	delete(s, "description")
	if properties, ok := s["properties"].(map[string]any); ok {
		dropDescriptions(properties)
	}
	for _, key := range []string{"items", "additionalProperties"} {
		dropFromSchema(s[key])
	}
}

func write(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
