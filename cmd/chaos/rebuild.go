package main

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
		for name, content := range before {
			if differing := difference(content, after[name]); differing != "" {
				w.violated.addf("I7", "%s of %s, deleted and rebuilt, has another content: %s", name, n.name, differing)
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

// shown limits the differences in a violation.
const shown = 3

// difference describes the first differences between two contents, "" if they are equal.
func difference(before, after map[string]string) string {
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	var list []string
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if before[k] != after[k] && len(list) < shown {
			list = append(list, fmt.Sprintf("%s was %q and is %q", k, before[k], after[k]))
		}
	}
	return strings.Join(list, ", ")
}

// contents lets a node catch up with the log and stops it again. It returns each bbolt
// file's content, by file.
func (w *world) contents(n *node) (map[string]map[string]string, error) {
	if err := n.start(); err != nil {
		return nil, err
	}
	if err := w.caughtUp(n); err != nil {
		return nil, err
	}
	if err := n.stop(); err != nil {
		return nil, err
	}
	all := map[string]map[string]string{}
	for _, path := range n.files() {
		values, err := content(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all[filepath.Base(path)] = values
	}
	return all, nil
}

// These buckets are not compared. toDo holds ended triggers whose notification is
// pending; after a rebuild, a repeated notification is still stored only one time. ofFile
// holds data of the file itself, such as its seal.
const (
	toDo   = "unnotified"
	ofFile = "file"
)

// content returns the values of a file by bucket and key.
func content(path string) (map[string]string, error) {
	f, err := boltfile.Open(path, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	err = f.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(bucket []byte, b *bbolt.Bucket) error {
			if name := string(bucket); name == toDo || name == ofFile {
				return nil
			}
			return b.ForEach(func(k, v []byte) error {
				values[fmt.Sprintf("%s %q", bucket, k)] = string(v)
				return nil
			})
		})
	})
	return values, errors.Join(err, f.Close())
}
