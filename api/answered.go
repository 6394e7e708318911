package api

import (
	"reflect"

	"github.com/gridhook/gridhook/storage"
)

// answered is an entity with the JSON that it is answered as.
type answered[T any] struct {
	entity T
	text   []byte
}

func (a *answered[T]) appendTo(b []byte) []byte { return append(b, a.text...) }
func (*answered[T]) documented() reflect.Type   { return reflect.TypeFor[T]() }

func answerOf[T any](entity T) (*answered[T], error) {
	var a answer
	err := a.encode(entity)
	return &answered[T]{entity, a.Bytes()}, err
}

// answerRecord decodes a record and encodes what it is answered as.
func answerRecord[T any](decode func(storage.Record) (T, error)) func(storage.Record) (*answered[T], error) {
	return func(r storage.Record) (*answered[T], error) {
		entity, err := decode(r)
		if err != nil {
			return nil, err
		}
		return answerOf(entity)
	}
}

var (
	answerDevice = answerRecord(storage.Decode[storage.HVACDevice])
	answerFlow   = answerRecord(storage.Decode[storage.Onboarding])
)
