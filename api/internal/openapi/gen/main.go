// Command gen writes the document of the HTTP interface where package api embeds
// it. It is run by go generate in api.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/gridhook/gridhook/api/internal/openapi"
)

func main() {
	files, err := openapi.Files("..")
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		name := filepath.Join("docs", f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			log.Fatal(err)
		}
	}
}
