package backup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gridhook/gridhook/events/jetstream"
)

// ErrExists says that Gridhook's streams already exist at the destination.
var ErrExists = errors.New("the streams of Gridhook already exist")

// ErrInUse says that a Gridhook process uses the destination.
var ErrInUse = errors.New("a running gridhook uses this NATS: stop every process, and wait for 30 seconds after one was killed")

// Restore restores every stream. It returns ErrInUse while a Gridhook process is connected. If Gridhook's streams already exist, it returns
// ErrExists, or replaces them if replace is true.
func (b *Backup) Restore(ctx context.Context, conn *jetstream.Conn, o jetstream.Options, replace bool) error {
	found, err := conn.Existing(ctx)
	switch {
	case err != nil:
		return err
	case len(found) > 0 && !replace:
		return fmt.Errorf("%w (%s): --replace deletes them first", ErrExists, strings.Join(found, ", "))
	}
	used, err := conn.InUse(ctx)
	switch {
	case err != nil:
		return err
	case used:
		return ErrInUse
	}
	if o, err = conn.Resolve(ctx, o); err != nil {
		return err
	}
	known := map[string]jetstream.Content{}
	for _, c := range jetstream.Contents() {
		known[c.Stream] = c
	}
	for i := range b.Streams {
		if _, ok := known[b.Streams[i].Name]; !ok {
			return fmt.Errorf("%w: it has the stream %s, which this version does not know: use a newer Gridhook", ErrNotReadable, b.Streams[i].Name)
		}
	}
	if err := conn.Remove(ctx, found, o); err != nil {
		return err
	}
	for i := range b.Streams {
		s := &b.Streams[i]
		if err := conn.RestoreStream(ctx, known[s.Name], o, s.Extent, b.messages(s)); err != nil {
			return err
		}
	}
	return conn.MakeStreams(ctx, o)
}
