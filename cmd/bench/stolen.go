package main

import (
	"cmp"
	"slices"

	"github.com/prometheus/procfs"
)

// processors is the time that a machine's processors have spent so far, in seconds.
// stolen is the time that the host of a virtual machine gave to others while there was
// work.
type processors struct{ stolen, all float64 }

// processorsNow returns zero if the system does not report the times.
func processorsNow() processors {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return processors{}
	}
	stat, err := fs.Stat()
	if err != nil {
		return processors{}
	}
	t := stat.CPUTotal
	return processors{stolen: t.Steal, all: t.User + t.Nice + t.System + t.Idle + t.Iowait + t.IRQ + t.SoftIRQ + t.Steal}
}

// stolenSince returns the stolen share of the time since p, in percent. It returns 0 if
// the system does not report it.
func (p processors) stolenSince() float64 {
	now := processorsNow()
	if p.all == 0 || now.all == 0 {
		return 0
	}
	return 100 * (now.stolen - p.stolen) / max(now.all-p.all, 1e-9)
}

// calm is the largest stolen share of a round that measures response times, in percent. A
// response time must not include a processor's absence of some milliseconds.
const calm = 0.2

// calmest measures rounds until enough of them are calm, at most four times as many as
// asked for. It returns the rounds with the least stolen time and the largest stolen
// share among them. The choice ignores the measured values.
func calmest[T any](rounds int, measure func() (T, error)) ([]T, float64, error) {
	var made []round[T]
	for quiet := 0; quiet < rounds && len(made) < 4*rounds; {
		before := processorsNow()
		value, err := measure()
		if err != nil {
			return nil, 0, err
		}
		r := round[T]{value, before.stolenSince()}
		if r.stolen <= calm {
			quiet++
		}
		made = append(made, r)
	}
	list, stolen := leastStolen(made, rounds)
	return list, stolen, nil
}

// round is a round's value and its stolen share in percent.
type round[T any] struct {
	value  T
	stolen float64
}

// leastStolen returns the values of the rounds with the least stolen time, and the
// largest stolen share among these rounds.
func leastStolen[T any](made []round[T], rounds int) (list []T, stolen float64) {
	slices.SortStableFunc(made, func(a, b round[T]) int { return cmp.Compare(a.stolen, b.stolen) })
	for _, r := range made[:rounds] {
		list, stolen = append(list, r.value), r.stolen
	}
	return list, stolen
}
