// Schemagen writes docs/report.schema.json, the JSON schema of report.json, from the Go types and their comments.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/analyses"
	"github.com/cairn-mpi/cairn/analyzer/report"
)

func main() {
	out := flag.String("o", "", "file to write")
	source := flag.String("source", "..", "directory of package analyzer")
	flag.Parse()
	comments, err := readComments(*source)
	if err == nil {
		err = write(*out, comments)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "schemagen:", err)
		os.Exit(1)
	}
}

func write(file string, comments map[string]string) error {
	g := generator{comments: comments, definitions: map[string]any{}, types: map[string]reflect.Type{}}
	root := g.root()
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Cairn report"
	root["$defs"] = g.definitions
	root["properties"].(map[string]any)["schema_version"] = map[string]any{"const": report.SchemaVersion}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(root); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// A generator converts types to schemas; structs become definitions.
type generator struct {
	comments    map[string]string // "analyses/path.Path.Stretches" → comment
	definitions map[string]any
	types       map[string]reflect.Type // by definition
}

// root returns the schema of report.json: its own keys, and those of all analyses, which are
// optional.
func (g *generator) root() map[string]any {
	root := g.object(report.Frame())
	properties := root["properties"].(map[string]any)
	for _, a := range analyses.All() {
		findings := g.object(reflect.TypeOf(a.New()).Elem())
		for key, schema := range findings["properties"].(map[string]any) {
			if key == "notes" {
				continue // those of all analyses together
			}
			if properties[key] != nil {
				panic("schemagen: two analyses have the key " + key)
			}
			properties[key] = schema
		}
	}
	return root
}

func (g *generator) schema(t reflect.Type) map[string]any {
	switch t.Kind() {
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Pointer:
		return map[string]any{"anyOf": []any{g.schema(t.Elem()), map[string]any{"type": "null"}}}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return map[string]any{"type": "string", "contentEncoding": "base64"}
		}
		return map[string]any{"type": "array", "items": g.schema(t.Elem())}
	case reflect.Struct:
		name := t.String()
		if of := g.types[name]; of != nil && of != t {
			panic("schemagen: two types are called " + name)
		}
		if g.definitions[name] == nil {
			g.types[name] = t
			g.definitions[name] = true // a type may contain itself
			g.definitions[name] = g.object(t)
		}
		return map[string]any{"$ref": "#/$defs/" + name}
	}
	panic("schemagen: no schema for " + t.String())
}

func (g *generator) object(t reflect.Type) map[string]any {
	properties := map[string]any{}
	required := []string{}
	for field := range fields(t) {
		name, rest, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		s := g.schema(field.Type)
		if field.Tag.Get("schema") == "nullable" { // a list that may be unknown
			s = map[string]any{"anyOf": []any{s, map[string]any{"type": "null"}}}
		}
		if c := g.comments[named(t)+"."+field.Name]; c != "" {
			s["description"] = c
		}
		properties[name] = s
		if rest != "omitempty" && rest != "omitzero" {
			required = append(required, name)
		}
	}
	slices.Sort(required)
	s := map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	if c := g.comments[named(t)]; c != "" {
		s["description"] = c
	}
	return s
}

// named returns the key of a type in comments: packages may have the same name.
func named(t reflect.Type) string {
	_, within, _ := strings.Cut(t.PkgPath(), "/analyzer/")
	return within + "." + t.Name()
}

func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if f := t.Field(i); f.Anonymous {
				for inner := range fields(f.Type) {
					if !yield(inner) {
						return
					}
				}
			} else if !yield(f) {
				return
			}
		}
	}
}

// readComments collects the comments of struct types and their fields below a directory.
func readComments(source string) (map[string]string, error) {
	comments := map[string]string{}
	err := filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		directory, err := filepath.Rel(source, filepath.Dir(path))
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			declaration, ok := n.(*ast.GenDecl)
			if !ok {
				return true
			}
			for _, spec := range declaration.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok {
					collect(comments, directory+"."+s.Name.Name, declaration.Doc, s)
				}
			}
			return false
		})
		return nil
	})
	return comments, err
}

func collect(comments map[string]string, name string, doc *ast.CommentGroup, s *ast.TypeSpec) {
	body, ok := s.Type.(*ast.StructType)
	if !ok {
		return
	}
	comments[name] = oneLine(doc)
	for _, field := range body.Fields.List {
		text := oneLine(field.Doc)
		if text == "" {
			text = oneLine(field.Comment)
		}
		for _, identifier := range field.Names {
			comments[name+"."+identifier.Name] = text
		}
	}
}

func oneLine(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
