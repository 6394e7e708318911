package main

import (
	"os"
	"testing"

	"github.com/gridhook/gridhook/storage/storagetest"
)

func TestMain(m *testing.M) { os.Exit(storagetest.Run(m, 0)) }
