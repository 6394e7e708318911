package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/gridhook/gridhook/storage"
)

// IdempotencyHeader names a request that its caller may repeat.
const IdempotencyHeader = "Idempotency-Key"

var errOtherBody = &Problem{
	Status: http.StatusConflict, Code: CodeConflict,
	Message:  "The " + IdempotencyHeader + " was used before, with another body.",
	Recovery: "Send the same body to have the first answer again, or use a key that is new.",
}

// idempotencyKey is the request's key, empty when it has none.
func idempotencyKey(r *http.Request, p *problems) string {
	given := r.Header.Values(IdempotencyHeader)
	if len(given) == 0 {
		return ""
	}
	ok := len(given) == 1 && len(given[0]) >= 1 && len(given[0]) <= 255
	for i := 0; ok && i < len(given[0]); i++ {
		ok = given[0][i] >= '!' && given[0][i] <= '~'
	}
	p.Check(ok, IdempotencyHeader, "must be one header of 1 to 255 visible ASCII characters")
	return given[0]
}

// digest is the SHA-256 of texts, each told apart from the next, in hex.
func digest(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		sum := sha256.Sum256([]byte(text))
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fingerprint tells one input from another, however its JSON was written.
func fingerprint(in any) (string, error) {
	text, err := json.Marshal(in)
	return digest(string(text)), err
}

// once runs an operation whose caller may repeat it: under a key that was used
// before, the first answer is given again. What it runs is handed the identifier
// of what it makes and must have no further effect when it is run twice with the
// same: two requests may be at it at once, and one that was cut off is taken up
// again. Owner and scope say among whose requests the key is one.
func once[Out any](ctx context.Context, s *server, c *call, owner, scope, made string, in any, run func(made string) (Out, error)) (out Out, err error) {
	if c.idempotencyKey == "" {
		return run(made)
	}
	print, err := fingerprint(in)
	if err != nil {
		return out, err
	}
	request := storage.Once{ID: digest(c.operation, scope, c.idempotencyKey), Fingerprint: print, Made: made}
	request.OrganizationID = owner
	first, err := s.firstOf(ctx, request)
	switch {
	case err != nil:
		return out, err
	case first.Fingerprint != print:
		return out, errOtherBody
	case first.Answer != nil:
		return out, json.Unmarshal(first.Answer, &out)
	}
	if out, err = run(first.Made); err != nil {
		return out, err
	}
	answer, err := json.Marshal(out)
	if err != nil {
		return out, err
	}
	// Whoever stores an answer first gives it to all. One that took longer than
	// a key is known finds another request in its place, which it leaves alone.
	kept, err := storage.Update(ctx, s.Store, request.Ref(), func(o *storage.Once) error {
		if o.Answer != nil || o.Made != first.Made {
			return errKnown
		}
		o.Answer = answer
		return nil
	})
	if errors.Is(err, errKnown) && kept.Made == first.Made && kept.Answer != nil {
		err = json.Unmarshal(kept.Answer, &out)
	}
	return out, ignore(err, errKnown)
}

// errKnown ends the change of a request that is to stay as it is.
var errKnown = errors.New("the request is known")

// firstOf stores a request, or returns the one that was made under its key
// before.
func (s *server) firstOf(ctx context.Context, request storage.Once) (storage.Once, error) {
	err := s.Store.Create(ctx, &request)
	if !errors.Is(err, storage.ErrExists) {
		return request, err
	}
	// It may be another process's, and new: our replica must show it.
	if err := s.Store.CatchUp(ctx); err != nil {
		return request, err
	}
	now := s.Store.Now()
	first, err := storage.Update(ctx, s.Store, request.Ref(), func(o *storage.Once) error {
		if o.Known(now) {
			return errKnown
		}
		base := storage.Base{OrganizationID: o.OrganizationID} // it is another request, made now
		*o = storage.Once{ID: o.ID, Fingerprint: request.Fingerprint, Made: request.Made, Base: base}
		return nil
	})
	return first, ignore(err, errKnown)
}

// ignore is the error, or nil where it is the expected one.
func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}
