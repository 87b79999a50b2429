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

// PodKey returns the key of the heartbeat of a pod.
func PodKey(podUID string) string { return path.Join(Root, podUID, PodFile) }

// Directory returns the prefix of the shard of a pod's ranks of one world.
func Directory(podUID, directory string) string { return path.Join(Root, podUID, directory) + "/" }

// PartKey returns the key of an object with parts of a pod.
func PartKey(podUID, name string) string {
	return path.Join(Root, podUID, partsDirectory, path.Base(name)+partExtension)
}

// PartOf returns the name of the object with parts that has a key.
func PartOf(key string) string { return strings.TrimSuffix(path.Base(key), partExtension) }

// Parts returns the prefix of the objects with parts of a pod.
func Parts(podUID string) string { return path.Join(Root, podUID, partsDirectory) + "/" }

// PodOf returns the pod of a directory of shards.
func PodOf(directory string) string { return path.Base(path.Dir(path.Clean(directory))) }

// A Kind is the kind of object that a key below Root names.
type Kind uint8

// Kinds of keys.
const (
	Unknown Kind = iota
	KindPod
	KindManifest
	KindShard
	KindPart
)

// KindOf returns the kind of object that a key names.
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
