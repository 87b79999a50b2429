package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/cairn-mpi/cairn/internal/apiserver"
	"github.com/cairn-mpi/cairn/internal/repository"
)

var server *apiserver.Server

func TestMain(m *testing.M) { apiserver.Main(m, &server) }

func cairnChart() string { return filepath.Join(repository.Root(), "charts", "cairn") }

// helmBinary is where `make test` puts helm.
func helmBinary(t *testing.T) string {
	t.Helper()
	cache := os.Getenv("CAIRN_CACHE")
	if cache == "" {
		home, err := os.UserHomeDir()
		require.NoError(t, err)
		cache = filepath.Join(home, ".cache", "cairn")
	}
	binary := filepath.Join(cache, "bin", "helm")
	require.FileExists(t, binary, "run `hack/install.sh all` (make test does)")
	return binary
}

// tryHelm runs helm with nothing of this machine's configuration.
func tryHelm(t *testing.T, kubeconfig string, arguments ...string) (string, error) {
	t.Helper()
	home := t.TempDir()
	command := exec.Command(helmBinary(t), arguments...)
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "KUBECONFIG=" + kubeconfig}
	out, err := command.CombinedOutput()
	return string(out), err
}

// template renders the chart without a cluster, once for all tests.
func template(t *testing.T, arguments ...string) string {
	t.Helper()
	key := strings.Join(arguments, " ")
	if out, is := templates.Load(key); is {
		return out.(string)
	}
	out, err := tryTemplate(t, arguments...)
	require.NoError(t, err, out)
	templates.Store(key, out)
	return out
}

var templates sync.Map // by arguments

func tryTemplate(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	return tryHelm(t, "/nowhere", append([]string{"template", cairnChart(), "--name-template", "cairn",
		"--namespace", "cairn-system", "--kube-version", "v1.36.0"}, arguments...)...)
}

// cluster is the API server, for helm and for commands of ours.
type cluster struct {
	*testing.T
	kubeconfig string // an administrator's
	kubectl    []string
	client     *kubernetes.Clientset // for what is read many times
}

func newCluster(t *testing.T) cluster {
	t.Helper()
	raw, err := server.Kubeconfig()
	require.NoError(t, err)
	c := cluster{T: t, kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	require.NoError(t, os.WriteFile(c.kubeconfig, raw, 0o600))
	path, prefix, err := server.Kubectl()
	require.NoError(t, err)
	c.kubectl = append([]string{path}, prefix...)
	c.client, err = kubernetes.NewForConfig(server.Config)
	require.NoError(t, err)
	return c
}

// helm runs helm against the cluster.
func (c cluster) helm(arguments ...string) string {
	c.Helper()
	out, err := tryHelm(c.T, c.kubeconfig, arguments...)
	require.NoError(c, err, "helm %s: %s", strings.Join(arguments, " "), out)
	return out
}

func (c cluster) kube(arguments ...string) string {
	c.Helper()
	out, err := exec.Command(c.kubectl[0], append(c.kubectl[1:], arguments...)...).CombinedOutput()
	require.NoError(c, err, "kubectl %s: %s", strings.Join(arguments, " "), out)
	return string(out)
}

// namespaces makes namespaces of a test's own and returns their names.
func (c cluster) namespaces(names ...string) {
	c.Helper()
	for _, name := range names {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		_, err := c.client.CoreV1().Namespaces().Create(c.Context(), namespace, metav1.CreateOptions{})
		require.NoError(c, err)
	}
}
