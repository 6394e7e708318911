package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Document is one plan of a file, as a rate of the US Utility Rate Database that
// pricing.ParseURDB reads; the versions of a plan are one document.
type Document struct {
	Utility, Name string
	URDB          []byte
}

// ErrFile is wrapped by every error of Read.
var ErrFile = errors.New("catalog: no file of rate plans")

// Read takes a file of rate plans apart: one rate of the US Utility Rate
// Database; a list of them, bare or as "items", in which rates of the same utility
// and name are versions of one plan; or lines of the open-energy-tariffs
// collection. It does not judge the rates themselves. The error wraps ErrFile.
func Read(data []byte) ([]Document, error) {
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return readLines(data)
	}
	whole = bytes.TrimSpace(whole)
	var list []json.RawMessage
	switch {
	case json.Unmarshal(whole, &list) == nil:
		return group(list)
	case len(whole) == 0 || whole[0] != '{':
		return nil, fmt.Errorf("%w: must be a JSON object or an array of them", ErrFile)
	}
	var object struct {
		Items   []json.RawMessage `json:"items"`
		Tariffs json.RawMessage   `json:"tariffs"`
		Tariff  json.RawMessage   `json:"tariff"`
	}
	if err := json.Unmarshal(whole, &object); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	switch {
	case object.Items != nil:
		return group(object.Items)
	case object.Tariff != nil:
		return readLines(whole)
	case object.Tariffs != nil:
		return nil, fmt.Errorf(`%w: "tariffs" by component are not rates of the rate database`, ErrFile)
	}
	return group([]json.RawMessage{whole})
}

// group puts the versions of each plan together, in the order of their first.
func group(list []json.RawMessage) ([]Document, error) {
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: the list is empty", ErrFile)
	}
	type plan struct {
		Utility string `json:"utility"`
		Name    string `json:"name"`
	}
	versions := map[plan][]json.RawMessage{}
	var order []plan
	for i, item := range list {
		var p plan
		if err := json.Unmarshal(item, &p); err != nil {
			return nil, fmt.Errorf("%w: entry %d: %w", ErrFile, i+1, err)
		}
		if versions[p] == nil {
			order = append(order, p)
		}
		versions[p] = append(versions[p], item)
	}
	documents := make([]Document, len(order))
	for i, p := range order {
		documents[i] = Document{Utility: p.Utility, Name: p.Name, URDB: versions[p][0]}
		if len(versions[p]) > 1 {
			items, err := json.Marshal(map[string]any{"items": versions[p]})
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrFile, err)
			}
			documents[i].URDB = items
		}
	}
	return documents, nil
}

// readLines reads the collection's form, one plan a line.
func readLines(data []byte) ([]Document, error) {
	var documents []Document
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		p, err := ReadOpenTariff(line)
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrFile, i+1, err)
		}
		documents = append(documents, Document{Utility: p.Utility, Name: p.Name, URDB: p.URDB()})
	}
	if len(documents) == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrFile)
	}
	return documents, nil
}
