package accounts

// A Kind is what a rank does on the path.
type Kind string

// Kinds of activities on the path.
const (
	Computation    Kind = "computation"    // outside MPI
	Communication  Kind = "communication"  // inside MPI, and not waiting for another rank
	InputOutput    Kind = "io"             // MPI's file operations
	Initialization Kind = "initialization" // MPI_Init
	Finalization   Kind = "finalization"   // MPI_Finalize
	Launch         Kind = "launch"         // the rank had not called MPI_Init yet, but others had
	Untraced       Kind = "untraced"       // the trace has no call of the rank there
)
