package shipper

import (
	"os"
	"strings"
)

// Identity describes the pod that the spool belongs to.
type Identity struct {
	Pod, PodUID, Namespace, Node, Role string
	BootID                             string
	Image                              string // of the application
}

// IdentityFromEnv reads the variables that the operator sets from the downward API, and the boot id
// of the machine. Outside a pod, the host's name replaces the pod's.
func IdentityFromEnv(getenv func(string) string) Identity {
	id := Identity{
		Pod:       getenv("CAIRN_POD_NAME"),
		PodUID:    getenv("CAIRN_POD_UID"),
		Namespace: getenv("CAIRN_POD_NAMESPACE"),
		Node:      getenv("CAIRN_NODE_NAME"),
		Role:      getenv("CAIRN_POD_ROLE"),
		Image:     getenv("CAIRN_APPLICATION_IMAGE"),
	}
	if id.Pod == "" {
		id.Pod, _ = os.Hostname()
	}
	if id.PodUID == "" {
		id.PodUID = id.Pod
	}
	if boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		id.BootID = strings.TrimSpace(string(boot))
	}
	return id
}
