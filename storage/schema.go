package storage

import (
	"encoding/json"
	"fmt"
)

// SchemaVersion is the version of the shapes that entities have in the log of
// record. It rises when an older Gridhook would misread what a newer one writes.
//
//	1  the first
//	2  the data key says which master key it is sealed with
const SchemaVersion = 2

// Schema is what the log of record says of itself: the version of whoever wrote
// its newest shapes. It is there so that an older Gridhook refuses to start.
type Schema struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
	Base
}

// SchemaRef names it.
func SchemaRef() Ref { return Ref{KindSchema, Shared, "state"} }

// Ref names the schema.
func (s *Schema) Ref() Ref { return SchemaRef() }

// Validate accepts a version that there is.
func (s *Schema) Validate() error {
	var p Problems
	p.Check(s.Version >= 1 && s.Version <= SchemaVersion, "version", "must be from 1 to %d", SchemaVersion)
	return p.Err()
}

// upgrades are the steps between schemas: the step at 1 turns a value of schema 1
// into one of schema 2. Records are upgraded as they are read, so nothing has to be
// rewritten, and an upgrade that is cut off leaves nothing half done.
var upgrades = map[int]func(kind Kind, value []byte) ([]byte, error){
	1: nameMasterKey,
}

// Upgrade brings a value of an older schema up to this one.
func Upgrade(kind Kind, version int, value []byte) ([]byte, error) {
	for v := max(version, 1); v < SchemaVersion; v++ {
		var err error
		if value, err = upgrades[v](kind, value); err != nil {
			return nil, fmt.Errorf("from schema %d to %d: %w", v, v+1, err)
		}
	}
	return value, nil
}

// nameMasterKey turns the data key in the clear into one that is sealed with no
// master key.
func nameMasterKey(kind Kind, value []byte) ([]byte, error) {
	if kind != KindVault || len(value) == 0 {
		return value, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(value, &fields); err != nil {
		return nil, err
	}
	if key, old := fields["key"]; old {
		fields["sealed"], fields["masterKey"] = key, json.RawMessage(`""`)
		delete(fields, "key")
	}
	return json.Marshal(fields)
}
