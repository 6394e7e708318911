package api

import (
	"strings"

	"github.com/gridhook/gridhook/storage"
)

// badID says what an identifier must be.
const badID = "must match ^[A-Za-z0-9_-]{1,128}$"

func checkID(p *problems, field, id string) { p.Check(storage.ValidID(id), field, badID) }

// oneOf lists the values that a field may have.
func oneOf[T ~string](values []T) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return strings.Join(names, ", ")
}
