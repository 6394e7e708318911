package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/storage"
)

func newImportCommand(g *globals) *cobra.Command {
	var format fileFormat
	cmd := &cobra.Command{
		Annotations: map[string]string{connection: operatorOnly},
		Use:         "import FILE...", Short: "Create or replace many resources from files",
		Long: `Create or replace organizations, rate plans and their events, market prices, homes,
solar, usage, measured loads, devices, preferences, onboarding flows, keys, webhook
endpoints, channels, schedules, sources and OpenADR objects from files. The file "-" is standard input.

A file is NDJSON with one resource per line, or a CSV of homes with a header row. The
columns of the CSV are the JSON fields of a home. A line may refer only to resources of
earlier lines or of the server. The command reports wrong lines and imports the others.
A repeated import changes nothing. A home with an unknown plan or zipcode is imported with
a warning and has no price; --strict skips such homes.

With --format market a file has the prices of an electricity market, in CSV or NDJSON as
the market publishes them. The formats of CAISO, PJM, ComEd and ERCOT are recognized by
their columns.

With --format greenbutton a file has the metered energy of a home, as utilities offer it
for download. It replaces the assumed use and load of the home.`,
		Example: `  gridhook import acme.ndjson
  gridhook import --org acme homes.csv
  gridhook import --format market --market caiso --node TH_NP15_GEN-APND prices.csv
  gridhook import --format greenbutton --org acme --home home-1 usage.xml
  echo '{"resource":"home","organizationId":"acme","id":"home-1","ratePlanId":"pge-e-elec"}' | gridhook import -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("the file is missing")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cmp.Or(g.ofOperator("imports"), format.check(g.org, args)); err != nil {
				return err
			}
			c, err := g.connect()
			if err != nil {
				return err
			}
			return g.importFiles(cmd.Context(), c, format, args)
		},
	}
	cmd.Flags().StringVar(&g.org, "org", "", "`organization` of lines that do not name one, except rate plans, plan events and market series in NDJSON, which all organizations then share (GRIDHOOK_ORG)")
	cmd.Flags().StringVar(&format.name, "format", "", "file `format`: ndjson, csv, market or greenbutton (default csv for *.csv, otherwise ndjson)")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(importFormats, cobra.ShellCompDirectiveNoFileComp)) // it was added above
	cmd.Flags().StringVar(&format.home, "home", "", "`home` of Green Button files (default each file's name without its extension)")
	format.market.flags(cmd)
	cmd.Flags().BoolVar(&format.strict, "strict", false, "rejection of homes with an unknown plan or zipcode (default a warning)")
	return g.talks(cmd)
}

// These are the formats of an import.
const (
	formatNDJSON      = "ndjson"
	formatCSV         = "csv"
	formatMarket      = "market"
	formatGreenButton = "greenbutton"
)

var importFormats = []string{formatNDJSON, formatCSV, formatMarket, formatGreenButton}

// fileFormat determines how files are read.
type fileFormat struct {
	name   string
	market marketFormat
	// home is the home of Green Button files. If empty, each file is named for its home.
	home string
	// strict skips homes that refer to missing plans or zipcodes.
	strict bool
}

// check validates the flags.
func (f *fileFormat) check(org string, files []string) error {
	switch {
	case f.name != "" && !slices.Contains(importFormats, f.name):
		return usagef("--format must be one of %s, not %q", strings.Join(importFormats, ", "), f.name)
	case f.home != "" && f.name != formatGreenButton:
		return usagef("--home needs --format %s", formatGreenButton)
	case f.name == formatGreenButton && org == "":
		return usagef("--org must be given with --format %s", formatGreenButton)
	case f.name == formatGreenButton && f.home == "" && slices.Contains(files, "-"):
		return usagef("--home must be given with a Green Button file from standard input")
	}
	return f.market.check(f.name)
}

// errBadLines says that some lines were skipped. They are already reported.
var errBadLines = errors.New("some lines were not imported")

// importFiles imports files one after the other and prints a summary. After an error it
// prints the summary of the lines before it, because no later import shows their secrets.
func (g *globals) importFiles(ctx context.Context, c *client.Client, format fileFormat, files []string) error {
	c = c.For("") // each line names its organization
	refer := &references{
		ctx: ctx, c: c, strict: format.strict, plans: map[string]map[string]bool{}, unlisted: map[string]bool{}, named: map[string]bool{},
		missing: map[reference]int{}, waiting: map[int][]reference{},
	}
	report := importReport{Errors: []fileError{}, keepErrors: g.json()}
	report.Secrets = []client.ImportedSecret{}
	var stopped error
	if format.name == formatGreenButton {
		stopped = g.importMeters(ctx, c, format.home, files, &report)
		files = nil
	}
	for _, name := range files {
		if stopped = g.importFile(ctx, c, format, name, refer, &report); stopped != nil {
			break
		}
	}
	if stopped != nil && report.Lines == 0 {
		return stopped
	}
	if hidden := report.wrong - maxShown; hidden > 0 {
		say(g.err, "and %d more wrong fields; --json lists all of them\n", hidden)
	}
	refer.warn(g.err)
	if err := g.show(report, func(w io.Writer) {
		for _, s := range report.Secrets {
			of := "endpoint"
			if strings.HasPrefix(s.Secret, storage.KeyPrefix) {
				of = "key"
			}
			row(w, fmt.Sprintf("%s %s: secret %s; store it now", of, s.ID, s.Secret))
		}
		row(w, report.summary())
	}); err != nil {
		return errors.Join(stopped, err)
	}
	if stopped != nil {
		return stopped
	}
	if report.Failed > 0 {
		return fmt.Errorf("%w: %d of %d", errBadLines, report.Failed, report.Lines)
	}
	return nil
}

func (g *globals) importFile(ctx context.Context, c *client.Client, format fileFormat, name string, refer *references, report *importReport) error {
	f, size, err := openFile(name, g.in)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	reader := &countingReader{r: f}
	progress, before := g.newProgress(), report.Lines
	defer progress.end()
	send := func(chunk *chunk) error {
		imported, err := retryUnavailable(ctx, func() (client.Imported, error) {
			return c.Import(ctx, bytes.NewReader(chunk.body.Bytes()))
		})
		progress.end()
		if err != nil {
			say(g.err, "%s: stopped before line %d; a repeated import does not change stored lines\n", name, chunk.numbers[0])
			return err
		}
		refused := report.add(name, chunk, imported)
		refer.stored(chunk.numbers, refused)
		g.reportErrors(report, refused)
		progress.show(report.summary()+progress.rate(int64(report.Lines-before), "lines", reader.n, size), reader.n, size)
		return nil
	}
	left := func(e fileError) {
		e.File = name
		report.leftOut(e)
		g.reportErrors(report, []fileError{e})
	}
	to := newChunker(send)
	to.check = func(number int, line []byte) bool {
		e, wrong := refer.check(number, line)
		if wrong {
			left(e)
		}
		return !wrong
	}
	text := unmarked(reader)
	switch {
	case format.name == formatMarket:
		err = format.market.read(text, g.org, newChunker(send), left)
	case format.name == formatCSV, format.name == "" && strings.EqualFold(filepath.Ext(name), ".csv"):
		err = readCSV(text, g.org, to, left)
	default:
		err = readNDJSON(text, g.org, to, left)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// maxShown is the number of wrong fields that an import prints as they occur. A wrong
// organization makes every line wrong.
const maxShown = 20

// reportErrors prints a line for each wrong field, up to maxShown in an import.
func (g *globals) reportErrors(report *importReport, errs []fileError) {
	for _, e := range errs {
		for _, f := range e.Fields {
			if report.wrong++; report.wrong > maxShown {
				continue
			}
			what := strings.TrimSpace(e.Resource + " " + e.ID)
			if what != "" {
				what += ": "
			}
			say(g.err, "%s\n", plain(fmt.Sprintf("%s:%d: %s%s: %s", e.File, e.Line, what, f.Field, f.Message)))
		}
	}
}

// countingReader counts the bytes read. It calls each, if not nil, with the count.
type countingReader struct {
	r    io.Reader
	n    int64
	each func(n int64)
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if c.each != nil {
		c.each(c.n)
	}
	return n, err
}
