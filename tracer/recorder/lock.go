package recorder

// A process holds an fcntl write lock on the file "lock" of its directory. The kernel gives it back when the process is
// gone, whatever became of it, and tells everybody on the node, also in another PID namespace. It is a lock of the
// process (not of the open file), so that children do not keep it. The shim takes it (spool.c).

// Alive reports whether the process of a process directory still lives (Directory.Alive).
func Alive(dir string) (bool, error) {
	d, err := openPath(dir)
	if err != nil {
		return false, err
	}
	defer d.Close()
	return d.Alive()
}
