package scheduler

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// interest reports which changes the subscriptions of an organization want. A change
// without a subscriber needs no walk. A deleted subscription counts until its organization is
// deleted or the process ends, and costs at most a walk.
type interest struct {
	// all is set if every change is wanted.
	all   bool
	mu    sync.RWMutex
	byOrg map[string]map[wanted]bool
	// complete reports whether interest has all subscriptions of the start.
	complete atomic.Bool
}

// wanted is an operation on a type of object. For events, program selects a program; ""
// selects all.
type wanted struct {
	of        storage.OpenADRType
	operation string
	program   string
}

// maxWanted limits the entries of an organization. Beyond it, a subscription selects all programs.
const maxWanted = 1000

func newWanted(of storage.OpenADRType, operation, program string) wanted {
	if of != storage.OpenADREvent {
		program = ""
	}
	return wanted{of, operation, program}
}

// note adds the changes that a subscription wants.
func (i *interest) note(o *storage.OpenADRObject) {
	i.mu.Lock()
	defer i.mu.Unlock()
	set := i.byOrg[o.OrganizationID]
	if set == nil {
		set = map[wanted]bool{}
		i.byOrg[o.OrganizationID] = set
	}
	program := o.Parent
	if len(set) >= maxWanted {
		program = ""
	}
	for _, c := range o.Callbacks {
		for _, of := range c.Objects {
			for _, operation := range c.Operations {
				set[newWanted(of, operation, program)] = true
			}
		}
	}
}

// forget drops the subscriptions of the organization whose deletion a mark records.
func (i *interest) forget(mark storage.Ref) {
	i.mu.Lock()
	defer i.mu.Unlock()
	maps.DeleteFunc(i.byOrg, func(org string, _ map[wanted]bool) bool { return storage.ErasureRef(org) == mark })
}

// has reports whether a subscription may want a change.
func (i *interest) has(org string, of storage.OpenADRType, operation, program string) bool {
	if i.all {
		return true
	}
	i.mu.RLock()
	defer i.mu.RUnlock()
	set := i.byOrg[org]
	return set[newWanted(of, operation, "")] || set[newWanted(of, operation, program)]
}

// hasAny reports whether a subscription may want any change of an object.
func (i *interest) hasAny(org string, of storage.OpenADRType, program string) bool {
	return i.has(org, of, events.OperationCreate, program) || i.has(org, of, events.OperationUpdate, program) || i.has(org, of, events.OperationDelete, program)
}
