package storage

// SchemaVersion is the version of the entities' form in the log of record. It rises when
// an older Gridhook would misread the output of a newer one. Version 1 was never released.
const SchemaVersion = 2

// SchemaRef names the record of the newest schema version. It makes an older Gridhook
// refuse to start.
func SchemaRef() Ref { return KindSchema.Ref(Shared, "state") }
