package main

import (
	"fmt"

	"github.com/gridhook/gridhook/api/client"
)

// importReport sums up the import of all files.
type importReport struct {
	client.Imported
	Errors []fileError `json:"errors"` // instead of the embedded errors

	keepErrors bool
	// wrong counts wrong fields.
	wrong int
}

// fileError is a skipped line with its number in its file.
type fileError struct {
	File string `json:"file"`
	client.ImportError
}

// add counts the response to a chunk. It returns its errors with the lines' numbers in
// the file.
func (r *importReport) add(file string, c *chunk, a client.Imported) []fileError {
	r.Lines += a.Lines
	r.Created += a.Created
	r.Updated += a.Updated
	r.Unchanged += a.Unchanged
	r.Failed += a.Failed
	errs := make([]fileError, len(a.Errors))
	for i, e := range a.Errors {
		e.Line = c.number(e.Line)
		errs[i] = fileError{file, e}
	}
	for _, s := range a.Secrets {
		s.Line = c.number(s.Line)
		r.Secrets = append(r.Secrets, s)
	}
	r.keep(errs...)
	return errs
}

// leftOut counts a line that was not sent.
func (r *importReport) leftOut(e fileError) {
	r.Lines++
	r.Failed++
	r.keep(e)
}

// keep stores errors for the JSON output. The table output prints the first errors as they
// occur.
func (r *importReport) keep(errs ...fileError) {
	if r.keepErrors {
		r.Errors = append(r.Errors, errs...)
	}
}

func (r *importReport) summary() string {
	return fmt.Sprintf("%s: %d created, %d updated, %d unchanged, %d wrong", count(r.Lines, "line"), r.Created, r.Updated, r.Unchanged, r.Failed)
}
