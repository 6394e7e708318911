package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/storage/boltfile"
)

// rebuild checks I7: the contents of a deleted bbolt file are rebuilt. It stops all
// Gridhooks, so that the log does not change, and checks one after the other.
func (w *world) rebuild() error {
	for _, n := range w.nodes {
		if err := n.stop(); err != nil {
			return err
		}
	}
	for _, n := range w.nodes {
		before, err := w.contents(n)
		if err != nil {
			return err
		}
		for _, path := range n.files() {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
		after, err := w.contents(n)
		if err != nil {
			return err
		}
		for name, digest := range before {
			if after[name] != digest {
				w.violated.addf("I7", "%s of %s, deleted and rebuilt, has another content", name, n.name)
			}
		}
	}
	return nil
}

// caughtUp waits until a node has folded all receipts: every trigger shows as completed
// again. Readiness does not cover that.
func (w *world) caughtUp(n *node) error {
	if !n.servesAPI() {
		return nil
	}
	deadline := time.Now().Add(patience)
	for _, a := range w.triggers.all() {
		if a.Result != resultOK {
			continue
		}
		// A created event that was updated at once has no notification of its own.
		if f := w.awaitProgress(n, a, deadline); f.err != nil && !errors.Is(f.err, errNoNotification) {
			return fmt.Errorf("%s, rebuilt: %w", n.name, f.err)
		}
	}
	return nil
}

// contents lets a node catch up with the log and stops it again. It returns a hash of
// each bbolt file's contents, by file.
func (w *world) contents(n *node) (map[string]string, error) {
	if err := n.start(); err != nil {
		return nil, err
	}
	if err := w.caughtUp(n); err != nil {
		return nil, err
	}
	if err := n.stop(); err != nil {
		return nil, err
	}
	digests := map[string]string{}
	for _, path := range n.files() {
		digest, err := content(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		digests[filepath.Base(path)] = digest
	}
	return digests, nil
}

// These buckets are not compared. toDo holds ended triggers whose notification is
// pending; after a rebuild, a repeated notification is still stored only one time. ofFile
// holds data of the file itself, such as its seal.
const (
	toDo   = "unnotified"
	ofFile = "file"
)

func content(path string) (digest string, err error) {
	f, err := boltfile.Open(path, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}
	h := sha256.New()
	err = f.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(bucket []byte, b *bbolt.Bucket) error {
			if name := string(bucket); name == toDo || name == ofFile {
				return nil
			}
			return b.ForEach(func(k, v []byte) error {
				_, err := fmt.Fprintf(h, "%q %q %q\n", bucket, k, v)
				return err
			})
		})
	})
	if closed := f.Close(); err == nil {
		err = closed
	}
	return hex.EncodeToString(h.Sum(nil)), err
}
