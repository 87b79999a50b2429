// Schemagen writes docs/report.schema.json, the JSON schema of report.json, from Go types and their
// comments. It runs in the folder of package report.
//
// The schema of a type is that of invopop/jsonschema, with two differences that match
// encoding/json: pointers may be null, and unsigned numbers are not negative.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/cairn-mpi/cairn/analyzer/analyses"
	"github.com/cairn-mpi/cairn/analyzer/report"
)

func main() {
	out := flag.String("o", "", "file to write")
	flag.Parse()
	if err := write(*out); err != nil {
		fmt.Fprintln(os.Stderr, "schemagen:", err)
		os.Exit(1)
	}
}

func write(file string) error {
	g := generator{types: map[string]reflect.Type{}}
	g.reflector = jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, Namer: g.name, Mapper: number}
	folder := reflect.TypeFor[report.Frame]().PkgPath()
	if err := g.reflector.AddGoComments(folder, "..", jsonschema.WithFullComment()); err != nil {
		return err
	}
	for name, comment := range g.reflector.CommentMap {
		g.reflector.CommentMap[name] = strings.Join(strings.Fields(comment), " ")
	}
	text, err := json.Marshal(g.root())
	if err != nil {
		return err
	}
	// with sorted keys, and without the escapes for HTML
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		return err
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// A generator converts types to schemas; structs become definitions.
type generator struct {
	reflector jsonschema.Reflector
	outermost reflect.Type            // the type whose keys go to the root; it is no definition
	types     map[string]reflect.Type // by definition
}

// name returns the name of a type's definition; "" for types that have none.
func (g *generator) name(t reflect.Type) string {
	if t.Name() == "" || t == g.outermost {
		return ""
	}
	name := t.String()
	if of := g.types[name]; of != nil && of != t {
		panic("schemagen: two types are called " + name)
	}
	g.types[name] = t
	return name
}

// number returns the schema of unsigned numbers, nil for other types.
func number(t reflect.Type) *jsonschema.Schema {
	switch t.Kind() {
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &jsonschema.Schema{Type: "integer", Minimum: "0"}
	}
	return nil
}

// root returns the schema of report.json: the keys of Frame and of the findings of all analyses,
// some of which may be missing.
func (g *generator) root() *jsonschema.Schema {
	root := g.schema(reflect.TypeFor[report.Frame]())
	root.Title = "Cairn report"
	root.Properties.Set("schema_version", &jsonschema.Schema{Const: report.SchemaVersion})
	for _, a := range analyses.All() {
		findings := g.schema(reflect.TypeOf(a.New()).Elem())
		maps.Copy(root.Definitions, findings.Definitions)
		for key, schema := range findings.Properties.FromOldest() {
			if key == "notes" {
				continue // added once, for all analyses
			}
			if _, there := root.Properties.Set(key, schema); there {
				panic("schemagen: two analyses have the key " + key)
			}
		}
	}
	return root
}

// schema returns the schema of a struct with the definitions of the types that it refers to.
func (g *generator) schema(t reflect.Type) *jsonschema.Schema {
	g.outermost = t
	s := g.reflector.ReflectFromType(t)
	complete(s, t)
	for name, definition := range s.Definitions {
		complete(definition, g.types[name])
	}
	return s
}

// complete makes pointers of a struct nullable, and sorts the required keys.
func complete(s *jsonschema.Schema, t reflect.Type) {
	slices.Sort(s.Required)
	if t.Kind() != reflect.Struct {
		return
	}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if property, there := s.Properties.Get(name); there && field.Type.Kind() == reflect.Pointer {
			s.Properties.Set(name, orNull(property))
		}
	}
}

func orNull(s *jsonschema.Schema) *jsonschema.Schema {
	inner := *s
	inner.Description = ""
	return &jsonschema.Schema{Description: s.Description, AnyOf: []*jsonschema.Schema{&inner, {Type: "null"}}}
}
