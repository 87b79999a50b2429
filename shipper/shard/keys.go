package shard

import (
	"path"
	"strings"
)

// Keys below a job's prefix.
const (
	Root         = "shards/"
	ManifestFile = "manifest.json"
	PodFile      = "pod.json"
	Extension    = ".cairn"

	partsDirectory = "parts"
	partExtension  = ".part"
)

// PodKey is where the heartbeat of a pod lies.
func PodKey(podUID string) string { return path.Join(Root, podUID, PodFile) }

// Directory is where the shard of a pod's ranks of one world lies.
func Directory(podUID, directory string) string { return path.Join(Root, podUID, directory) + "/" }

// PartKey is where an object with parts of a pod lies.
func PartKey(podUID, name string) string {
	return path.Join(Root, podUID, partsDirectory, path.Base(name)+partExtension)
}

// PartOf is the name of the object with parts that lies at a key.
func PartOf(key string) string { return strings.TrimSuffix(path.Base(key), partExtension) }

// Parts is where the objects with parts of a pod lie.
func Parts(podUID string) string { return path.Join(Root, podUID, partsDirectory) + "/" }

// PodOf is the pod of a directory of shards.
func PodOf(directory string) string { return path.Base(path.Dir(path.Clean(directory))) }

// A Kind is what a key below Root names.
type Kind uint8

// Kinds of keys.
const (
	Unknown Kind = iota
	KindPod
	KindManifest
	KindShard
	KindPart
)

// KindOf tells what a key names.
func KindOf(key string) Kind {
	rest, ok := strings.CutPrefix(key, Root)
	if !ok {
		return Unknown
	}
	switch parts := strings.Split(rest, "/"); {
	case len(parts) == 2 && parts[1] == PodFile:
		return KindPod
	case len(parts) == 3 && parts[2] == ManifestFile:
		return KindManifest
	case len(parts) == 3 && parts[1] == partsDirectory && strings.HasSuffix(parts[2], partExtension):
		return KindPart
	case len(parts) == 3 && strings.HasSuffix(parts[2], Extension):
		return KindShard
	}
	return Unknown
}
