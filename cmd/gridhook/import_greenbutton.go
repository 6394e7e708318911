package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/pricing/greenbutton"
	"github.com/gridhook/gridhook/storage"
)

// meterImport is the outcome of one Green Button file. wrong is nil if the file was sent.
type meterImport struct {
	chunk    chunk
	imported client.Imported
	warnings []string
	wrong    error
}

// importMeters imports Green Button files, each as the measured load of a home. It reads
// several files at once, because reading takes most of the time, and reports in order.
func (g *globals) importMeters(ctx context.Context, c *client.Client, home string, files []string, report *importReport) error {
	const batch = 1000
	atOnce := 2 * runtime.GOMAXPROCS(0) // half of them wait for the server
	if home != "" {
		atOnce = 1 // the months of the files add up in their order
	}
	for some := range slices.Chunk(files, batch) {
		done := make([]meterImport, len(some))
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(atOnce)
		for i, name := range some {
			group.Go(func() error { return g.importMeter(ctx, c, home, name, &done[i]) })
		}
		stopped := group.Wait() // the finished files are reported too
		for i, name := range some {
			m := &done[i]
			for _, warning := range m.warnings {
				say(g.err, "%s: warning: %s\n", name, plain(warning))
			}
			errs := report.add(name, &m.chunk, m.imported)
			if m.wrong != nil {
				errs = []fileError{wrongMeter(name, m.wrong)}
				report.leftOut(errs[0])
			}
			g.reportErrors(report, errs)
		}
		if stopped != nil {
			return stopped
		}
	}
	return nil
}

func wrongMeter(name string, err error) fileError {
	e := wrongLine(1, "", "file", err.Error())
	e.File, e.Resource = name, string(storage.KindMeasuredLoad)
	return e
}

// importMeter imports one file. It returns only errors that concern every file.
func (g *globals) importMeter(ctx context.Context, c *client.Client, home, name string, m *meterImport) error {
	readings, err := readMeterFile(name, g.in)
	if err != nil {
		m.wrong = err
		return nil //nolint:nilerr // it is reported with the file
	}
	if home == "" {
		home = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	}
	of, err := c.GetHome(ctx, g.org, home)
	var refused *client.Error
	switch {
	case errors.As(err, &refused) && (refused.Status == http.StatusNotFound || refused.Status == http.StatusBadRequest):
		m.wrong = fmt.Errorf("home %q not found in organization %q", home, g.org)
		return nil
	case err != nil:
		return err
	}
	line, err := m.line(&of, readings)
	if err != nil {
		m.wrong = err
		return nil //nolint:nilerr // it is reported with the file
	}
	m.chunk.body.Write(line)
	m.chunk.numbers = []int{1}
	m.imported, err = sendChunk(ctx, c, &m.chunk)
	return err
}

func readMeterFile(name string, in io.Reader) (*greenbutton.Readings, error) {
	f, _, err := openFile(name, in)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	text, err := readWhole(f)
	if err != nil {
		return nil, err
	}
	return greenbutton.Read(text)
}

// newestMonths is the number of months to send. A server stores no more.
const newestMonths = 13

// measuredLine is a line of a measured load in the import's format.
type measuredLine struct {
	Resource       storage.Kind            `json:"resource"`
	OrganizationID string                  `json:"organizationId"`
	HomeID         string                  `json:"homeId"`
	Months         []storage.MeasuredMonth `json:"months"`
}

// line returns the line of a home's readings, and adds the warnings.
func (m *meterImport) line(home *client.HomeDetails, readings *greenbutton.Readings) ([]byte, error) {
	zone, ok := storage.Location(home.Timezone)
	if !ok {
		return nil, fmt.Errorf("home %q has no time zone: set its timezone", home.ID)
	}
	if other := readings.OtherClock(zone); other != "" {
		m.warnings = append(m.warnings, fmt.Sprintf("the file has the local time %s, but home %q has the time zone %s, which applies", other, home.ID, home.Timezone))
	}
	months, err := readings.Months(zone)
	if err != nil {
		return nil, err
	}
	line := measuredLine{Resource: storage.KindMeasuredLoad, OrganizationID: home.OrganizationID, HomeID: home.ID}
	var gaps []string
	for _, month := range months[max(0, len(months)-newestMonths):] {
		stored := measuredMonth(&month)
		line.Months = append(line.Months, stored)
		if stored.MissingHours > 0 {
			gaps = append(gaps, fmt.Sprintf("%s lacks %g hours", stored.Month, stored.MissingHours))
		}
	}
	if len(gaps) > 0 {
		m.warnings = append(m.warnings, fmt.Sprintf("%s of readings; a month that lacks more than %d hours is not used", strings.Join(gaps, ", "), storage.MaxMissingHours))
	}
	return json.Marshal(line)
}

func measuredMonth(m *greenbutton.Month) storage.MeasuredMonth {
	stored := storage.MeasuredMonth{
		Month: m.Start.Format("2006-01"), KWh: rounded(m.Drawn, 1e3), MissingHours: rounded(m.Missing.Hours(), 1e2), Watts: m.Watts[:],
	}
	if m.Exports {
		sent := rounded(m.Sent, 1e3)
		stored.ExportKWh = &sent
	}
	return stored
}

// rounded rounds to steps of 1/steps.
func rounded(v, steps float64) float64 { return math.Round(v*steps) / steps }

// showMeasured prints the measured months of a home.
func showMeasured(w io.Writer, home record) {
	printBelow(w, home["measuredMonths"], "MEASURED MONTH:month, FROM GRID:kwh:kWh, TO GRID:exportKwh:kWh, MISSING:missingHours:h")
}
