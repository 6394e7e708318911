package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/storage"
)

// maxLine is the length limit of a line in bytes. A server's default limit is lower.
const maxLine = client.MaxImport - 1<<10

// readNDJSON reads resources, one per line. It passes lines that are too long to leftOut.
func readNDJSON(r io.Reader, org string, to *chunker, leftOut func(fileError)) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return err
		}
		line = bytes.TrimSpace(line)
		switch {
		case len(line) > maxLine:
			leftOut(wrongLine(number, "", "line", fmt.Sprintf("must have at most %d bytes", maxLine)))
		case len(line) > 0:
			if err := to.add(number, withOrganization(line, org)); err != nil {
				return err
			}
		}
		if end {
			return to.flush()
		}
	}
}

func wrongLine(number int, id, field, message string) fileError {
	e := client.ImportError{Line: number, ID: id, Fields: []storage.FieldError{{Field: field, Message: message}}}
	return fileError{ImportError: e}
}

// withOrganization adds the organization to a line that names none. The rest of the line
// stays unchanged for the server to validate. Resources that the operator owns or that
// all organizations may share stay without an organization.
func withOrganization(line []byte, org string) []byte {
	if org == "" || line[0] != '{' {
		return line
	}
	var head struct {
		Resource       string          `json:"resource"`
		OrganizationID json.RawMessage `json:"organizationId"`
	}
	if err := json.Unmarshal(line, &head); err != nil || head.OrganizationID != nil {
		return line
	}
	switch storage.Kind(head.Resource) {
	case "", storage.KindOrganization, storage.KindUtility, storage.KindDemandResponse, storage.KindArea,
		storage.KindRatePlan, storage.KindPlanEvent, storage.KindMarketSeries:
		return line
	}
	field := append([]byte(`{"organizationId":`), strconv.Quote(org)...)
	return append(append(field, ','), line[1:]...)
}
