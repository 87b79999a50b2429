// Command gen writes the generated parts of the files that depend on the rules of package
// architecture.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/cairn-mpi/cairn/internal/architecture"
	"github.com/cairn-mpi/cairn/internal/repository"
)

func main() {
	log.SetFlags(0)
	for _, text := range architecture.Texts {
		path := filepath.Join(repository.Root(), text.File)
		content, err := os.ReadFile(path)
		if err != nil {
			log.Fatal(err)
		}
		written, err := text.Replace(string(content))
		if err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(written), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
