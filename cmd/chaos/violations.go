package main

import (
	"fmt"
	"slices"
	"sync"
)

// violation is a broken invariant, numbered as in docs/reliability.md.
type violation struct {
	Invariant string `json:"invariant"`
	What      string `json:"what"`
}

// violations collects violations during the round and during the comparison.
type violations struct {
	mu   sync.Mutex
	list []violation
}

func (v *violations) addf(invariant, format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.list = append(v.list, violation{invariant, fmt.Sprintf(format, args...)})
}

func (v *violations) all() []violation {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.list)
}
