package setup

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
)

// remoteFileSystems are the types of file systems that are served by other machines. Access to one
// may take minutes, or forever if the server is down. The same is true of FUSE, whose types all
// begin with "fuse" and are served by a program.
var remoteFileSystems = map[string]bool{
	"9p": true, "afs": true, "autofs": true, "beegfs": true, "ceph": true, "cifs": true, "coda": true, "davfs": true,
	"dvs": true, "gfs2": true, "glusterfs": true, "gpfs": true, "kafs": true, "lustre": true, "ncpfs": true, "nfs": true,
	"nfs4": true, "ocfs2": true, "orangefs": true, "panfs": true, "pvfs2": true, "quobyte": true, "smb3": true,
	"smbfs": true, "wekafs": true,
}

// mounts has the type of the file system at each mount point.
type mounts map[string]string

// readMounts reads the mount points without accessing any of them. It returns nil without /proc.
func readMounts() mounts {
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	defer file.Close()
	return parseMounts(file)
}

// parseMounts reads lines of the form "36 35 98:0 / /home rw,noatime master:1 - nfs4
// server:/home rw" (proc(5)).
func parseMounts(r io.Reader) mounts {
	m := mounts{}
	for lines := bufio.NewScanner(r); lines.Scan(); {
		before, after, ok := strings.Cut(lines.Text(), " - ")
		mountPoint, types := strings.Fields(before), strings.Fields(after)
		if ok && len(mountPoint) >= 5 && len(types) > 0 {
			// a later mount at the same place hides an earlier one
			m[unescape(mountPoint[4])] = types[0]
		}
	}
	return m
}

// unescape turns \040 into a space, and so on.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if code, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(code))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// remote reports whether a path is on a file system that is served by another machine or a
// program, and its mount point and type. The file system of the root is never remote, since it has
// the image itself.
func (m mounts) remote(path string) (point, fileSystem string, yes bool) {
	for mountPoint := path; mountPoint != "/" && mountPoint != "."; {
		if kind, ok := m[mountPoint]; ok {
			return mountPoint, kind, remoteFileSystems[kind] || strings.HasPrefix(kind, "fuse")
		}
		mountPoint = mountPoint[:max(strings.LastIndexByte(mountPoint, '/'), 0)]
		if mountPoint == "" {
			break
		}
	}
	return "", "", false
}
