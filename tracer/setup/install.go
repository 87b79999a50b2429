package setup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// InstallOptions says what to copy where.
type InstallOptions struct {
	To        string // the directory to fill
	Binary    string // the cairn binary; "" is the one that runs
	Libraries string // directory of the tracer's libraries; "" is looked for beside the binary
}

// Install copies the binary to To/cairn and the libraries to To/lib and makes
// To/spool, where anybody may create files and only their owner may remove
// them. It may be repeated.
func Install(o InstallOptions) error {
	if o.Binary == "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		if self, err = filepath.EvalSymlinks(self); err != nil {
			return err
		}
		o.Binary = self
	}
	if o.Libraries == "" {
		found, err := FindLibraries(o.Binary)
		if err != nil {
			return err
		}
		o.Libraries = found
	}
	libraries, err := fs.Glob(os.DirFS(o.Libraries), "libcairn-*.so")
	if err != nil || len(libraries) == 0 {
		return fmt.Errorf("there is no libcairn-*.so in %s", o.Libraries)
	}
	for _, dir := range []string{o.To, filepath.Join(o.To, "lib")} {
		if err := makeReadable(dir); err != nil {
			return err
		}
	}
	if err := copyFile(o.Binary, filepath.Join(o.To, "cairn"), 0o755); err != nil {
		return err
	}
	for _, library := range libraries {
		if err := copyFile(filepath.Join(o.Libraries, library), filepath.Join(o.To, "lib", library), 0o644); err != nil {
			return err
		}
	}
	for _, dir := range []string{"spool", filepath.Join("spool", "symbols")} {
		if err := makeShared(filepath.Join(o.To, dir)); err != nil {
			return err
		}
	}
	// a subPath mount of a missing file keeps a container from starting, so the
	// file that loads nothing is there before the probe writes the real one
	preload := filepath.Join(o.To, PreloadFile)
	if _, err := os.Lstat(preload); errors.Is(err, os.ErrNotExist) {
		return writeFile(preload, nil, 0o644)
	}
	return nil
}

// makeReadable makes a directory that all users can enter, whatever the umask;
// one that is there, such as a pod's volume, stays as it is.
func makeReadable(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.Chmod(dir, 0o755)
}

// makeShared makes a directory like /tmp. The umask takes bits from Mkdir's
// mode, and some systems take the sticky bit, so it is set and looked at.
func makeShared(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	const mode = os.ModeSticky | 0o777
	chmodErr := os.Chmod(dir, mode)
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if got := info.Mode() & (os.ModeSticky | os.ModePerm); got != mode {
		return fmt.Errorf("%s has mode %v, needs %v: %w", dir, got, mode, errors.Join(chmodErr, os.ErrPermission))
	}
	return nil
}

// FindLibraries looks for the tracer's libraries where `make build` and the image have them.
func FindLibraries(binary string) (string, error) {
	beside := filepath.Dir(binary)
	var tried []string
	for _, dir := range []string{filepath.Join(beside, "..", "lib"), filepath.Join(beside, "..", "lib", "cairn"), filepath.Join(beside, "lib")} {
		if _, err := os.Stat(filepath.Join(dir, CoreLibrary)); err == nil {
			return filepath.Clean(dir), nil
		}
		tried = append(tried, filepath.Clean(dir))
	}
	return "", fmt.Errorf("the tracer's libraries are not beside this binary (looked in %s)", strings.Join(tried, ", "))
}

// copyFile copies with exactly this mode; the destination appears complete or not at all.
func copyFile(from, to string, mode os.FileMode) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	return replace(to, mode, func(w io.Writer) error {
		_, err := io.Copy(w, source)
		return err
	})
}

func writeFile(to string, content []byte, mode os.FileMode) error {
	return replace(to, mode, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

func replace(to string, mode os.FileMode, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(to), ".cairn-")
	if err != nil {
		return err
	}
	err = write(tmp)
	if err == nil {
		err = tmp.Chmod(mode)
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), to)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}
