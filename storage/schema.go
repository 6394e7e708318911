package storage

import (
	"encoding/json"
	"fmt"
)

// SchemaVersion is the version of the entities' form in the log of record. It rises when
// an older Gridhook would misread the output of a newer one.
//
//	1  the first
//	2  the data key says which master key it is sealed with; header values and URL
//	   queries of endpoints are sealed
const SchemaVersion = 2

// Schema records the newest schema version in the log of record. It makes an older
// Gridhook refuse to start.
type Schema struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
	Base
}

// SchemaRef names the schema.
func SchemaRef() Ref { return Ref{KindSchema, Shared, "state"} }

// Ref names the schema.
func (s *Schema) Ref() Ref { return SchemaRef() }

// Validate accepts known versions.
func (s *Schema) Validate() error {
	var p Problems
	p.Check(s.Version >= 1 && s.Version <= SchemaVersion, "version", "must be from 1 to %d", SchemaVersion)
	return p.Err()
}

// upgrades has the steps between schemas: step 1 turns a value of schema 1 into a value
// of schema 2. Records are upgraded when they are read. Nothing has to be rewritten, so
// an interrupted upgrade leaves nothing half done.
var upgrades = map[int]func(kind Kind, value []byte) ([]byte, error){
	1: nameMasterKey,
}

// Upgrade converts a value of an older schema to the current schema.
func Upgrade(kind Kind, version int, value []byte) ([]byte, error) {
	for v := max(version, 1); v < SchemaVersion; v++ {
		var err error
		if value, err = upgrades[v](kind, value); err != nil {
			return nil, fmt.Errorf("from schema %d to %d: %w", v, v+1, err)
		}
	}
	return value, nil
}

// nameMasterKey turns an unsealed data key of schema 1 into the form of schema 2, without
// a master key.
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
