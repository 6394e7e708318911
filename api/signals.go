package api

import (
	"context"
	"encoding/json"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

type priceSignalInput struct {
	wire.PriceSignalInput

	window pricing.Window
}

func (in *priceSignalInput) check(c *rest.Call) {
	in.window = resolveWindow(c, in.StartTime, in.EndTime)
	c.Wrong.Check(!in.Explain || in.Format != storage.FormatOpenADR3, "explain", "cannot be combined with the format %s", storage.FormatOpenADR3)
}

// priceSignal returns the signal of a home. A day of prices is fast and does not wait for a turn.
func (s *server) priceSignal(ctx context.Context, c *rest.Call, in *priceSignalInput) (shown ready, err error) {
	if !in.Explain && in.window.End.Sub(in.window.Start) <= pricing.DefaultWindow {
		return s.showSignal(c, in)
	}
	err = s.rest.InTurn(ctx, c, func() (err error) { shown, err = s.showSignal(c, in); return err })
	return shown, err
}

func (s *server) showSignal(c *rest.Call, in *priceSignalInput) (ready, error) {
	var signal signals.Signal
	var reasons []pricing.Reason
	err := s.Store.View(func(v storage.View) (err error) {
		if signal, err = s.Pricer.HomeSignal(v, c.Org, c.ID, in.window); err == nil && in.Explain {
			reasons, err = s.Pricer.Explain(v, c.Org, c.ID, in.window)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, storage.NotFound(err, storage.KindHome.Ref(c.Org, c.ID))
	case in.Format == storage.FormatOpenADR3:
		return func(b []byte) []byte { return append(signal.AppendOpenADR(append(b, '['), c.Now), ']') }, nil
	case !in.Explain:
		return func(b []byte) []byte { return signal.Append(b, c.Now) }, nil
	}
	shown := make([]wire.PriceReason, len(reasons))
	for i, r := range reasons {
		shown[i] = wire.PriceReason{StartTime: storage.Time{Time: r.Start}, EndTime: storage.Time{Time: r.Start.Add(pricing.Interval)}, Reason: r}
	}
	explained, err := json.Marshal(shown)
	if err != nil {
		return nil, err
	}
	return func(b []byte) []byte {
		b = append(signal.AppendFields(append(b, '{'), c.Now), `,"explanation":`...)
		return append(append(b, explained...), '}')
	}, nil
}

// ready appends an encoded response to a buffer.
type ready func(to []byte) []byte

// AppendTo implements rest.Encoder.
func (r ready) AppendTo(b []byte) []byte { return r(b) }
