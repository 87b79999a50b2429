package storage

import (
	"os"
)

// WriteWhole writes a file completely or not at all: until it is complete it has a temporary name.
// Special files are written directly.
func WriteWhole(path string, write func(*os.File) error) error {
	name := path + ".partial"
	if about, err := os.Stat(path); err == nil && !about.Mode().IsRegular() {
		name = path
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	err = write(file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	switch {
	case name == path:
		return err
	case err == nil:
		err = os.Rename(name, path)
	}
	if err != nil {
		os.Remove(name)
	}
	return err
}
