package main

const maxPythonLine = 200 // ns that the line of Python may add to a call

// languages measures what the tracer adds to the same calls from C and from Fortran, and what the
// line of Python as call site adds to calls from mpi4py.
func languages(b *bench) {
	p := b.preloader("none {\"call_sites\":\"none\"}\ncaller {\"call_sites\":\"caller\"}")
	calls, pairs := b.param("CALLS"), b.number("PAIRS")
	for _, mpi := range b.words("MPIS") {
		programs := map[string]string{
			"C": b.compile("c."+mpi, "mpicc."+mpi, "percall.c"),
			"Fortran": b.compile("f."+mpi, "mpif90."+mpi, "fortran.F90", "-fallow-argument-mismatch",
				"-J"+b.dir),
		}
		of := map[string]runs{}
		for language, program := range programs {
			of[language] = alternately(pairs, []string{"alone", "caller"},
				func(v string) string { return p.start(mpi, v, program, calls) })
		}
		for _, call := range []string{"MPI_Comm_rank", "MPI_Iprobe", "MPI_Allreduce(self)",
			"Irecv+Isend+Waitall"} {
			cost := func(language string) (alone, added float64) {
				r := of[language]
				return median(r.of("alone", call, 0)), median(r.added("caller", "alone", call, 0))
			}
			c, cAdds := cost("C")
			fortran, fortranAdds := cost("Fortran")
			b.row(mpi+" "+call, val("C, ns", c), val("C adds, ns", cAdds), val("Fortran, ns", fortran),
				val("Fortran adds, ns", fortranAdds),
				val("more than C, ns", fortranAdds-cAdds))
		}
	}
	r := alternately(pairs, []string{"alone", "none", "caller"}, func(v string) string {
		return p.start("openmpi", v, "/usr/bin/python3", b.program("python.py"), calls)
	})
	for _, lock := range []string{"held", "released"} { // the interpreter's lock
		b.row("mpi4py, the lock "+lock, val("alone, ns", median(r.of("alone", lock, 0))),
			val("without call sites, ns", median(r.of("none", lock, 0))),
			val("line of Python adds, ns", median(r.added("caller", "none", lock, 0))).atMost(maxPythonLine))
	}
}
