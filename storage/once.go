package storage

import (
	"encoding/json"
	"time"
)

// OnceFor is how long a repeated request is known by its key.
const OnceFor = 24 * time.Hour

// Once is a request that was made under a key of the caller's, so that a repeat
// has no second effect. It is stored before the request takes effect, and the
// answer with it afterwards: a request that was cut off in between is taken up
// again by its repeat.
type Once struct {
	// ID is made of the operation and the caller's key.
	ID string `json:"id"`
	// Fingerprint tells one body from another.
	Fingerprint string `json:"fingerprint"`
	// Made is the identifier of what the request makes, the same in every try.
	Made string `json:"made,omitempty"`
	// Answer is the first answer, nil until there is one.
	Answer json.RawMessage `json:"answer,omitempty"`
	Base
}

// OnceRef names a request of an organization.
func OnceRef(org, id string) Ref { return Ref{KindOnce, org, id} }

// Ref names the request.
func (o *Once) Ref() Ref { return OnceRef(o.OrganizationID, o.ID) }

// Validate names every wrong field.
func (o *Once) Validate() error {
	var p Problems
	checkID(&p, "id", o.ID)
	checkOptionalID(&p, "made", o.Made)
	return p.Err()
}

// Known reports whether a repeat at a time still counts as one.
func (o *Once) Known(now time.Time) bool { return now.Before(o.CreatedAt.Add(OnceFor)) }
