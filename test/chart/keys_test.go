package chart

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/cairn-mpi/cairn/internal/miniotest"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/test/built"
)

// A site is a namespace for releases, with the processes that MinIO's pod of the chart would run
// there: the API server has no kubelet.
type site struct {
	cluster
	release  string // namespace
	operator string // binary
	account  string // kubeconfig of MinIO's service account
	admin    string // directory with the administrator's key
	list     string // file with the namespaces
	endpoint string // of MinIO
	users    *exec.Cmd
}

func newSite(t *testing.T, release string, teams ...string) *site {
	t.Helper()
	s := &site{cluster: newCluster(t), release: release, admin: t.TempDir(), operator: built.Command(t, "cairn-operator")}
	s.account, s.list = filepath.Join(t.TempDir(), "account"), filepath.Join(t.TempDir(), "namespaces")
	s.namespaces(append([]string{release}, teams...)...)
	return s
}

// name returns the name of the release's MinIO and of its objects.
func (s *site) name() string { return "cairn-" + s.release + "-minio" }

// upgrade installs or upgrades a chart; the CRD is there already. TestSecondRelease validates what
// the chart renders, for which helm reads a description of the whole API.
func (s *site) upgrade(chart string, teams ...string) {
	s.Helper()
	arguments := []string{"upgrade", "--install", "cairn-" + s.release, chart, "--namespace", s.release, "--disable-openapi-validation",
		"--set", "minio.enabled=true", "--set", "jobNamespaces={" + strings.Join(teams, ",") + "}"}
	if chart == cairnChart() {
		arguments = append(arguments, "--set", "crd.install=false")
	}
	s.helm(arguments...)
}

func (s *site) uninstall() {
	s.Helper()
	s.helm("uninstall", "cairn-"+s.release, "--namespace", s.release)
}

// data is what a Secret has in it.
func (s *site) data(namespace, name string) map[string][]byte {
	s.Helper()
	secret, err := s.client.CoreV1().Secrets(namespace).Get(s.Context(), name, metav1.GetOptions{})
	require.NoError(s, err)
	return secret.Data
}

// keys are those of the administrator and of teams.
func (s *site) keys(teams ...string) []map[string][]byte {
	s.Helper()
	keys := []map[string][]byte{s.data(s.release, s.name())}
	for _, team := range teams {
		keys = append(keys, s.data(team, "cairn-storage"))
	}
	return keys
}

// login makes a kubeconfig of MinIO's service account, with a token as its pod has one.
func (s *site) login() {
	s.Helper()
	token := strings.TrimSpace(s.kube("-n", s.release, "create", "token", s.name()))
	kubeconfig := map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "c",
		"clusters": []any{map[string]any{"name": "c", "cluster": map[string]any{
			"server": "https://" + strings.TrimPrefix(server.Config.Host, "https://"), "certificate-authority-data": server.Config.CAData}}},
		"users":    []any{map[string]any{"name": "c", "user": map[string]any{"token": token}}},
		"contexts": []any{map[string]any{"name": "c", "context": map[string]any{"cluster": "c", "user": "c"}}},
	}
	raw, err := json.Marshal(kubeconfig)
	require.NoError(s, err)
	require.NoError(s, os.WriteFile(s.account, raw, 0o600))
}

// run returns a command of the operator's binary that runs as MinIO's service account, with the
// chart's arguments.
func (s *site) run(arguments ...string) *exec.Cmd {
	s.Helper()
	command := exec.Command(s.operator, arguments...)
	command.Env = append(os.Environ(), "KUBECONFIG="+s.account)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return command
}

// makeAdminKey is the pod's first init container.
func (s *site) makeAdminKey() {
	s.Helper()
	s.login()
	out, err := s.run("minio-keys", "--namespace", s.release, "--secret", s.name(), "--to", s.admin).CombinedOutput()
	require.NoError(s, err, string(out))
}

// startPod starts MinIO with the administrator's key, and the container beside it.
func (s *site) startPod() {
	s.Helper()
	s.makeAdminKey()
	endpoint, stop, err := miniotest.Start("MINIO_ROOT_USER_FILE="+filepath.Join(s.admin, "accessKey"), "MINIO_ROOT_PASSWORD_FILE="+filepath.Join(s.admin, "secretKey"))
	require.NoError(s, err)
	s.Cleanup(stop)
	s.endpoint = endpoint
	require.NoError(s, store.MakeBucket(context.Background(), "s3://traces", store.S3Options{Endpoint: endpoint, CredentialsDir: s.admin}))
	s.takeList()
	s.startUsers()
	s.Cleanup(s.stopUsers)
}

// startUsers starts the container beside MinIO.
func (s *site) startUsers() {
	s.Helper()
	s.users = s.run("minio-users", "--endpoint", s.endpoint, "--admin", s.admin, "--namespaces", s.list, "--every", "500ms")
	s.users.Stderr = os.Stderr
	require.NoError(s, s.users.Start())
}

func (s *site) stopUsers() {
	_ = s.users.Process.Kill()
	_ = s.users.Wait()
}

// restartPod is another pod on the same volume: what a release that was installed again has.
func (s *site) restartPod() {
	s.Helper()
	s.stopUsers()
	s.makeAdminKey()
	s.startUsers()
}

// takeList writes the list of namespaces where the container reads it, as the kubelet does.
func (s *site) takeList() {
	s.Helper()
	config, err := s.client.CoreV1().ConfigMaps(s.release).Get(s.Context(), s.name()+"-users", metav1.GetOptions{})
	require.NoError(s, err)
	require.NoError(s, os.WriteFile(s.list, []byte(config.Data["namespaces"]), 0o644))
}

// access does what a job of a team does, with the key in its Secret.
func (s *site) access(team string) error {
	s.Helper()
	return s.accessWith(s.data(team, "cairn-storage"), team)
}

func (s *site) accessWith(data map[string][]byte, prefix string) error {
	s.Helper()
	directory := s.TempDir()
	for name, content := range data {
		require.NoError(s, os.WriteFile(filepath.Join(directory, name), content, 0o600))
	}
	opened, err := store.Open("s3://traces/"+prefix, store.S3Options{Endpoint: s.endpoint, CredentialsDir: directory})
	require.NoError(s, err)
	return store.Check(context.Background(), opened)
}

func (s *site) awaitAccess(teams ...string) {
	s.Helper()
	for _, team := range teams {
		require.Eventually(s, func() bool { return s.access(team) == nil }, 2*time.Minute, 50*time.Millisecond, team)
	}
}

func TestKeysOutliveTheRelease(t *testing.T) {
	t.Parallel()
	s := newSite(t, "life", "life-a", "life-b", "life-c")
	s.upgrade(cairnChart(), "life-a", "life-b")
	require.Empty(t, s.data("life-a", "cairn-storage"), "helm makes no key")
	s.startPod()
	s.awaitAccess("life-a", "life-b")
	require.Equal(t, store.AccessDenied, store.ReasonOf(s.accessWith(s.data("life-a", "cairn-storage"), "life-b")))
	require.Equal(t, "cairn-life-a", string(s.data("life-a", "cairn-storage")["accessKey"]))
	keys := s.keys("life-a", "life-b")

	s.upgrade(cairnChart(), "life-a", "life-b")
	s.makeAdminKey()
	require.Equal(t, keys, s.keys("life-a", "life-b"), "after an upgrade")

	s.uninstall()
	require.Equal(t, keys, s.keys("life-a", "life-b"), "while nothing is installed")
	s.upgrade(cairnChart(), "life-a", "life-b")
	s.restartPod()
	require.Equal(t, keys, s.keys("life-a", "life-b"), "after a reinstallation")

	// what GitOps does: the manifest of helm template, applied again and again
	for range 2 {
		manifest := filepath.Join(t.TempDir(), "manifest.yaml")
		require.NoError(t, os.WriteFile(manifest, []byte(template(t, "--name-template", "cairn-"+s.release, "--namespace", s.release, "--set", "minio.enabled=true",
			"--set", "jobNamespaces={life-a,life-b}", "--set", "crd.install=false", "--show-only", "templates/credentials.yaml")), 0o600))
		s.kube("apply", "--server-side", "--force-conflicts", "-f", manifest)
		s.kube("apply", "-f", manifest)
		require.Equal(t, keys, s.keys("life-a", "life-b"), "after helm template and kubectl apply")
	}

	// another namespace, without a restart; then one less
	s.upgrade(cairnChart(), "life-a", "life-b", "life-c")
	s.takeList()
	s.awaitAccess("life-c")
	s.upgrade(cairnChart(), "life-b", "life-c")
	s.takeList()
	require.Eventually(t, func() bool { return store.ReasonOf(s.access("life-a")) == store.AccessDenied }, 2*time.Minute, 50*time.Millisecond,
		"the key of a namespace that is no longer listed is refused within a round")
	require.NoError(t, s.access("life-b"))
	require.NoError(t, s.access("life-c"))
}

// TestMinIOsAccountMayDoLittle: its token gives access to nothing but the Secrets of the chart.
func TestMinIOsAccountMayDoLittle(t *testing.T) {
	t.Parallel()
	s := newSite(t, "least", "least-a")
	s.kube("-n", "least-a", "create", "secret", "generic", "other", "--from-literal=a=b")
	s.upgrade(cairnChart(), "least-a")
	s.login()
	config, err := clientcmd.BuildConfigFromFlags("", s.account)
	require.NoError(t, err)
	account, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	may := func(what authorizationv1.ResourceAttributes) bool {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &what}}
		review, err := account.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		require.NoError(t, err)
		return review.Status.Allowed
	}
	maySecret := func(namespace, verb, name string) bool {
		return may(authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Resource: "secrets", Name: name})
	}
	for _, verb := range []string{"get", "patch"} {
		require.True(t, maySecret("least-a", verb, "cairn-storage"), verb)
		require.True(t, maySecret("least", verb, s.name()), verb)
		require.False(t, maySecret("least-a", verb, "other"), verb)
		require.False(t, maySecret("default", verb, "cairn-storage"), verb)
	}
	for _, verb := range []string{"list", "create", "delete", "watch", "update"} {
		require.False(t, maySecret("least-a", verb, ""), verb)
		require.False(t, maySecret("least", verb, ""), verb)
	}
	require.False(t, may(authorizationv1.ResourceAttributes{Namespace: "least-a", Verb: "create", Resource: "pods"}))
	require.False(t, may(authorizationv1.ResourceAttributes{Namespace: "least-a", Verb: "create", Resource: "serviceaccounts", Subresource: "token"}))
}

// TestUpgradeFromAChartThatRenderedKeys: keys that were in its manifest do not change.
func TestUpgradeFromAChartThatRenderedKeys(t *testing.T) {
	t.Parallel()
	s := newSite(t, "old", "old-a", "old-b")
	before := filepath.Join("testdata", "rendered-keys")
	s.upgrade(before, "old-a", "old-b")
	keys := s.keys("old-a", "old-b")
	require.Len(t, keys[0]["secretKey"], 40)
	s.upgrade(cairnChart(), "old-a", "old-b")
	require.Equal(t, keys, s.keys("old-a", "old-b"), "after the upgrade")
	s.startPod()
	s.awaitAccess("old-a", "old-b")
	s.upgrade(cairnChart(), "old-a")
	s.uninstall()
	s.upgrade(cairnChart(), "old-a", "old-b")
	s.restartPod()
	require.Equal(t, keys, s.keys("old-a", "old-b"), "after further upgrades and a reinstallation")
	s.awaitAccess("old-a", "old-b")
}

// TestSecretsOfOthers are used unchanged. One that would take over another namespace's user is
// refused.
func TestSecretsOfOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t, "own", "own-a", "own-b", "own-c")
	literals := func(access, secret string) []string {
		return []string{"create", "secret", "generic", "cairn-storage", "--from-literal=accessKey=" + access, "--from-literal=secretKey=" + secret}
	}
	s.kube(append([]string{"-n", "own-a"}, literals("cairn-own-a", "chosen-by-somebody")...)...)
	s.kube(append([]string{"-n", "own-b"}, literals("cairn-own-c", "an-attack-on-c")...)...)
	s.upgrade(cairnChart(), "own-a", "own-b", "own-c")
	s.startPod()
	s.awaitAccess("own-a", "own-c")
	require.Equal(t, "chosen-by-somebody", string(s.data("own-a", "cairn-storage")["secretKey"]))
	require.Equal(t, store.AccessDenied, store.ReasonOf(s.access("own-b")))
	require.Equal(t, store.AccessDenied, store.ReasonOf(s.accessWith(s.data("own-b", "cairn-storage"), "own-c")))

	// somebody has deleted a Secret of the chart, and made it again by hand
	s.kube("-n", "own-c", "delete", "secret", "cairn-storage")
	s.kube(append([]string{"-n", "own-c"}, literals("cairn-own-c", "made-again-by-hand")...)...)
	s.awaitAccess("own-c")
	s.upgrade(cairnChart(), "own-a", "own-b", "own-c")
	require.Equal(t, "made-again-by-hand", string(s.data("own-c", "cairn-storage")["secretKey"]))

	s.uninstall()
	require.Equal(t, "chosen-by-somebody", string(s.data("own-a", "cairn-storage")["secretKey"]))
}

// TestSecondRelease: the error about the CRD names its owner and says what to do.
func TestSecondRelease(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.namespaces("first", "second")
	install := func(namespace string) (string, error) {
		return tryHelm(t, c.kubeconfig, "install", "cairn-"+namespace, cairnChart(), "--namespace", namespace, "--dry-run=server")
	}
	out, err := install("first")
	require.Error(t, err)
	require.Contains(t, out, "no helm release owns it")
	require.Contains(t, out, "--set crd.install=false")

	_, mend, found := strings.Cut(out, "kubectl label crd")
	require.True(t, found, out)
	mend = "kubectl label crd" + mend
	mend, _, _ = strings.Cut(mend, "\n")
	script := fmt.Sprintf("kubectl() { %s \"$@\"; }; %s", strings.Join(c.kubectl, " "), mend)
	said, err := exec.Command("bash", "-euc", script).CombinedOutput()
	require.NoError(t, err, "the command of the message: %s: %s", script, said)
	t.Cleanup(func() {
		c.kube("annotate", "crd", "tracedmpijobs.cairn.dev", "meta.helm.sh/release-name-", "meta.helm.sh/release-namespace-")
	})
	out, err = install("first")
	require.NoError(t, err, out)
	out, err = install("second")
	require.Error(t, err)
	require.Contains(t, out, "belongs to release cairn-first in namespace first")
	require.Contains(t, out, "helm upgrade cairn-first")
}
