package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/events/jetstream"
)

// ErrExists says that Gridhook's streams already exist at the destination.
var ErrExists = errors.New("the streams of Gridhook already exist")

// Restore restores every stream. If Gridhook's streams already exist, it returns
// ErrExists, or replaces them if replace is true.
func (b *Backup) Restore(ctx context.Context, conn *jetstream.Conn, o jetstream.Options, replace bool) error {
	found, err := conn.Existing(ctx)
	switch {
	case err != nil:
		return err
	case len(found) > 0 && !replace:
		return fmt.Errorf("%w (%s): --replace deletes them first", ErrExists, strings.Join(found, ", "))
	}
	if err := conn.Remove(ctx, found); err != nil {
		return err
	}
	contents := jetstream.Contents()
	for i := range b.Streams {
		s := &b.Streams[i]
		at := slices.IndexFunc(contents, func(c jetstream.Content) bool { return c.Stream == s.Name })
		if at < 0 {
			return fmt.Errorf("%w: it has the stream %s, which this version does not know: use a newer Gridhook", ErrNotReadable, s.Name)
		}
		if err := b.restoreStream(ctx, conn, contents[at], o, s); err != nil {
			return err
		}
	}
	return conn.MakeStreams(ctx, o)
}

func (b *Backup) restoreStream(ctx context.Context, conn *jetstream.Conn, content jetstream.Content, o jetstream.Options, s *Stream) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	read := make(chan jetstream.Raw, 1024)
	go func() {
		defer close(read)
		canceled := b.messages(s, func(m jetstream.Raw) error {
			select {
			case read <- m:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if canceled != nil {
			cancel(canceled)
		}
	}()
	next := func() (jetstream.Raw, error) {
		if m, more := <-read; more {
			b.count(s.Name)
			return m, nil
		}
		if err := context.Cause(ctx); err != nil {
			return jetstream.Raw{}, err
		}
		return jetstream.Raw{}, io.EOF
	}
	extent := jetstream.Extent{First: s.First, Last: s.Last, Messages: s.Messages, Bytes: s.Bytes, Handled: s.Handled}
	return conn.RestoreStream(ctx, content, o, extent, next)
}

// count counts a restored message and reports progress every 1000 messages.
func (b *Backup) count(stream string) {
	const often = 1000
	if b.restored++; b.Progress != nil && b.restored%often == 0 {
		b.Progress(stream, b.restored)
	}
}
