package openadr

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// nameFields has the fields of the names that must be unique. The name of a resource must be
// unique within its VEN only.
var nameFields = map[storage.OpenADRType]string{storage.OpenADRProgram: "programName", storage.OpenADRVEN: "venName", storage.OpenADRResource: "resourceName"}

// unique returns an error if another object of the type, created before a revision, has the same
// name.
func unique(r *request, v storage.View, o *storage.OpenADRObject, before uint64) error {
	if r.importer != nil {
		return r.importer.unique(v, o)
	}
	name, err := json.Marshal(o.Name)
	if err != nil {
		return err
	}
	for record, err := range storage.Live(v, o.Type.Kind(), o.OrganizationID, "") {
		if err != nil {
			return err
		}
		if record.ID == o.ID || record.First >= before || !bytes.Contains(record.Value, name) {
			continue
		}
		other, err := storage.Decode[storage.OpenADRObject](record)
		if err == nil && !other.Removed && other.Name == o.Name && (o.Type != storage.OpenADRResource || other.Parent == o.Parent) {
			return taken(o)
		}
	}
	return nil
}

// keepUnique removes a new object if an object that was created before it has the same name, or
// if there is no turn to look for one. So of simultaneous creations the first one that is stored
// wins: each sees the earlier ones after its own write.
func (s *server) keepUnique(r *request, o *storage.OpenADRObject) error {
	if nameFields[o.Type] == "" {
		return nil
	}
	err := s.view(r, func(v storage.View) error {
		own, err := v.Get(o.Ref())
		if err == nil {
			err = unique(r, v, o, own.First)
		}
		return err
	})
	if _, refused := errors.AsType[*rest.Problem](err); refused {
		_, failed := s.markRemoved(r, o.Ref())
		err = cmp.Or(failed, err)
	}
	return err
}

func taken(o *storage.OpenADRObject) error {
	return conflict(fmt.Sprintf("The %s %q is taken.", nameFields[o.Type], o.Name))
}
