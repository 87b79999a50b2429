package controllers

import (
	"log"
	"os"
	"testing"

	"github.com/cairn-mpi/cairn/internal/apiserver"
)

var server *apiserver.Server

func TestMain(m *testing.M) {
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
