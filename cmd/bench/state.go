package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/sandbox"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/replica"
)

// State is the speed of importing homes and of building a new replica.
type State struct {
	Homes int `json:"homes"`
	// ImportPerSecond is the rate of homes stored durably through the API.
	ImportPerSecond float64 `json:"importPerSecond"`
	// ColdPerSecond is the rate at which a new replica reads homes from the log of
	// record.
	ColdPerSecond float64 `json:"coldPerSecond"`
	// ScanPerSecond is the rate of undecoded homes read in order from a replica.
	ScanPerSecond float64 `json:"scanPerSecond"`
}

func measureState(ctx context.Context, o Options) (s *State, err error) {
	homes := 500_000
	if o.Quick {
		homes = 50_000
	}
	box, err := sandbox.Start(ctx, o.Log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	o.say("state: importing %d homes", homes)
	began := time.Now()
	if err := sandbox.Furnish(ctx, box.Operator, organization, homes); err != nil {
		return nil, err
	}
	s = &State{Homes: homes, ImportPerSecond: float64(homes) / time.Since(began).Seconds()}
	dir, err := os.MkdirTemp("", "gridhook-replica-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	fresh, err := replica.Open(filepath.Join(dir, "state.db"), slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fresh.Close()) }()
	o.say("state: a new replica catches up")
	return s, s.cold(ctx, box, fresh)
}

// cold lets a new replica catch up and scans it.
func (s *State) cold(ctx context.Context, box *sandbox.Sandbox, fresh *replica.Replica) error {
	log := box.App.StateLog()
	state, err := log.State(ctx)
	if err != nil {
		return err
	}
	following, cancel := context.WithCancel(ctx)
	followed := make(chan error, 1)
	began := time.Now()
	go func() { followed <- fresh.Follow(following, log) }()
	err = fresh.WaitFor(ctx, state.Last)
	s.ColdPerSecond = float64(s.Homes) / time.Since(began).Seconds()
	cancel()
	if err = errors.Join(err, <-followed); err != nil {
		return err
	}
	began = time.Now()
	n := 0
	err = fresh.View(func(v storage.View) error {
		return v.Scan(storage.KindHome, organization, "", func(storage.Record) bool { n++; return true })
	})
	s.ScanPerSecond = float64(n) / time.Since(began).Seconds()
	return err
}
