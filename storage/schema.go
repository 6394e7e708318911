package storage

// SchemaVersion is the version of the entities' form in the log of record. It rises when
// an older Gridhook would misread the output of a newer one. Version 1 was never released.
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
