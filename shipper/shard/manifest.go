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

// A Manifest says what is in a shard. It is written after the shard.
type Manifest struct {
	World    string   `json:"world"`           // id of the MPI world: equal in all its pods
	LaunchID string   `json:"launch_id"`       // what the id is a hash of
	Size     int      `json:"size"`            // ranks of the world; 0: not known
	Ranks    []Rank   `json:"ranks"`           // sorted by rank
	Shard    string   `json:"shard"`           // file name of the shard, beside the manifest
	Bytes    int64    `json:"bytes"`           // of the shard; 0: not known
	Parts    []Part   `json:"parts,omitempty"` // what stands before the shard, in this order: together they are one trace (trace.Chain)
	Final    bool     `json:"final"`           // all ranks in it have ended
	Pod      string   `json:"pod"`
	PodUID   string   `json:"pod_uid"`
	Node     string   `json:"node"`
	BootID   string   `json:"boot_id"`
	Problems []string `json:"problems,omitempty"` // what is damaged or missing, for people
	// Generation is one more than that of the manifest that this one has replaced, 1 for the first of a directory, and Writer
	// the sidecar that wrote it, a number that it drew when it began. Of one writer and generation there is one manifest.
	Generation int64  `json:"generation,omitempty"`
	Writer     string `json:"writer,omitempty"`
}

// Empty reports whether the manifest stands where a shard was whose ranks are elsewhere now. It stays for good: one that was
// deleted could not be told from one that was never there.
func (m *Manifest) Empty() bool { return m.Shard == "" }

// A Part is an object with parts of traces of the pod's processes. It never changes, and shards of several worlds, or of
// one world at several times, may have it.
type Part struct {
	Name  string `json:"name"` // below the pod's directory of parts (PartKey)
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

// A Pod is a heartbeat: what a sidecar saw when it last looked at its spool.
type Pod struct {
	Pod           string   `json:"pod"`
	PodUID        string   `json:"pod_uid"`
	Namespace     string   `json:"namespace"`
	Node          string   `json:"node"`
	Role          string   `json:"role"`
	BootID        string   `json:"boot_id"`
	Image         string   `json:"image,omitempty"` // of the application, as the pod names it
	Sequence      int64    `json:"sequence"`        // grows with every heartbeat, across restarts too
	LiveProcesses int      `json:"live_processes"`  // MPI processes that run
	Pending       int      `json:"pending"`         // ended processes that are not uploaded yet
	Worlds        []string `json:"worlds"`
	Final         bool     `json:"final"`      // nothing more will come from this pod
	LostRanks     []string `json:"lost_ranks"` // ranks that could not be uploaded before the pod had to end
	Problems      []string `json:"problems,omitempty"`
	// Unrecorded are processes of which nothing is in any shard although they made calls, a line each: none was recorded, or
	// what was cannot be used. Refused is how many more were not traced at all: they found no room in the spool.
	Unrecorded []string `json:"unrecorded,omitempty"`
	Refused    int      `json:"refused,omitempty"`
	// TellsWithin is how long after a change of its spool a pod has written that, or after the store answers again. A pod
	// that has it says nothing as long as it is idle; one without it writes every few seconds.
	TellsWithin time.Duration `json:"tells_within_ns,omitempty"`
	// LookedAt is when the sidecar looked at its spool, by the node's clock.
	LookedAt time.Time `json:"looked_at,omitzero"`
}

// Idle reports whether everything that the pod had is in the store.
func (p *Pod) Idle() bool { return p.Final || p.LiveProcesses == 0 && p.Pending == 0 }

// maxDocument bounds a manifest or heartbeat: a few hundred ranks a pod.
const maxDocument = 16 << 20

// ErrDamaged is the error for a document that cannot be read.
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
