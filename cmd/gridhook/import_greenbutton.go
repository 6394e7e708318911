package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/storage"
)

// meterImport is the outcome of one Green Button file. wrong is empty if the file is
// imported.
type meterImport struct {
	client.GreenButtonImport
	wrong []storage.FieldError
}

// importMeters imports Green Button files, each as the measured load of a home. It sends
// several files at once and reports in order.
func (g *globals) importMeters(ctx context.Context, c *client.Client, home string, files []string, report *importReport) error {
	const batch = 1000
	atOnce := 2 * runtime.GOMAXPROCS(0) // half of them wait for the server
	if home != "" {
		atOnce = 1 // the months of the files add up in their order
	}
	c = c.For(g.org)
	for some := range slices.Chunk(files, batch) {
		done := make([]meterImport, len(some))
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(atOnce)
		for i, name := range some {
			group.Go(func() error { return g.importMeter(ctx, c, home, name, &done[i]) })
		}
		stopped := group.Wait() // the finished files are reported too
		for i, name := range some {
			g.reportMeter(name, &done[i], report)
		}
		if stopped != nil {
			return stopped
		}
	}
	return nil
}

// maxMeterFile bounds a Green Button file in bytes. A server refuses larger files. A year of
// quarter hours takes 8 to 25 MB.
const maxMeterFile = app.MaxXML

func errLargeFile(most int) error {
	return fmt.Errorf("the file is larger than %d MB: import it in parts", most>>20)
}

// readMeter reads a file as a whole, because a request to an unavailable server is
// repeated.
func readMeter(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxMeterFile+1))
	if err == nil && len(text) > maxMeterFile {
		err = errLargeFile(maxMeterFile)
	}
	return text, err
}

// importMeter imports one file. It returns only errors that concern every file.
func (g *globals) importMeter(ctx context.Context, c *client.Client, home, name string, m *meterImport) error {
	f, _, err := openFile(name, g.in)
	var text []byte
	if err == nil {
		defer f.Close() //nolint:errcheck // it was only read
		text, err = readMeter(f)
	}
	if err != nil {
		m.wrong = []storage.FieldError{{Field: "file", Message: err.Error()}}
		return nil //nolint:nilerr // it is reported with the file
	}
	if home == "" {
		home = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	}
	m.GreenButtonImport, err = retryUnavailable(ctx, func() (client.GreenButtonImport, error) {
		return c.ImportGreenButton(ctx, home, bytes.NewReader(text))
	})
	if refused, ok := errors.AsType[*client.Error](err); ok && slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge}, refused.Status) {
		if m.wrong = refused.FieldErrors; len(m.wrong) == 0 {
			m.wrong = []storage.FieldError{{Field: "file", Message: refused.Message}}
		}
		return nil
	}
	return err
}

// reportMeter reports a file, unless the import stopped before it.
func (g *globals) reportMeter(name string, m *meterImport, report *importReport) {
	for _, warning := range m.Warnings {
		say(g.err, "%s: warning: %s\n", name, plain(warning))
	}
	imported := client.Imported{Lines: 1}
	switch {
	case len(m.wrong) > 0:
		imported.Failed = 1
		imported.Errors = []client.ImportError{{Line: 1, Resource: string(storage.KindMeasuredLoad), Fields: m.wrong}}
	case m.Change == storage.Created:
		imported.Created = 1
	case m.Change == storage.Updated:
		imported.Updated = 1
	case m.Change == storage.Unchanged:
		imported.Unchanged = 1
	default:
		return
	}
	g.reportErrors(report, report.add(name, &chunk{}, imported))
}
