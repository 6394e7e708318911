package main

import (
	"context"
	"os"
	_ "time/tzdata" // homes and schedules are in time zones that a machine may not have

	_ "golang.org/x/crypto/x509roots/fallback" // certificate authorities for a machine or an image that has none

	"github.com/gridhook/gridhook/cmd/internal/app"
)

func main() {
	g := &globals{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, environ: os.Environ(),
		version: readVersion(), run: app.Run, pollEvery: pollEvery, progressEvery: progressEvery,
	}
	os.Exit(g.execute(context.Background(), os.Args[1:]))
}
