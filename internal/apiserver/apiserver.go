// Package apiserver starts a real kube-apiserver and etcd for tests, with the CRDs of Cairn and
// mpi-operator installed. There is no kubelet, scheduler or controller: tests must do what these
// would do.
package apiserver

import (
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/cairn-mpi/cairn/internal/repository"
)

// Server is a running API server.
type Server struct {
	// Config has an administrator's credentials.
	Config *rest.Config

	environment *envtest.Environment
}

// Start starts an API server. A missing binary is an error, not a reason to skip a test.
func Start() (*Server, error) {
	assets, err := assetsDirectory()
	if err != nil {
		return nil, err
	}
	mpiOperator, err := moduleDirectory("github.com/kubeflow/mpi-operator")
	if err != nil {
		return nil, err
	}
	environment := &envtest.Environment{
		BinaryAssetsDirectory: assets,
		ErrorIfCRDPathMissing: true,
		// for a machine with other load
		ControlPlaneStartTimeout: 2 * time.Minute,
		ControlPlaneStopTimeout:  2 * time.Minute,
		CRDDirectoryPaths: []string{
			filepath.Join(repository.Root(), "config", "crd"),
			filepath.Join(mpiOperator, "manifests", "base", "kubeflow.org_mpijobs.yaml"),
		},
	}
	// Tests list few objects, right after they changed them: etcd answers sooner than a cache,
	// which waits until it has seen the change.
	environment.ControlPlane.GetAPIServer().Configure().
		Set("watch-cache", "false").
		Set("enable-priority-and-fairness", "false")
	// a heap of some hundred megabytes costs less than collecting it
	restore := setenv("GOGC", "400")
	config, err := environment.Start()
	restore()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting the API server of %s: %w", assets, err), environment.Stop())
	}
	config.QPS = -1 // no limit
	return &Server{Config: config, environment: environment}, nil
}

// setenv sets an environment variable for processes that this one starts, until restore is called.
func setenv(name, value string) (restore func()) {
	old, was := os.LookupEnv(name)
	os.Setenv(name, value)
	return func() {
		if was {
			os.Setenv(name, old)
		} else {
			os.Unsetenv(name)
		}
	}
}

// Stop stops the API server and etcd.
func (s *Server) Stop() error {
	return s.environment.Stop()
}

// Main is a package's TestMain: it starts a server, runs the tests and stops the server.
func Main(m *testing.M, server **Server) {
	ctrl.SetLogger(logr.Discard())
	var err error
	if *server, err = Start(); err != nil {
		log.Fatal(err)
	}
	// They are in process groups of their own: what ends this process does not end them.
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupted
		_ = (*server).Stop() // nobody is there to be told
		os.Exit(1)
	}()
	code := m.Run()
	if err := (*server).Stop(); err != nil {
		log.Print(err)
	}
	os.Exit(code)
}

// assetsDirectory returns the directory in which `make test` installs the binaries.
func assetsDirectory() (string, error) {
	directory := os.Getenv("KUBEBUILDER_ASSETS")
	if directory == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		directory = filepath.Join(home, ".cache", "cairn", "bin")
	}
	for _, name := range []string{"kube-apiserver", "etcd", "kubectl"} {
		if _, err := os.Stat(filepath.Join(directory, name)); err != nil {
			return "", fmt.Errorf("%s is missing in %s: `make test` installs it there (or set KUBEBUILDER_ASSETS)", name, directory)
		}
	}
	return directory, nil
}

// moduleDirectory returns the source directory of a required module.
func moduleDirectory(path string) (string, error) {
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", path)
	list.Dir = repository.Root()
	out, err := list.Output()
	directory := strings.TrimSpace(string(out))
	if err != nil || directory == "" {
		return "", fmt.Errorf("cannot find the source of %s: %w", path, err)
	}
	return directory, nil
}

// Kubectl returns the path of kubectl and the arguments that select this server.
func (s *Server) Kubectl() (path string, arguments []string, err error) {
	user, err := s.environment.AddUser(envtest.User{Name: "person", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return "", nil, err
	}
	kubectl, err := user.Kubectl()
	if err != nil {
		return "", nil, err
	}
	return kubectl.Path, kubectl.Opts, nil
}

// Kubeconfig returns an administrator's kubeconfig, for other commands.
func (s *Server) Kubeconfig() ([]byte, error) {
	user, err := s.environment.AddUser(envtest.User{Name: "administrator", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return nil, err
	}
	return user.KubeConfig()
}
