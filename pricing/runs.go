package pricing

import (
	"errors"
	"fmt"
	"math"
)

// ErrRuns is wrapped by every error of CurveFromRuns.
var ErrRuns = errors.New("pricing: invalid runs")

// Run is N consecutive intervals with the same values. Its short JSON names keep the
// message of a whole curve at a few hundred bytes.
type Run struct {
	N          int     `json:"n"`
	Price      float64 `json:"p"`
	Import     float64 `json:"i"`
	Export     float64 `json:"e,omitempty"`
	Confidence float64 `json:"c"`
}

// Runs returns the exact run-length form of the curve. CurveFromRuns restores the same
// curve, value by value.
func (c *Curve) Runs() []Run {
	var runs []Run
	for i := range c.Len() {
		next := Run{N: 1, Price: c.Price[i], Import: c.Import[i], Export: c.Export[i], Confidence: c.Confidence[i]}
		if last := len(runs) - 1; last >= 0 && runs[last].sameValues(next) {
			runs[last].N++
			continue
		}
		runs = append(runs, next)
	}
	return runs
}

func (r Run) sameValues(other Run) bool {
	r.N = other.N
	return r == other
}

func (r Run) valid() error {
	if r.N < 1 {
		return fmt.Errorf("%w: a run of %d intervals", ErrRuns, r.N)
	}
	for _, v := range []float64{r.Price, r.Import, r.Export, r.Confidence} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%w: a value is not finite", ErrRuns)
		}
	}
	return nil
}

// CurveFromRuns returns the curve of the given runs. The error wraps ErrRuns if the runs
// do not fill the window exactly or contain a value that is not finite. The error is
// ErrWindow for an unusable window.
func CurveFromRuns(w Window, runs []Run, compensation ExportCompensation, importSource string) (*Curve, error) {
	if !w.whole() {
		return nil, ErrWindow
	}
	length := w.Len()
	total := 0
	for _, r := range runs {
		if err := r.valid(); err != nil {
			return nil, err
		}
		if r.N > length-total {
			return nil, fmt.Errorf("%w: more than the %d intervals of the window", ErrRuns, length)
		}
		total += r.N
	}
	if total < length {
		return nil, fmt.Errorf("%w: %d of the %d intervals of the window", ErrRuns, total, length)
	}
	c := newCurve(w, length)
	c.ExportCompensation, c.ImportSource = compensation, importSource
	i := 0
	for _, r := range runs {
		for end := i + r.N; i < end; i++ {
			c.Price[i], c.Import[i], c.Export[i], c.Confidence[i] = r.Price, r.Import, r.Export, r.Confidence
		}
	}
	return c, nil
}
