package main

import (
	"fmt"
	"slices"
	"sync"
)

// violation is a broken invariant. The numbers are those of docs/reliability.md.
type violation struct {
	Invariant string `json:"invariant"`
	What      string `json:"what"`
}

// violations are collected while the world runs and when the ledgers are
// compared.
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
