package controllers

import (
	"log"
	"os"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cairn-mpi/cairn/internal/apiserver"
)

var server *apiserver.Server

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	var err error
	if server, err = apiserver.Start(); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	if err := server.Stop(); err != nil {
		log.Print(err)
	}
	os.Exit(code)
}
