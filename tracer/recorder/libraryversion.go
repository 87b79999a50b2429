package recorder

import "regexp"

// What MPI_Get_library_version says is free text, with how the library was built: only the number is kept.
var libraryVersion = regexp.MustCompile(`(?:Open MPI v|MPICH Version:\s*|Intel\(R\) MPI Library |MVAPICH2? Version\s*:?\s*)([0-9][^\s,]*)`)

// version is the number of the MPI library's release, "4.1.4"; the whole text where it has no known form.
func (p *Process) version() string {
	if m := libraryVersion.FindStringSubmatch(p.LibraryVersion); m != nil {
		return m[1]
	}
	return p.LibraryVersion
}
