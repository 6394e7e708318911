package bench

import (
	"cmp"
	"slices"

	"github.com/prometheus/procfs"
)

// processors is how a machine's processors have spent their time so far, in seconds.
// What is stolen the host of a virtual machine gave to others while there was work.
type processors struct{ stolen, all float64 }

// processorsNow is zero where the system does not tell.
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

// stolenSince is the share of the time since then that was stolen, in percent, and 0
// where the system does not tell.
func (p processors) stolenSince() float64 {
	now := processorsNow()
	if p.all == 0 || now.all == 0 {
		return 0
	}
	return 100 * (now.stolen - p.stolen) / max(now.all-p.all, 1e-9)
}

// calm is how much may be stolen of a round that measures waiting, in percent: a
// processor that is not there for some milliseconds is nobody's answer time.
const calm = 0.2

// calmest makes rounds until so many of them were calm, or four times as many were
// made, and returns those of which the least was stolen, and the most that was of any.
// Whatever they measured, the choice does not look at it.
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

// round is what a round measured, and what was stolen of it, in percent.
type round[T any] struct {
	value  T
	stolen float64
}

// leastStolen is what the rounds measured of which the least was stolen, and the most
// that was of any of these.
func leastStolen[T any](made []round[T], rounds int) (list []T, stolen float64) {
	slices.SortStableFunc(made, func(a, b round[T]) int { return cmp.Compare(a.stolen, b.stolen) })
	for _, r := range made[:rounds] {
		list, stolen = append(list, r.value), r.stolen
	}
	return list, stolen
}
