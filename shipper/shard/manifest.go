package shard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cairn-mpi/cairn/store"
)

// A Manifest describes a shard. It is written after the shard.
type Manifest struct {
	World    string `json:"world"`     // id of the MPI world: equal in all its pods
	LaunchID string `json:"launch_id"` // the id is its hash
	Size     int    `json:"size"`      // ranks of the world; 0: unknown
	Ranks    []Rank `json:"ranks"`     // sorted by rank
	Shard    string `json:"shard"`     // file name of the shard, in the directory of the manifest
	Bytes    int64  `json:"bytes"`     // of the shard; 0: unknown
	// they precede the shard in this order; together they are one trace (trace.Chain)
	Parts    []Part   `json:"parts,omitempty"`
	Final    bool     `json:"final"` // all ranks in it have ended
	Pod      string   `json:"pod"`
	PodUID   string   `json:"pod_uid"`
	Node     string   `json:"node"`
	BootID   string   `json:"boot_id"`
	Problems []string `json:"problems,omitempty"` // damaged or missing data, described for people
	// Generation is one more than that of the manifest that this one has replaced, 1 for the first
	// one of a directory. Writer is a random number of the sidecar that wrote it. Writer and
	// Generation together are unique.
	Generation int64  `json:"generation,omitempty"`
	Writer     string `json:"writer,omitempty"`
}

// Empty reports whether the manifest replaces that of a shard whose ranks are elsewhere now. It is
// kept for good: a deleted manifest could not be distinguished from one that never existed.
func (m *Manifest) Empty() bool { return m.Shard == "" }

// A Part is an object with parts of traces of the pod's processes. It never changes. Shards of
// several worlds, or of one world at several times, may use it.
type Part struct {
	Name  string `json:"name"` // in the pod's directory of parts (PartKey)
	Bytes int64  `json:"bytes"`
}

// A Rank is one rank in a shard.
type Rank struct {
	Rank            int    `json:"rank"`
	Host            string `json:"host"`
	PID             int    `json:"pid"`
	StartRealtimeNS int64  `json:"start_realtime_ns"`
	End             int64  `json:"end"`   // realtime in ns of the last call's end
	Final           bool   `json:"final"` // the process has ended
	EndedEarly      string `json:"ended_early"`
}

// A Pod is a heartbeat: the result of a sidecar's latest scan of its spool.
type Pod struct {
	Pod           string   `json:"pod"`
	PodUID        string   `json:"pod_uid"`
	Namespace     string   `json:"namespace"`
	Node          string   `json:"node"`
	Role          string   `json:"role"`
	BootID        string   `json:"boot_id"`
	Image         string   `json:"image,omitempty"` // of the application, as in the pod's specification
	Sequence      int64    `json:"sequence"`        // grows with every heartbeat, even across restarts
	LiveProcesses int      `json:"live_processes"`  // running MPI processes
	Pending       int      `json:"pending"`         // ended processes that are not uploaded yet
	Worlds        []string `json:"worlds"`
	Final         bool     `json:"final"`      // nothing more will come from this pod
	LostRanks     []string `json:"lost_ranks"` // ranks that could not be uploaded before the pod had to end
	Problems      []string `json:"problems,omitempty"`
	// Unrecorded describes the processes that made calls but are in no shard, one line each: no
	// call was recorded, or the records cannot be used. Refused is the number of further processes
	// that were not traced because the spool had no room for them.
	Unrecorded []string `json:"unrecorded,omitempty"`
	Refused    int      `json:"refused,omitempty"`
	// ReportsWithin is the time within which a pod reports a change of its spool, counted from the
	// change, or from when the store answers again. A pod with it writes nothing while it is idle;
	// one without it writes every few seconds.
	ReportsWithin time.Duration `json:"tells_within_ns,omitempty"`
	// LookedAt is the time of the scan, by the node's clock.
	LookedAt time.Time `json:"looked_at,omitzero"`
}

// Idle reports whether everything that the pod had is in the store.
func (p *Pod) Idle() bool { return p.Final || p.LiveProcesses == 0 && p.Pending == 0 }

// maxDocument is the maximum size of a manifest or heartbeat in bytes: a pod has a few hundred
// ranks.
const maxDocument = 16 << 20

// ErrDamaged is the error for a document that cannot be parsed.
var ErrDamaged = errors.New("damaged")

// Write puts a document under key.
func Write(ctx context.Context, s store.Store, key string, document any) error {
	raw, err := json.Marshal(document)
	if err != nil {
		return err
	}
	return s.Put(ctx, key, bytes.NewReader(raw), int64(len(raw)))
}

// Read reads a document.
func Read(ctx context.Context, s store.Store, key string, document any) error {
	r, err := s.Get(ctx, key)
	if err != nil {
		return err
	}
	defer r.Close()
	raw, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err != nil {
		return err
	}
	if len(raw) > maxDocument {
		return fmt.Errorf("%s: %w: more than %d bytes", s.URL(key), ErrDamaged, maxDocument)
	}
	if err := json.Unmarshal(raw, document); err != nil {
		return fmt.Errorf("%s: %w: %w", s.URL(key), ErrDamaged, err)
	}
	return nil
}
