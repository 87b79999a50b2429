package controllers

import (
	"testing"

	"github.com/cairn-mpi/cairn/internal/apiserver"
)

var server *apiserver.Server

func TestMain(m *testing.M) { apiserver.Main(m, &server) }
