package app_test

import (
	"os"
	"testing"

	"github.com/gridhook/gridhook/cmd/internal/blackbox/blackboxtest"
)

func TestMain(m *testing.M) { os.Exit(blackboxtest.RunParallel(m)) }
