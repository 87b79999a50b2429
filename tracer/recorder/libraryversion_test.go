package recorder

import "testing"

func TestLibraryVersion(t *testing.T) {
	for text, want := range map[string]string{
		"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022": "4.1.4",
		"MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022\n":             "4.0.2",
		"Intel(R) MPI Library 2021.11 for Linux* OS\n":                                           "2021.11",
		"4.0.2":   "4.0.2",
		"no idea": "no idea",
	} {
		p := Process{LibraryVersion: text}
		if got := p.version(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
