package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/sandbox"
)

// Meters measures the import of Green Button files, each a year of quarter hours of a
// home, by the command gridhook import.
type Meters struct {
	Homes     int     `json:"homes"`
	FileMB    float64 `json:"fileMb"`
	PerSecond float64 `json:"homesPerSecond"`
	// CPU is the processor time of the command for a home, in milliseconds.
	CPU float64 `json:"cpuMilliseconds"`
}

func measureMeters(ctx context.Context, o Options) (m *Meters, err error) {
	homes := 1000
	if o.Quick {
		homes = 100
	}
	binaries, err := o.binaries()
	if err != nil {
		return nil, err
	}
	box, err := sandbox.Start(ctx, o.Log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	if err := sandbox.Furnish(ctx, box.Operator, organization, homes); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gridhook-meters-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	size, files, err := writeYears(dir, homes)
	if err != nil {
		return nil, err
	}
	o.say("meters: importing %d files of %.1f MB", homes, float64(size)/1e6)
	cmd := exec.CommandContext(ctx, binaries.Gridhook, append([]string{ //nolint:gosec // the product, built from this tree
		"import", "--format", "greenbutton", "--org", organization, "--admin-url", box.Operator.BaseURL}, files...)...)
	cmd.Env = append(os.Environ(), "GRIDHOOK_OPERATOR_KEY="+box.Operator.Key)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("gridhook import: %w: %s", err, out)
	}
	took, used := time.Since(began).Seconds(), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	return &Meters{
		Homes: homes, FileMB: float64(size) / 1e6, PerSecond: float64(homes) / took, CPU: used.Seconds() * 1000 / float64(homes),
	}, nil
}

// writeYears writes the files of homes that Furnish creates. They are links to one file.
func writeYears(dir string, homes int) (size int, files []string, err error) {
	var s strings.Builder
	s.WriteString(`<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xmlns:espi="http://naesb.org/espi">
<entry><link rel="self" href="/ReadingType/1"/><content><espi:ReadingType><espi:flowDirection>1</espi:flowDirection><espi:uom>72</espi:uom></espi:ReadingType></content></entry>
<entry><link rel="up" href="/MeterReading/1/IntervalBlock"/><content><espi:IntervalBlock>`)
	first := time.Now().AddDate(-1, 0, 0).Truncate(24 * time.Hour).Unix()
	for i := range 365 * 96 {
		fmt.Fprintf(&s, `
      <espi:IntervalReading>
        <espi:timePeriod>
          <espi:duration>900</espi:duration>
          <espi:start>%d</espi:start>
        </espi:timePeriod>
        <espi:value>%d</espi:value>
      </espi:IntervalReading>`, first+900*int64(i), 100+i%96*5)
	}
	s.WriteString("</espi:IntervalBlock></content></entry></feed>\n")
	whole := filepath.Join(dir, "year")
	if err := os.WriteFile(whole, []byte(s.String()), 0o600); err != nil {
		return 0, nil, err
	}
	for i := range homes {
		name := filepath.Join(dir, fmt.Sprintf("home_%07d.xml", i))
		if err := os.Link(whole, name); err != nil {
			return 0, nil, err
		}
		files = append(files, name)
	}
	return s.Len(), files, nil
}
