// Sbom writes the bill of materials of a Go program as CycloneDX 1.6 in JSON. It lists
// the modules that the compiler recorded in the program, so the list is exact. The
// licenses come from a report of go-licenses.
//
//	go run ./cmd/sbom PROGRAM LICENSES.csv > sbom.json
//
// The same program gives the same bytes.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM LICENSES.csv")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(program, report string, w io.Writer) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	licenses, err := readLicenses(report)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(program) //nolint:gosec // it is named by who builds
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	main := component(&info.Main, licenses, cdx.ComponentTypeApplication)
	main.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}
	properties := []cdx.Property{{Name: "go:version", Value: info.GoVersion}}
	for _, s := range info.Settings {
		properties = append(properties, cdx.Property{Name: "go:build:" + s.Key, Value: s.Value})
	}
	main.Properties = &properties
	parts := []cdx.Component{{
		Type: cdx.ComponentTypeLibrary, BOMRef: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"), Name: "std",
		Version: strings.TrimPrefix(info.GoVersion, "go"), PackageURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "BSD-3-Clause"}}},
	}}
	var refs []string
	for _, m := range info.Deps {
		if m.Replace != nil {
			return fmt.Errorf("%s is replaced by %s: the build differs from the released module", m.Path, m.Replace.Path)
		}
		c := component(m, licenses, cdx.ComponentTypeLibrary)
		if c.Licenses == nil {
			return fmt.Errorf("%s has no license in the report", m.Path)
		}
		parts = append(parts, c)
		refs = append(refs, c.BOMRef)
	}
	if len(refs) == 0 {
		return errors.New("the program names no modules")
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &main}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	e := cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON)
	e.SetPretty(true)
	return e.EncodeVersion(bom, cdx.SpecVersion1_6)
}

// component describes a module of the program.
func component(m *debug.Module, licenses map[string]string, kind cdx.ComponentType) cdx.Component {
	url := "pkg:golang/" + m.Path + "@" + m.Version
	c := cdx.Component{Type: kind, BOMRef: url, Name: m.Path, Version: m.Version, PackageURL: url}
	if raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(raw) == sha256.Size {
		// A module's sum is the hash of the list of its files' hashes: see
		// golang.org/x/mod/sumdb/dirhash.
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.Sum}}
	}
	var found cdx.Licenses
	seen := map[string]bool{}
	for path, id := range licenses {
		if (path == m.Path || strings.HasPrefix(path, m.Path+"/")) && !seen[id] {
			seen[id] = true
		}
	}
	for _, id := range []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0"} {
		if seen[id] {
			found = append(found, cdx.LicenseChoice{License: &cdx.License{ID: id}})
		}
	}
	if len(found) > 0 {
		c.Licenses = &found
	}
	return c
}

// readLicenses reads rows of package, URL and license.
func readLicenses(path string) (map[string]string, error) {
	f, err := os.Open(path) //nolint:gosec // it is named by who builds
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	licenses := map[string]string{}
	for _, row := range rows {
		if len(row) == 3 {
			licenses[row[0]] = row[2]
		}
	}
	return licenses, nil
}
