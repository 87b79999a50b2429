package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// tracerDisk runs a program twice at the same time, with its record buffers on a disk and on a
// tmpfs, while the disk gets more than it can write.
func tracerDisk(b *bench) {
	disk := get(os.MkdirTemp(cmp.Or(b.param("FOLDER"), os.TempDir()), "cairn-bench-"))
	defer os.RemoveAll(disk)
	tmpfs := get(os.MkdirTemp("/dev/shm", "cairn-bench-"))
	defer os.RemoveAll(tmpfs)
	for _, mpi := range b.words("MPIS") {
		program := b.compile("disk."+mpi, "mpicc."+mpi, "disk.c")
		stop := b.saturate(filepath.Join(disk, "other"))
		var said [2]string
		var running sync.WaitGroup
		for i, variant := range []string{"disk", "tmpfs"} {
			root := filepath.Join(disk, mpi+"."+variant)
			must(os.CopyFS(filepath.Join(root, "lib"), os.DirFS(filepath.Join(b.folder, "lib"))))
			must(os.Mkdir(filepath.Join(root, "spool"), 0o755))
			if variant == "tmpfs" {
				must(os.Symlink(tmpfs, filepath.Join(root, "spool", spool.TmpfsLink)))
			}
			must(os.WriteFile(filepath.Join(root, "config.json"), []byte(`{"enabled":true}`), 0o644))
			end := b.compressSpool(filepath.Join(root, "spool"))
			running.Go(func() {
				defer end()
				preload := "LD_PRELOAD=" + filepath.Join(root, "lib", "libcairn-"+mpi+".so")
				said[i], _ = b.try(mpirun(mpi, 1, "env", preload, program, b.param("SECONDS"))...)
			})
		}
		running.Wait()
		stop()
		for i, variant := range []string{"disk", "tmpfs"} {
			n := numbered(said[i])["asleep"]
			if len(n) != 3 {
				fail("%s", strings.TrimSpace(said[i]))
			}
			b.row(mpi+" "+variant, val("asleep, ms", n[0]/1e6), val("longest, ms", n[1]/1e6), val("above 1 ms", n[2]))
		}
	}
}

// saturate writes to a file until the returned function is called.
func (b *bench) saturate(path string) (stop func()) {
	const piece = 1 << 20
	size := int64(b.number("GIB")) << 30
	file := get(os.Create(path))
	stopped, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		zeros := make([]byte, piece)
		for at := int64(0); ; at = (at + piece) % size {
			select {
			case <-stopped:
				return
			default:
			}
			if _, err := file.WriteAt(zeros, at); err != nil {
				size = max(at, piece) // the disk is full
			}
		}
	}()
	return func() {
		close(stopped)
		<-done
		must(os.Remove(path))
		must(file.Close())
	}
}
