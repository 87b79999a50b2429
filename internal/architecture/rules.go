package architecture

// Module is the prefix of all packages of the repository.
const Module = "github.com/cairn-mpi/cairn/"

// A Room is a set of folders, including everything below them, with the same import rules.
type Room struct {
	Name    string
	Folders []string // relative to the repository; a folder belongs to the room with the longest matching path
	About   string   // what the room contains, for the page
	May     []string // names of the rooms that it may import, besides itself
	Outside Outside  // what it may import from other modules
}

// Outside is what a room may import from other modules.
type Outside int

const (
	Libraries    Outside = iota // any module except the following ones
	StandardOnly                // only Go's standard library
	Kubernetes                  // Kubernetes' modules and the object storage's client, too
	Storage                     // the object storage's client, too
)

// restricted are the modules that only some rooms may import, as prefixes of import paths.
var restricted = []struct {
	prefixes []string
	may      func(*Room) bool
}{
	{kubernetesModules, func(r *Room) bool { return r.Outside == Kubernetes }},
	{[]string{"github.com/minio/"}, func(r *Room) bool { return r.Outside == Kubernetes || r.Outside == Storage }},
	{[]string{"testing", "github.com/stretchr/", "github.com/google/go-cmp"}, func(r *Room) bool { return r.Name == testSupport }},
}

var kubernetesModules = []string{"k8s.io/", "sigs.k8s.io/", "github.com/kubeflow/"}

// Rooms are all rooms, in the order of their dependencies. A new entry in a list May also needs an
// arrow in the drawing.
var Rooms = []Room{
	{
		Name: "messages", Folders: []string{"api/messages"}, Outside: StandardOnly,
		About: "what the operator and the commands in its pods exchange: JSON and exit codes",
	},
	{
		Name: "mpi", Folders: []string{"mpi"}, Outside: StandardOnly,
		About: "the table of MPI's functions and constants, and what a call means",
	},
	{
		Name: "settings", Folders: []string{"tracer/settings"}, Outside: StandardOnly,
		About: "settings of the tracer: config.json and flags",
	},
	{
		Name: "trace", Folders: []string{"trace"}, May: []string{"mpi"},
		About: "the file: its model, writer and reader",
	},
	{
		Name: "small", Folders: []string{"internal"}, May: []string{"trace"},
		About: "small packages that several rooms use",
	},
	{
		Name: "store", Folders: []string{"store"}, Outside: Storage,
		About: "objects by path: a folder or a bucket",
	},
	{
		Name: "tracer", Folders: []string{"tracer", "internal/tracerflags"}, May: []string{"messages", "mpi", "settings", "trace", "small"},
		About: "what records: shim (C, in the rank), compressor and recorder (outside of it), probe",
	},
	{
		Name: "merger", Folders: []string{"merger"}, May: []string{"mpi", "trace"},
		About: "merges many traces into one",
	},
	{
		Name: "shards", Folders: []string{"shipper/shard"}, May: []string{"store"},
		About: "layout of a job's shards in the store",
	},
	{
		Name: "shipper", Folders: []string{"shipper"}, May: []string{"trace", "small", "store", "tracer", "merger", "shards"},
		About: "the sidecar: makes shards of a spool and uploads them",
	},
	{
		Name: "collect", Folders: []string{"merger/collect"}, May: []string{"messages", "trace", "small", "store", "merger", "shards"},
		About: "the merge Job: makes traces of a job's shards, one per run",
	},
	{
		Name: "simulate", Folders: []string{"internal/simulate"},
		May:   []string{"mpi", "trace", "small", "store", "tracer", "merger", "shards"},
		About: "traces of programs that never ran",
	},
	{
		Name: "analyzer", Folders: []string{"analyzer"}, May: []string{"mpi", "trace", "small"},
		About: "analyses, report, exports",
	},
	{
		Name: "replayer", Folders: []string{"replayer"}, May: []string{"mpi", "analyzer"},
		About: "executes recorded calls again (C), and its generator",
	},
	{
		Name: "operator", Folders: []string{"api/v1alpha1", "controllers", "cmd/cairn-operator", "internal/minioadmin"}, Outside: Kubernetes,
		May:   []string{"messages", "settings", "small"},
		About: "TracedMPIJob: its type, its controllers, what they add to pods",
	},
	{
		Name: "commands", Folders: []string{"cmd/cairn", "cmd/cairn-probe"},
		May: []string{
			"messages", "settings", "trace", "small", "store", "tracer", "merger", "shards", "shipper", "collect", "simulate",
			"analyzer",
		},
		About: "the command line",
	},
	{
		Name: "workshop", Folders: []string{"apps", "bench", "hack", "api/gen", "internal/plant", "internal/architecture", "internal/repository", "test/network"},
		May:   []string{"trace", "tracer", "merger", "simulate", "analyzer"},
		About: "benchmarks, real programs, planted problems, a network, checks of the repository",
	},
	{
		Name: testSupport, Outside: Kubernetes,
		Folders: []string{
			"test", "internal/apiserver", "internal/miniotest", "internal/seektest",
			"internal/tracetest", "analyzer/analyzertest", "cmd/cairn/internal/cairntest", "shipper/spooltest", "tracer/recorder/internal/recordtest", "trace/internal/limits",
			"tracer/shim/shimtest",
		},
		May:   []string{"mpi", "trace", "tracer", "merger", "simulate", "analyzer", "commands", "workshop"},
		About: "support for tests; only tests import it",
	},
}

// testSupport is the room that only tests may import.
const testSupport = "tests"

// A Binary must not link packages of some rooms and modules, not even indirectly.
type Binary struct {
	Folder    string
	NoRooms   []string
	NoModules []string
}

// Binaries are the commands that are released.
var Binaries = []Binary{
	{"cmd/cairn", []string{"operator", testSupport}, kubernetesModules},
	{"cmd/cairn-probe", []string{"operator", "merger", "analyzer", testSupport}, kubernetesModules},
	{"cmd/cairn-operator", []string{"mpi", "trace", "tracer", "merger", "shipper", "analyzer", testSupport}, nil},
}
