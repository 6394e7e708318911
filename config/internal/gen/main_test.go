package main

import (
	"os"
	"testing"
)

func TestTable_UpToDate(t *testing.T) {
	page, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := withTable(string(page))
	if err != nil {
		t.Fatal(err)
	}
	if text != string(page) {
		t.Error("the table of settings in docs/configuration.md is outdated: run go generate ./config")
	}
}

func TestTable_NoTable(t *testing.T) {
	if _, err := withTable("# Configuration\n"); err == nil {
		t.Error("a page without the table is accepted")
	}
}
